// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/bootstrap/private_fd.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace gdrkit::shmem_impl::bootstrap {
namespace {

struct PrivateFds {
  std::mutex mutex;
  std::vector<int> fds;
  std::atomic<unsigned> generation{0};
};

/// Never destroyed: a fork or another thread may use it after static destructors have run.
PrivateFds& private_fds() noexcept {
  static PrivateFds& all = *new PrivateFds;
  return all;
}

// The child has this one thread, and the mutex that it took before the fork.
void hold_private_fds() noexcept { private_fds().mutex.lock(); }
void release_private_fds() noexcept { private_fds().mutex.unlock(); }
void drop_private_fds() noexcept {
  PrivateFds& all = private_fds();
  for (const int fd : all.fds) ::close(fd);
  all.fds.clear();
  all.generation.fetch_add(1, std::memory_order_relaxed);
  all.mutex.unlock();
}

}  // namespace

PrivateFd::PrivateFd(base::UniqueFd fd) noexcept : fd_(fd.release()) {
  if (fd_ < 0) return;
  static const int registered = ::pthread_atfork(hold_private_fds, release_private_fds, drop_private_fds);
  static_cast<void>(registered);
  ::fcntl(fd_, F_SETFD, FD_CLOEXEC);
  PrivateFds& all = private_fds();
  const std::lock_guard lock(all.mutex);
  generation_ = all.generation.load(std::memory_order_relaxed);
  try {
    all.fds.push_back(fd_);
  } catch (...) {
    // Without memory for its entry the descriptor works all the same, and a forked child keeps a copy.
  }
}

PrivateFd& PrivateFd::operator=(PrivateFd&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
    generation_ = other.generation_;
  }
  return *this;
}

int PrivateFd::get() const noexcept {
  if (fd_ < 0) return -1;
  return generation_ == private_fds().generation.load(std::memory_order_relaxed) ? fd_ : -1;
}

void PrivateFd::close() noexcept {
  const int fd = std::exchange(fd_, -1);
  if (fd < 0) return;
  PrivateFds& all = private_fds();
  const std::lock_guard lock(all.mutex);
  // In a forked child the number may be another file's by now.
  if (generation_ != all.generation.load(std::memory_order_relaxed)) return;
  const auto entry = std::find(all.fds.begin(), all.fds.end(), fd);
  if (entry != all.fds.end()) {
    *entry = all.fds.back();
    all.fds.pop_back();
  }
  ::close(fd);
}

}  // namespace gdrkit::shmem_impl::bootstrap
