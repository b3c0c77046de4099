// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How waiting GPU kernels end, and how they are stopped.
#pragma once

#include <cstdint>

namespace gdrkit::platform {

/// How a waiting GPU kernel has ended, in a word of memory that the CPU reads. The launcher initializes it to running.
enum class KernelEnd : std::uint32_t { running = 0, finished = 1, stopped = 2, expired = 3 };

/// A ping with this value ends ping_pong; the same value ends burn and opens gate.
inline constexpr std::uint32_t stop_word = 0xffffffff;

}  // namespace gdrkit::platform
