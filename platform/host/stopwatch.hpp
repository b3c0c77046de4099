// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The benchmark clock, and binding of the measuring thread.
#pragma once

#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <ctime>

#include "base/cpu_set.hpp"

namespace gdrkit::platform {

/// Printed in every result. Nothing is subtracted from times.
inline constexpr const char* timer_name = "clock_gettime(CLOCK_MONOTONIC), two reads a batch, nothing subtracted";

[[nodiscard]] inline std::int64_t now_ns() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Binds the calling thread to its current CPU: on another CPU, copies would start with cold caches. Returns the CPU
/// number, or -1 if the system does not allow it; the measurement then continues unbound.
inline int stay_on_this_cpu() noexcept {
  const int cpu = ::sched_getcpu();
  return cpu >= 0 && base::CpuSet::of(cpu).apply() == 0 ? cpu : -1;
}

/// Calls `once` `count` times and returns the nanoseconds per call.
template <class Function>
[[nodiscard]] double time_batch(std::size_t count, Function&& once) {
  const std::int64_t begin = now_ns();
  for (std::size_t number = 0; number < count; ++number) once(number);
  return static_cast<double>(now_ns() - begin) / static_cast<double>(count);
}

}  // namespace gdrkit::platform
