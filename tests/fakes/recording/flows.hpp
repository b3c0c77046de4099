// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The flows that are recorded: which memory, what is pinned of it. A recording's header says all that is needed to set
// the same scene on the fakes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "fakes/fake_cuda.hpp"
#include "fakes/fake_rm.hpp"
#include "fakes/recording/conversation.hpp"
#include "fakes/recording/recorder.hpp"

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

/// How far the library came, and what it said about it.
struct FlowOutcome {
  std::string step;  ///< where it failed: open, pin, map, unmap, unpin; "done"
  int errno_value = 0;
  int verification = 0;
  bool shows_the_memory = false;

  [[nodiscard]] Words words() const;
};
/// Opens the rm backend on the seams, pins, maps, and undoes it. `expected`: content of the pinned range; empty: not
/// looked at.
[[nodiscard]] FlowOutcome run_rm_flow(driver::System& system, const driver::CudaCalls& cuda, std::uint64_t address,
                                      std::size_t size_bytes, const std::vector<std::uint8_t>& expected);

/// What CUDA says about memory at `address`, as header lines from which fake_scene makes the like.
void describe_memory(Conversation& conversation, const driver::CudaCalls& cuda, const Flow& flow,
                     std::uint64_t address);
/// Records one flow whose memory is at `address`, already filled. `before_pin` frees it where the flow says so.
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
/// Header lines of a fake machine, as a recording on a real one has them.
[[nodiscard]] Conversation describe_machine(driver::System& system, const std::string& driver, int cuda_version,
                                            const std::vector<unsigned>& card_of_ordinal);
/// Records on the fakes what `recorded` holds from a real machine, or what it would hold.
[[nodiscard]] Conversation record_on_fakes(const Conversation& recorded, const Flow& flow);

}  // namespace gdrkit::fakes
