// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Memory files: they have no name in any folder and cannot be executed.
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace gdrkit::base {

/// Opens an empty memory file with close-on-exec. Returns -1 and sets errno as memfd_create(2) does. `flags`:
/// additional flags of memfd_create.
[[nodiscard]] int open_memory_file(const char* name, unsigned flags = 0) noexcept;

/// Makes a memory file of `size_bytes`; the caller closes it. EFBIG: the size exceeds the limit of file sizes
/// (RLIMIT_FSIZE); Linux would end the process by SIGXFSZ. EPERM: a filter of system calls rejects memfd_create.
[[nodiscard]] Result<int> make_memory_file(const char* name, std::uint64_t size_bytes, unsigned flags = 0) noexcept;

}  // namespace gdrkit::base
