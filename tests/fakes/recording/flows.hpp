// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The recorded flows: the kind of memory and the pinned range. A recording's header contains everything that is needed
// to set up the same scene on the fakes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "fakes/fake_cuda.hpp"
#include "fakes/fake_rm.hpp"
#include "fakes/recording/conversation.hpp"
#include "fakes/recording/transcript.hpp"

namespace gdrkit::fakes {

struct Flow {
  const char* name;
  CudaKind kind;
  std::vector<std::uint64_t> part_bytes;  ///< one allocation, or the handles of one reservation
  bool is_exportable = false;
  bool is_plain = false;  ///< zeros instead of distinct words
  bool is_freed_first = false;
  std::uint64_t from = 0;   ///< the pin's start in the memory
  std::uint64_t until = 0;  ///< its end; 0: the memory's
  int ordinal = 0;

  [[nodiscard]] std::uint64_t bytes() const;
};
[[nodiscard]] const std::vector<Flow>& recorded_flows();

/// The last step that the library reached, and its error text.
struct FlowOutcome {
  std::string step;  ///< the step that failed: open, pin, map, unmap, unpin; "done"
  int errno_value = 0;
  int verification = 0;
  bool shows_the_memory = false;

  [[nodiscard]] Words words() const;
};
/// Opens the rm backend on the interfaces, pins, maps, and undoes it. `expected`: content of the pinned range; empty:
/// not checked.
[[nodiscard]] FlowOutcome run_rm_flow(driver::System& system, const driver::CudaCalls& cuda, std::uint64_t address,
                                      std::size_t size_bytes, const std::vector<std::uint8_t>& expected);

/// Describes memory at `address` as CUDA reports it, as header lines from which fake_scene makes the same.
void describe_memory(Conversation& conversation, const driver::CudaCalls& cuda, const Flow& flow,
                     std::uint64_t address);
/// Records one flow whose memory is at `address`, already filled. `before_pin` frees it if the flow requires it.
[[nodiscard]] Conversation record_flow(const Flow& flow, driver::System& system, const driver::CudaCalls& cuda,
                                       const Conversation& machine, std::uint64_t address,
                                       const std::function<void()>& before_pin);

/// A fake machine and, on it, memory as a header describes them.
struct FakeScene {
  explicit FakeScene(const Conversation& header);
  FakeRm rm;
  FakeCuda cuda;
  std::uint64_t address = 0;
};
/// Header lines of a fake machine, as in a recording of a real one.
[[nodiscard]] Conversation describe_machine(driver::System& system, const std::string& driver, int cuda_version,
                                            const std::vector<unsigned>& card_of_ordinal);
/// Records on the fakes the conversation that `recorded` contains from a real machine.
[[nodiscard]] Conversation record_on_fakes(const Conversation& recorded, const Flow& flow);

}  // namespace gdrkit::fakes
