// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Recorder: decorators over both interfaces that write one conversation.
//
// Numbers that differ between runs are named in order of first appearance (CanonicalNames): descriptors, RM handles,
// BAR1 addresses, contexts, streams, allocation handles, buffer ids, device addresses (region and offset), mapped
// addresses. Host buffers are 0 or 1. Nothing else is omitted: versions, GPU numbers and sizes are the machine's, and
// the header contains them too.
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
  /// Makes the block or reservation around `address` a region and writes it to the header. Returns its canonical
  /// address.
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

/// The whole range around `address` that CUDA reports as one: the reservation of mapped handles, else the blocks of the
/// allocation.
struct DeviceRegion {
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;
};
[[nodiscard]] DeviceRegion region_around(const driver::CudaCalls& cuda, std::uint64_t address);

}  // namespace gdrkit::fakes
