// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The emulated CUDA driver: the part of libcuda that backends, engines and Device use, on the emulated device's memory.
#pragma once

#include <cstddef>
#include <functional>

#include "driver/cuda_calls.hpp"

namespace gdrkit::fakes {

/// Two devices. Each stream is a thread; the default stream executes immediately; device and pinned addresses are the
/// CPU's own; dma-bufs are the memory files of allocations. The only GPU kernel of a module is the mover's. The module
/// stand_in_cuda is the same code as a libcuda.so.1. These environment variables change it: EMULATED_CUDA_VERSION, its
/// number; EMULATED_CUDA_HAS_NO_DEVICE; EMULATED_CUDA_REFUSES_MMAP, like drivers that export dma-bufs for adapters
/// only; EMULATED_CUDA_IS_COHERENT, as on Grace with NVLink-C2C, for memory that the CPU may access.
[[nodiscard]] const driver::CudaCalls& emulated_cuda();

/// Returns the number of resources in use: contexts, memory, reservations, handles, mappings, streams, events, modules,
/// page-locked ranges.
[[nodiscard]] int held_of_emulated_cuda() noexcept;

/// Updates this count if a call with this `result` allocated or released a resource; returns `result`.
int count_taken(int result) noexcept;
int count_released(int result) noexcept;

/// As cuInit. Before it every function that requires it returns CUDA_ERROR_NOT_INITIALIZED.
void initialise_emulated_cuda() noexcept;

/// Appends `work` to a stream.
void enqueue_in_stream(void* stream, std::function<void()> work);

/// Emulates one block of the mover's GPU kernel; `parameter` is that of cuLaunchKernel.
void play_mover(unsigned block, unsigned blocks, const void* parameter) noexcept;
/// Emulates all blocks, the first in this thread and each other in its own. Returns when all have ended.
void play_mover_blocks(unsigned blocks, const void* parameter);
inline constexpr std::size_t mover_parameter_bytes = 40;

}  // namespace gdrkit::fakes
