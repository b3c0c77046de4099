// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Deadline: until when a call may wait.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

namespace gdrkit::shmem_impl::bootstrap {

class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds limit) noexcept
      : limit_(
            std::clamp(limit, std::chrono::milliseconds(0), std::chrono::milliseconds(std::chrono::hours(24 * 365)))),
        end_(std::chrono::steady_clock::now() + limit_) {}

  [[nodiscard]] bool has_passed() const noexcept { return std::chrono::steady_clock::now() >= end_; }
  /// Returns the timeout for poll(2), rounded up so that it does not return early; 0 after the deadline.
  [[nodiscard]] int poll_ms() const noexcept {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - std::chrono::steady_clock::now());
    return static_cast<int>(std::clamp<long long>(left.count(), 0, 60'000));
  }
  /// Of the whole wait: "10 s", "250 ms".
  [[nodiscard]] std::string limit_text() const {
    return limit_.count() % 1000 == 0 ? std::to_string(limit_.count() / 1000) + " s"
                                      : std::to_string(limit_.count()) + " ms";
  }

 private:
  std::chrono::milliseconds limit_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace gdrkit::shmem_impl::bootstrap
