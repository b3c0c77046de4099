// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What happens to contexts, pins and mappings when the process forks.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>

#include "base/result.hpp"

namespace gdrkit::core {

/// Installs the fork handlers, once for the process; ENOMEM if the C library cannot, until it can. Afterwards, at each
/// fork:
///  - the parent waits until no backend is inside an open, pin, map, unmap, unpin, allocate, free or close: no child
///    inherits a mapping that is not MADV_DONTFORK yet, and the backend's own records are whole when the child gives
///    them up;
///  - in the child every context, pin and buffer there was is dead: copies return EINVAL, other calls EACCES, what
///    backends hold open is closed without issuing any ioctl. New contexts work.
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

/// Held around each of those backend calls: no fork of another thread happens meanwhile. Both sides wait for a bounded
/// time, because locks of the application may close a circle through either: a fork waits for two seconds at most, for
/// a call that is stuck behind a lock of the forking thread; a call waits for 0.1 s at most, for a fork whose later
/// handlers need a lock of the calling thread. Then both continue. What is risked is that a fork falls
/// into the microseconds between mmap and madvise, and that a child keeps a copy of what that one call had open.
class BackendCall {
 public:
  BackendCall() noexcept;
  ~BackendCall();
  BackendCall(const BackendCall&) = delete;
  BackendCall& operator=(const BackendCall&) = delete;
};

}  // namespace gdrkit::core
