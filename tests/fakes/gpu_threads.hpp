// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GpuThreads: the table of CUDA calls that buffers and copies by the GPU need, played by threads of this process on the
// emulated device's memory.
#pragma once

#include <cstddef>
#include <functional>

#include "driver/cuda_calls.hpp"

namespace gdrkit::fakes {

/// Each stream is a thread; device and pinned addresses are the CPU's own; one context for all devices. The only GPU
/// kernel that a module has is the mover's.
[[nodiscard]] const driver::CudaCalls& gpu_threads() noexcept;

/// What is held and was not given back: contexts, streams, events, modules, page-locked ranges.
[[nodiscard]] int held_by_gpu_threads() noexcept;

/// Has the thread of a stream do this after what the stream was given before.
void give_to_stream(void* stream, std::function<void()> work);

/// Plays one block of the mover's GPU kernel; `parameter` as cuLaunchKernel got it.
void play_mover(unsigned block, unsigned blocks, const void* parameter) noexcept;
inline constexpr std::size_t mover_parameter_bytes = 40;

}  // namespace gdrkit::fakes
