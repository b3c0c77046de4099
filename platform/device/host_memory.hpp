// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// HostMemory: total and available memory of this machine.
#pragma once

#include <cstddef>

namespace gdrkit::platform {

/// Linux's estimate of the memory that programs can allocate before others are swapped out or killed (MemAvailable of
/// /proc/meminfo), plus free swap space. SIZE_MAX if it cannot be read.
[[nodiscard]] std::size_t available_host_bytes() noexcept;
/// All memory and swap space. SIZE_MAX if it cannot be read.
[[nodiscard]] std::size_t total_host_bytes() noexcept;

}  // namespace gdrkit::platform
