// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GpuThreads: the table of CUDA calls that copies by the GPU need, played by threads of this process on the emulated
// device's memory; and the same table with a fault in it.
#pragma once

#include <atomic>
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

/// Which call of faulty_gpu_threads() fails; calls are counted over all functions in the order they are made.
struct CallFault {
  static constexpr int never = -1;
  std::atomic<int> number = never;  ///< of the call to fail, from 0 on
  std::atomic<int> calls = 0;
  std::atomic<const char*> failed = nullptr;  ///< name of the call that failed
  int result = 999;                           ///< CUDA_ERROR_UNKNOWN
};
[[nodiscard]] CallFault& call_fault() noexcept;
/// As gpu_threads(). A call that fails is not made, except those that wait or give something back: CUDA reports the
/// errors of earlier work from them.
[[nodiscard]] const driver::CudaCalls& faulty_gpu_threads() noexcept;

}  // namespace gdrkit::fakes
