// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// UniqueFd: a descriptor that is closed with it.
#pragma once

namespace gdrkit::shmem_impl::bootstrap {

class UniqueFd {
 public:
  UniqueFd() noexcept = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd();
  [[nodiscard]] int get() const noexcept { return fd_; }  ///< -1: none
  [[nodiscard]] int release() noexcept {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace gdrkit::shmem_impl::bootstrap
