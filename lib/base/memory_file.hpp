// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Memory files (memfd_create): anonymous files that cannot be executed.
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace gdrkit::base {

/// Opens an empty memory file with close-on-exec. Fails as memfd_create(2) does: returns -1 and sets errno.
/// `flags`: additional flags for memfd_create.
[[nodiscard]] int open_memory_file(const char* name, unsigned flags = 0) noexcept;

/// Creates a memory file of `size_bytes`; the caller closes it. EFBIG: the size exceeds the file size limit
/// (RLIMIT_FSIZE), and Linux would kill the process with SIGXFSZ. EPERM: a system call filter rejects memfd_create.
[[nodiscard]] Result<int> make_memory_file(const char* name, std::uint64_t size_bytes, unsigned flags = 0) noexcept;

}  // namespace gdrkit::base
