// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// UniqueFd: owns a file descriptor and closes it.
#pragma once

#include <unistd.h>

#include <utility>

namespace gdrkit::base {

class UniqueFd {
 public:
  UniqueFd() noexcept = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    const UniqueFd closed(std::exchange(fd_, other.release()));
    return *this;
  }
  ~UniqueFd() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }  ///< -1: none
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace gdrkit::base
