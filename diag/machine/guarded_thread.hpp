// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// run_guarded(): runs what is not ours in a thread that the operating system does not let change files.
#pragma once

#include <functional>
#include <string>

namespace gdrkit::diag {

/// Runs `work` in a thread of its own, under a seccomp filter that it and all threads it starts keep: no file is
/// created, opened for writing alone, truncated, renamed, linked, removed or given other rights, no folder or node is
/// made, no program is started. Opening for reading and writing stays allowed, which device nodes need. The caller's
/// thread is not bound.
///
/// Vendor libraries do such things when they are asked harmless questions: NVML's start, as root, makes links in
/// /dev/char and a folder in /dev, and names a thread by writing to procfs (driver 580, docs/design/0012). Under the
/// filter they are refused and NVML works all the same.
///
/// Returns "" when `work` ran to its end, else why the filter could not be set: then `work` was not run. `work` must
/// not throw.
[[nodiscard]] std::string run_guarded(const std::function<void()>& work);

}  // namespace gdrkit::diag
