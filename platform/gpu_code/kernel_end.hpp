// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How waiting GPU kernels end, and how the CPU stops them.
#pragma once

#include <cstdint>

namespace gdrkit::platform {

/// How a waiting GPU kernel ended, in a word of memory that the CPU reads. The launcher initializes it to running.
enum class KernelEnd : std::uint32_t { running = 0, finished = 1, stopped = 2, expired = 3 };

/// The CPU writes this value to stop ping_pong, to stop burn and to open gate.
inline constexpr std::uint32_t stop_word = 0xffffffff;

}  // namespace gdrkit::platform
