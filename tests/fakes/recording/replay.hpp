// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Replay: both interfaces, with results from a recorded conversation. A call that differs from the next recorded one,
// byte for byte, is a failure, and from then on every call fails with EIO.
//
// Mapped memory is anonymous memory. It contains what the recording's CUDA calls read and wrote at those addresses. The
// data is copied there when the stream of those calls is synchronised (DeviceView), so the library reads the same data
// as on the machine.
#pragma once

#include <memory>
#include <string>

#include "driver/cuda.hpp"
#include "driver/system.hpp"
#include "fakes/recording/conversation.hpp"

namespace gdrkit::fakes {

class Replay {
 public:
  explicit Replay(Conversation conversation);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  [[nodiscard]] driver::System& system() noexcept { return *system_; }
  [[nodiscard]] const driver::CudaCalls& cuda() const noexcept;
  /// The first difference; "" if the library made exactly the recorded calls, up to the last one.
  [[nodiscard]] std::string failure() const;

 private:
  class State;
  class ReplaySystem;
  class ReplayCuda;

  std::unique_ptr<State> state_;
  std::unique_ptr<driver::System> system_;
  std::unique_ptr<ReplayCuda> cuda_;
};

}  // namespace gdrkit::fakes
