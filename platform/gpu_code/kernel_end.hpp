// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How GPU kernels that wait end, and how they are made to.
#pragma once

#include <cstdint>

namespace gdrkit::platform {

/// How a GPU kernel that waits has ended, in a word of memory that the CPU reads. The launcher sets it to running.
enum class KernelEnd : std::uint32_t { running = 0, finished = 1, stopped = 2, expired = 3 };

/// A ping of this value ends ping_pong, as the same value ends burn and opens gate.
inline constexpr std::uint32_t stop_word = 0xffffffff;

}  // namespace gdrkit::platform
