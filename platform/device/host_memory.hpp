// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Total and available memory of the host.
#pragma once

#include <cstddef>

namespace gdrkit::platform {

/// Linux's estimate of the memory that programs can use without swapping (MemAvailable in /proc/meminfo), plus free
/// swap space. SIZE_MAX if it cannot be read.
[[nodiscard]] std::size_t available_host_bytes() noexcept;
/// All memory plus swap space. SIZE_MAX if it cannot be read.
[[nodiscard]] std::size_t total_host_bytes() noexcept;

}  // namespace gdrkit::platform
