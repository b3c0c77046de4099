// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What happens to contexts, pins and mappings when the process forks.
#pragma once

#include "base/result.hpp"

namespace gdrkit::core {

/// Installs the fork handlers, once for the process; ENOMEM if the C library cannot. Afterwards, at each fork:
///  - the parent waits until no backend is inside a pin, map, unmap or unpin: no child inherits a mapping that is not
///    MADV_DONTFORK yet, and the backend's own records are whole when the child gives them up;
///  - in the child every context and pin there was is dead: copies answer EINVAL, other calls EACCES, what backends
///    hold open is closed without a word to the device. New contexts work.
[[nodiscard]] base::Status install_fork_handlers() noexcept;

/// Held around each of those backend calls: no fork of another thread happens meanwhile. A fork waits for at most two
/// seconds, so that a call that is itself stuck behind a lock of the forking thread cannot hang it; the window between
/// mmap and madvise, microseconds long, is long over by then.
class BackendCall {
 public:
  BackendCall() noexcept;
  ~BackendCall();
  BackendCall(const BackendCall&) = delete;
  BackendCall& operator=(const BackendCall&) = delete;
};

}  // namespace gdrkit::core
