// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The functions of device_access.cuh for the host thread that does a GPU kernel's work on the emulated device.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "platform/gpu_code/host_part.hpp"
#include "platform/gpu_code/kernel_end.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::platform {

inline std::uint32_t load_acquire(std::uint64_t address) noexcept {
  return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(address)).load(std::memory_order_acquire);
}
inline void store_release(std::uint64_t address, std::uint32_t value) noexcept {
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(address)).store(value, std::memory_order_release);
}
inline void report_end(std::uint64_t address, KernelEnd end) noexcept {
  store_release(address, static_cast<std::uint32_t>(end));
}

/// As on the GPU, but yields the CPU between polls: the writer may need this core.
template <class Load, class Condition>
KernelEnd wait_for(Load load, std::uint64_t address, std::uint64_t limit_ns, Condition is_satisfied) noexcept {
  constexpr int polls_per_yield = 64;
  const auto limit = static_cast<std::int64_t>(limit_ns < INT64_MAX ? limit_ns : INT64_MAX);
  const std::int64_t begin = now_ns();
  for (;;) {
    std::uint32_t seen = 0;
    for (int poll = 0; poll < polls_per_yield; ++poll) {
      seen = load(address);
      if (is_satisfied(seen)) return KernelEnd::running;
    }
    if (seen == stop_word) return KernelEnd::stopped;
    if (now_ns() - begin > limit) return KernelEnd::expired;
    ::sched_yield();
  }
}

}  // namespace gdrkit::platform
