// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// HelperProcess: a second process of a test, and the communication between the two.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <type_traits>

namespace gdrkit::measure::sanity {

/// One end of a socket pair. Both calls end the test if the other side has ended; if that was the helper, with its
/// verdict.
class Channel {
 public:
  Channel(int descriptor, pid_t helper) noexcept : descriptor_(descriptor), helper_(helper) {}

  template <class T>
  void send(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    send_bytes(&value, sizeof(value));
  }
  template <class T>
  [[nodiscard]] T receive() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    receive_bytes(&value, sizeof(value));
    return value;
  }
  /// Barrier: neither side continues before both have called it.
  void synchronize();

 private:
  void send_bytes(const void* bytes, std::size_t size_bytes);
  void receive_bytes(void* bytes, std::size_t size_bytes);
  [[noreturn]] void end_as_the_other_did() const;

  int descriptor_;
  pid_t helper_;  // -1 in the helper itself
};

/// Forks; the child runs `body` and exits with 0 if it returns. Failed checks end the child like a test, so that wait()
/// ends the test. The child belongs to the test's process group.
class HelperProcess {
 public:
  explicit HelperProcess(const std::function<void(Channel*)>& body);
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;

  [[nodiscard]] Channel& channel() noexcept { return channel_; }
  /// Waits for the child. Fails the test if the child failed, and waives it if the child did.
  void wait();
  /// Kills the child and waits for its end.
  void kill();

 private:
  pid_t child_ = -1;
  Channel channel_{-1, -1};
};

}  // namespace gdrkit::measure::sanity
