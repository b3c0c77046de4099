// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What happens to contexts, pins and mappings when the process forks.
#pragma once

#include "base/result.hpp"

namespace gdrkit::core {

/// Installs the fork handlers, once for the process; ENOMEM if the C library cannot. Afterwards, at each fork:
///  - the parent waits until no map is between its mmap and its MADV_DONTFORK, so that no child inherits a mapping;
///  - in the child every context and pin there was is dead: copies answer EINVAL, other calls EACCES, what backends
///    hold open is closed without a word to the device. New contexts work.
[[nodiscard]] base::Status install_fork_handlers() noexcept;

/// Held around a backend's pin and map: no fork of another thread happens meanwhile. A fork waits for at most two seconds, so
/// that a map that is itself stuck behind a lock of the forking thread cannot hang it; the window between mmap and
/// madvise, microseconds long, is long over by then.
class MapWindow {
 public:
  MapWindow() noexcept;
  ~MapWindow();
  MapWindow(const MapWindow&) = delete;
  MapWindow& operator=(const MapWindow&) = delete;
};

}  // namespace gdrkit::core
