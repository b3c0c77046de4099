// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CollectiveEngine: a library that runs collectives between this process's ranks and those of the other processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transfer/engines/collective.hpp"
#include "transfer/engines/element.hpp"
#include "transfer/job/process_group.hpp"

namespace gdrkit::transfer::engines {

/// One collective operation of one rank. Buffers are device addresses.
struct Call {
  const Collective* collective = nullptr;
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  std::size_t part = 0;  ///< elements of a part
  const ElementType* type = nullptr;
  const Reduction* reduction = nullptr;
  int root = 0;
  int step = 0;  ///< of Collective::steps
};

/// How buffers are made known to the library.
enum class Registration : std::uint8_t { none, local, symmetric };

/// A rank of this process: one GPU.
struct LocalRank {
  int rank = 0;  ///< of all
  platform::Device* device = nullptr;
  platform::Stream stream;
};

struct CollectiveRequest {
  job::ProcessGroup* processes = nullptr;
  std::vector<LocalRank> locals;
  int n_ranks = 1;
  std::string library;  ///< the file that was named; ""
  Registration registration = Registration::none;
};

/// Functions throw Failure with the library's error message. `local` counts this process's ranks.
class CollectiveEngine {
 public:
  virtual ~CollectiveEngine() = default;
  [[nodiscard]] virtual std::string version() const = 0;        ///< "NCCL 2.28.9"
  [[nodiscard]] virtual std::string version_field() const = 0;  ///< of the table's first line: "nccl-library=22809"
  /// Why it does not run this; "".
  [[nodiscard]] virtual std::string refusal(const Collective& collective, const ElementType& type,
                                            const Reduction& reduction) const = 0;
  /// Memory for inputs and outputs, freed with the engine. Collective.
  [[nodiscard]] virtual std::uint64_t allocate(int local, std::size_t size_bytes) = 0;
  /// Collective, once all are allocated: registers them as the request said.
  virtual void register_buffers() {}
  /// Whether it takes a buffer as input and output, as NCCL defines that.
  [[nodiscard]] virtual bool runs_in_place(const Collective& /*collective*/) const { return true; }
  /// What is enqueued between the two may run as one.
  virtual void begin_group() = 0;
  virtual void end_group() = 0;
  virtual void enqueue(int local, const Call& call) = 0;
  /// Until all that was enqueued is over.
  virtual void wait() = 0;
  /// How the data went, of this process's ranks, for people; "" where the library does not say.
  [[nodiscard]] virtual std::string path() const = 0;
  /// Collective.
  virtual void end() = 0;
};

struct CollectiveEngineKind {
  const char* name;
  std::unique_ptr<CollectiveEngine> (*make)(const CollectiveRequest& request);  ///< collective; throws Failure
};
/// In the order of engines.def.
[[nodiscard]] const std::vector<CollectiveEngineKind>& all_collective_engines();

}  // namespace gdrkit::transfer::engines
