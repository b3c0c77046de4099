// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// run_guarded(): runs vendor code in a thread that the operating system prevents from changing files.
#pragma once

#include <functional>
#include <string>

namespace gdrkit::diag {

/// Runs `work` in a separate thread under a seccomp filter, which all threads started by it inherit. Under the filter
/// no file is created, opened write-only, truncated, renamed, linked, removed or given other permissions; no directory
/// or node is created, and no program is started. Opening for reading and writing stays allowed, since device nodes
/// require it. The caller's thread is not filtered.
///
/// Vendor libraries change files even for queries: as root, NVML's initialization creates links in /dev/char and a
/// directory in /dev, and writes a thread name to procfs (driver 580, docs/design/0012). With these calls refused, NVML
/// still works.
///
/// Returns "" if `work` ran to its end, otherwise the reason why the filter could not be installed: then `work` was not
/// run. `work` must not throw.
[[nodiscard]] std::string run_guarded(const std::function<void()>& work);

}  // namespace gdrkit::diag
