// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How each <name>_host.cpp launches its GPU kernel: after validating the parameters, on the GPU, or by a host thread on
// the emulated device. And the counterpart of device_access.cuh for that thread.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

#include "platform/gpu_code/gpu_kernels.hpp"
#include "platform/gpu_code/kernel_end.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::platform {

/// Arguments of the host function that emulates a GPU kernel, which deletes them.
template <class Parameters>
struct HostPart {
  Parameters parameters;
  LaunchShape shape;
  void (*play)(const Parameters& parameters, LaunchShape shape) noexcept;

  static void run(void* argument) {
    const std::unique_ptr<HostPart> part(static_cast<HostPart*>(argument));
    part->play(part->parameters, part->shape);
  }
};

template <GpuKernel kernel, class Parameters>
base::Status GpuKernels::launch_any(const Parameters& parameters, LaunchShape shape, Stream stream,
                                    Check<Parameters>* check, Play<Parameters>* play) noexcept {
  static_assert(sizeof(Parameters) % 8 == 0, "the GPU and the CPU see one layout");
  if (auto prepared = prepare<kernel>(); !prepared) return prepared;
  if (auto checked = check_shape(kernel, shape); !checked) return checked;
  if (auto checked = check(parameters, shape, resident_blocks_); !checked) return checked;
  if (!device_->is_emulated()) {
    Parameters copy = parameters;
    void* pointers[] = {&copy};
    return device_->launch(loaded_[static_cast<std::size_t>(kernel)].function, shape, stream, pointers);
  }
  auto* part = new (std::nothrow) HostPart<Parameters>{parameters, shape, play};
  if (part == nullptr)
    return base::fail(ENOMEM, "out of memory while launching GPU kernel '%s'", gpu_kernel_name(kernel));
  auto launched = device_->launch_host_function(stream, &HostPart<Parameters>::run, part);
  if (!launched) delete part;
  return launched;
}

inline std::uint32_t load_acquire(std::uint64_t address) noexcept {
  return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(address)).load(std::memory_order_acquire);
}
inline void store_release(std::uint64_t address, std::uint32_t value) noexcept {
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(address)).store(value, std::memory_order_release);
}
inline void report_end(std::uint64_t address, KernelEnd end) noexcept {
  store_release(address, static_cast<std::uint32_t>(end));
}

/// As on the GPU, but it yields the CPU between polls: the thread for which it waits may need this very core.
template <class Load, class Condition>
KernelEnd wait_for(Load load, std::uint64_t address, std::uint64_t limit_ns, Condition is_there) noexcept {
  constexpr int polls_per_yield = 64;
  const auto limit = static_cast<std::int64_t>(limit_ns < INT64_MAX ? limit_ns : INT64_MAX);
  const std::int64_t begin = now_ns();
  for (;;) {
    std::uint32_t seen = 0;
    for (int poll = 0; poll < polls_per_yield; ++poll) {
      seen = load(address);
      if (is_there(seen)) return KernelEnd::running;
    }
    if (seen == stop_word) return KernelEnd::stopped;
    if (now_ns() - begin > limit) return KernelEnd::expired;
    ::sched_yield();
  }
}

}  // namespace gdrkit::platform
