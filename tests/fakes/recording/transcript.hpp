// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Recorder and Replay: both interfaces, as decorators that write one conversation, or with the results of a recorded
// one. Each call is described once, for both.
//
// Numbers that differ between runs are named in order of first appearance (CanonicalNames): descriptors, RM handles,
// BAR1 addresses, contexts, streams, allocation handles, buffer ids, device addresses (region and offset), mapped
// addresses. Host buffers are 0 or 1. Nothing else is omitted: versions, GPU numbers and sizes are the machine's, and
// the header contains them too.
#pragma once

#include <memory>
#include <string>

#include "driver/cuda.hpp"
#include "driver/system.hpp"
#include "fakes/recording/canonical_names.hpp"
#include "fakes/recording/conversation.hpp"

namespace gdrkit::fakes {

/// The two interfaces of a recorder or a replay.
class Transcript {
 public:
  Transcript(const Transcript&) = delete;
  Transcript& operator=(const Transcript&) = delete;

  struct State;

  [[nodiscard]] driver::System& system() noexcept { return *system_; }
  [[nodiscard]] const driver::CudaCalls& cuda() const noexcept { return *cuda_; }

 protected:
  explicit Transcript(std::unique_ptr<State> state);
  ~Transcript();

  const std::unique_ptr<State> state_;

 private:
  const std::unique_ptr<driver::System> system_;
  const std::shared_ptr<const driver::CudaCalls> cuda_;
};

/// One flow on one thread.
class Recorder final : public Transcript {
 public:
  Recorder(driver::System& system, const driver::CudaCalls& cuda);

  [[nodiscard]] CanonicalNames& names() noexcept;
  [[nodiscard]] Conversation& conversation() noexcept;
  /// Makes the block or reservation around `address` a region and writes it to the header. Returns its canonical
  /// address.
  std::uint64_t add_region_of(std::uint64_t address);
};

/// A call that differs from the next recorded one, byte for byte, is a failure, and from then on every call fails with
/// EIO.
///
/// Mapped memory is anonymous memory. It contains what the recording's CUDA calls read and wrote at those addresses.
/// The data is copied there when the stream of those calls is synchronised (DeviceView), so the library reads the same
/// data as on the machine.
class Replay final : public Transcript {
 public:
  explicit Replay(Conversation recorded);

  /// The first difference; "" if the library made exactly the recorded calls, up to the last one.
  [[nodiscard]] std::string failure() const;
};

}  // namespace gdrkit::fakes
