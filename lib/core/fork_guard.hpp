// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Handles contexts, pins and mappings when the process forks.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>

#include "base/result.hpp"

namespace gdrkit::core {

/// Installs the fork handlers, once per process. ENOMEM: the C library has no memory for them; a later call retries. At
/// each fork:
///  - The parent waits until no backend is inside an open, pin, map, unmap, unpin, allocate, free or close. So the
///    child never inherits a mapping that is not MADV_DONTFORK yet, and the records that it abandons are consistent.
///  - In the child, every inherited context, pin and buffer is invalid: copies return EINVAL, other calls EACCES. The
///    descriptors of the backends are closed without an ioctl. New contexts work.
[[nodiscard]] base::Status install_fork_handlers() noexcept;

/// The id of the process, on a page that Linux zeroes in each child (MADV_WIPEONFORK), also in one made without fork
/// handlers. nullptr before the handlers are installed, and where Linux cannot (before 4.14).
extern constinit std::atomic<std::atomic<pid_t>*> own_pid;

/// getpid() without its system call, which takes longer than all else that a call on a handle does.
[[nodiscard]] inline pid_t current_pid() noexcept {
  std::atomic<pid_t>* const known = own_pid.load(std::memory_order_acquire);
  if (known == nullptr) return ::getpid();
  pid_t pid = known->load(std::memory_order_relaxed);
  if (pid == 0) {
    pid = ::getpid();
    known->store(pid, std::memory_order_relaxed);
  }
  return pid;
}

/// Held during each of those backend calls, to keep other threads from forking. Both sides wait for a bounded time,
/// because locks of the application could cause a deadlock. A fork waits for a call for at most 2 s: the call may be
/// blocked by a lock of the forking thread. A call waits for a fork for at most 100 ms: later fork handlers may require
/// a lock of the calling thread. After a timeout, a fork can happen in the microseconds between mmap and madvise. The
/// child then keeps a copy of the resources of that call.
class BackendCall {
 public:
  BackendCall() noexcept;
  ~BackendCall();
  BackendCall(const BackendCall&) = delete;
  BackendCall& operator=(const BackendCall&) = delete;
};

}  // namespace gdrkit::core
