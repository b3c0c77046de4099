// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Recorder: decorators over both seams that write one conversation.
//
// What differs between runs is named by order of first appearance (CanonicalNames): descriptors, RM handles, BAR1
// addresses, contexts, streams, allocation handles, buffer ids, device addresses (region and offset), mapped addresses.
// Host buffers are 0 or 1. Nothing else is left out: versions, GPU numbers and sizes are the machine's, and stand in
// the header too.
#pragma once

#include <memory>

#include "driver/cuda.hpp"
#include "driver/system.hpp"
#include "fakes/recording/canonical_names.hpp"
#include "fakes/recording/conversation.hpp"

namespace gdrkit::fakes {

/// One flow on one thread.
class Recorder {
 public:
  Recorder(driver::System& system, const driver::CudaCalls& cuda);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  [[nodiscard]] driver::System& system() noexcept { return *system_; }
  [[nodiscard]] const driver::CudaCalls& cuda() const noexcept;
  [[nodiscard]] CanonicalNames& names() noexcept { return names_; }
  [[nodiscard]] Conversation& conversation() noexcept { return conversation_; }
  /// Makes the block or reservation around `address` a region and notes it in the header; its canonical address.
  std::uint64_t add_region_of(std::uint64_t address);

 private:
  class RecordingSystem;
  class RecordingCuda;

  CanonicalNames names_;
  Conversation conversation_;
  std::unique_ptr<driver::System> system_;
  std::unique_ptr<RecordingCuda> cuda_;
  const driver::CudaCalls& inner_cuda_;
};

/// All that CUDA says belongs together around `address`: the reservation of mapped handles, else the blocks of the
/// allocation.
struct DeviceRegion {
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;
};
[[nodiscard]] DeviceRegion region_around(const driver::CudaCalls& cuda, std::uint64_t address);

}  // namespace gdrkit::fakes
