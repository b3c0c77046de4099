// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CpuSet: the CPUs that a thread may use. A cpu_set_t ends at 1024 CPUs: sched_getaffinity then fails with EINVAL on
// larger machines, and CPU_SET ignores higher CPU numbers.
#pragma once

#include <sched.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace gdrkit::base {

class CpuSet {
 public:
  static constexpr int most_cpus = 65536;  ///< Linux can be built for 8192

  CpuSet() noexcept {
    for (cpu_set_t& part : parts_) CPU_ZERO(&part);
  }
  [[nodiscard]] static CpuSet of(int cpu) noexcept {
    CpuSet set;
    set.add(cpu);
    return set;
  }

  /// Ignores CPUs outside 0 to most_cpus - 1.
  void add(int cpu) noexcept {
    if (cpu >= 0 && cpu < most_cpus) CPU_SET(bit(cpu), &parts_[part(cpu)]);
  }
  [[nodiscard]] bool has(int cpu) const noexcept {
    return cpu >= 0 && cpu < most_cpus && CPU_ISSET(bit(cpu), &parts_[part(cpu)]);
  }
  [[nodiscard]] int count() const noexcept {
    int sum = 0;
    for (const cpu_set_t& part : parts_) sum += CPU_COUNT(&part);
    return sum;
  }

  /// Reads the affinity of the calling thread. Returns 0 or a negative errno.
  int read() noexcept { return ::sched_getaffinity(0, sizeof parts_, parts_.data()) == 0 ? 0 : -errno; }
  /// Sets the affinity of the calling thread. Returns 0 or a negative errno.
  [[nodiscard]] int apply() const noexcept {
    return ::sched_setaffinity(0, sizeof parts_, parts_.data()) == 0 ? 0 : -errno;
  }

 private:
  static std::size_t part(int cpu) noexcept { return static_cast<std::size_t>(cpu) / CPU_SETSIZE; }
  static std::size_t bit(int cpu) noexcept { return static_cast<std::size_t>(cpu) % CPU_SETSIZE; }

  std::array<cpu_set_t, most_cpus / CPU_SETSIZE> parts_;
};

}  // namespace gdrkit::base
