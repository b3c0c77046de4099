// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PrivateFd: a descriptor of this process alone. Forked children close it at once, and exec'd ones never see it.
#pragma once

#include "base/unique_fd.hpp"

namespace gdrkit::shmem_impl::bootstrap {

/// A descriptor that forked children close. Use it for connections and locks whose end signals the end of this process:
/// a copy in a child would keep them open. A child that is created without fork handlers (`_Fork`, a bare `clone`)
/// keeps its copy until it calls exec or exits.
class PrivateFd {
 public:
  PrivateFd() noexcept = default;
  explicit PrivateFd(base::UniqueFd fd) noexcept;
  PrivateFd(PrivateFd&& other) noexcept : fd_(other.fd_), generation_(other.generation_) { other.fd_ = -1; }
  PrivateFd& operator=(PrivateFd&& other) noexcept;
  ~PrivateFd() { close(); }

  /// -1: none, or inherited from the process that forked this one.
  [[nodiscard]] int get() const noexcept;
  explicit operator bool() const noexcept { return get() >= 0; }
  void close() noexcept;

 private:
  int fd_ = -1;
  unsigned generation_ = 0;  // counts the forks between the first process and the one that opened it
};

}  // namespace gdrkit::shmem_impl::bootstrap
