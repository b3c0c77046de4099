// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CollectiveEngine: a library that runs collectives between the ranks of all processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transfer/engines/collective.hpp"
#include "transfer/job/process_group.hpp"

namespace gdrkit::transfer::engines {

/// One collective operation of one rank. Buffers are device addresses.
struct Call {
  const Collective* collective = nullptr;
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  std::size_t part = 0;  ///< number of elements in a part
  const ElementType* type = nullptr;
  const Reduction* reduction = nullptr;
  int root = 0;
  int step = 0;  ///< of Collective::steps
};

/// How the library registers buffers.
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
  std::string library;  ///< the file given by the user, or ""
  Registration registration = Registration::none;
};

/// Functions throw Failure with the library's error message. `local` is an index of this process's ranks.
class CollectiveEngine {
 public:
  virtual ~CollectiveEngine() = default;
  [[nodiscard]] virtual std::string version() const = 0;        ///< "NCCL 2.28.9"
  [[nodiscard]] virtual std::string version_field() const = 0;  ///< of the table's first line: "nccl-library=22809"
  /// Returns why the library cannot run this collective, or "".
  [[nodiscard]] virtual std::string refusal(const Collective& collective, const ElementType& type,
                                            const Reduction& reduction) const = 0;
  /// Allocates memory for inputs and outputs. The engine frees it. Collective.
  [[nodiscard]] virtual std::uint64_t allocate(int local, std::size_t size_bytes) = 0;
  /// Registers all allocated buffers as the request specifies. Collective.
  virtual void register_buffers() {}
  /// Returns whether the collective can run in place, as NCCL defines it.
  [[nodiscard]] virtual bool runs_in_place(const Collective& /*collective*/) const { return true; }
  /// The library may fuse the operations that are enqueued between begin_group and end_group.
  virtual void begin_group() = 0;
  virtual void end_group() = 0;
  virtual void enqueue(int local, const Call& call) = 0;
  /// Waits until all enqueued operations are complete.
  virtual void wait() = 0;
  /// Human-readable text: the paths that the data of this process's ranks took, or "" if the library does not report
  /// it.
  [[nodiscard]] virtual std::string path() const = 0;
  /// Collective.
  virtual void end() = 0;
};

struct CollectiveEngineKind {
  const char* name;
  std::unique_ptr<CollectiveEngine> (*make)(const CollectiveRequest& request);  ///< collective; throws Failure
};
/// In the order of collective_engines.def.
[[nodiscard]] const std::vector<CollectiveEngineKind>& all_collective_engines();

}  // namespace gdrkit::transfer::engines
