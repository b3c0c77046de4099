// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// HostMemory: how much memory this machine has and can still give.
#pragma once

#include <cstddef>

namespace gdrkit::platform {

/// What Linux estimates that programs can take before others are swapped out or killed (MemAvailable of /proc/meminfo),
/// and free swap space. SIZE_MAX when it cannot be read.
[[nodiscard]] std::size_t available_host_bytes() noexcept;
/// All memory and swap space. SIZE_MAX when it cannot be read.
[[nodiscard]] std::size_t total_host_bytes() noexcept;

}  // namespace gdrkit::platform
