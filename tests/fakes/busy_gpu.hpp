// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BusyGpu: emulated_cuda() on a GPU with other work: launches fail or start late, running GPU kernels are
// suspended, copies are delayed.
#pragma once

#include <atomic>
#include <chrono>
#include <ostream>

#include "driver/cuda_calls.hpp"

namespace gdrkit::fakes {

/// Effects of the other work on future calls.
struct BusyGpu {
  using Time = std::chrono::nanoseconds;

  std::atomic<int> refused_launches{0};        ///< number of launches that fail
  std::atomic<int> refusal{701};               ///< with this result: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
  std::atomic<int> late_launches{0};           ///< number of launches that start after `delay`
  std::atomic<int> suspended_launches{0};      ///< number of launches that start and are suspended for `delay`
  std::atomic<bool> ends_when_resumed{false};  ///< after the suspension it ends without executing a command
  std::atomic<int> late_copies{0};             ///< number of CUDA's copies that start after `delay`
  std::atomic<Time> delay{Time(0)};
  std::atomic<int> launches{0};  ///< all launches, including the failed ones

  void reset() noexcept;
};

/// Named other work, as the parameter of a test.
struct Work {
  const char* name;
  void (*begin)(BusyGpu& busy);
};
inline void PrintTo(const Work& work, std::ostream* out) { *out << work.name; }

[[nodiscard]] BusyGpu& busy_gpu() noexcept;
[[nodiscard]] const driver::CudaCalls& busy_emulated_cuda() noexcept;

}  // namespace gdrkit::fakes
