// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Files in memory, without a name in any folder, which nobody can execute.
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace gdrkit::base {

/// Empty, close-on-exec. -1 and errno, as memfd_create(2). `flags`: more of its flags.
[[nodiscard]] int open_memory_file(const char* name, unsigned flags = 0) noexcept;

/// Of that size; the caller closes it. EFBIG: it is larger than the process may make files (RLIMIT_FSIZE), where Linux
/// would end the process by SIGXFSZ. EPERM: a filter of system calls.
[[nodiscard]] Result<int> make_memory_file(const char* name, std::uint64_t size_bytes, unsigned flags = 0) noexcept;

}  // namespace gdrkit::base
