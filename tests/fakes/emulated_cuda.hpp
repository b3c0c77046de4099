// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The emulated CUDA driver: what backends, engines and Device need of libcuda, on the emulated device's memory.
#pragma once

#include <cstddef>
#include <functional>

#include "driver/cuda_calls.hpp"

namespace gdrkit::fakes {

/// Two devices; each stream is a thread, the default stream works at once; device and pinned addresses are the CPU's
/// own; dma-bufs are the memory files of allocations. The only GPU kernel that a module has is the mover's. The module
/// stand_in_cuda is the same code as a libcuda.so.1. These environment variables change it: EMULATED_CUDA_VERSION, its
/// number; EMULATED_CUDA_HAS_NO_DEVICE; EMULATED_CUDA_REFUSES_MMAP, as drivers that export dma-bufs for adapters only;
/// EMULATED_CUDA_IS_COHERENT, as on Grace with NVLink-C2C, for memory that CUDA lets the CPU use.
[[nodiscard]] const driver::CudaCalls& emulated_cuda();

/// What is held and was not given back: contexts, memory, reservations, handles, mappings, streams, events, modules,
/// page-locked ranges.
[[nodiscard]] int held_of_emulated_cuda() noexcept;

/// Counts what a call that returned `result` took or gave back; returns `result`.
int count_taken(int result) noexcept;
int count_given_back(int result) noexcept;

/// As cuInit. Until then every function that needs it returns CUDA_ERROR_NOT_INITIALIZED.
void initialise_emulated_cuda() noexcept;

/// Has the thread of a stream do this after what the stream was given before.
void give_to_stream(void* stream, std::function<void()> work);

/// Plays one block of the mover's GPU kernel; `parameter` as cuLaunchKernel got it.
void play_mover(unsigned block, unsigned blocks, const void* parameter) noexcept;
inline constexpr std::size_t mover_parameter_bytes = 40;

}  // namespace gdrkit::fakes
