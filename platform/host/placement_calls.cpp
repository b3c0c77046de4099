// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The operating system's functions. Memory policies use raw system calls: two calls do not justify libnuma.
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "base/cpu_set.hpp"
#include "platform/facts/number_list.hpp"
#include "platform/host/placement.hpp"

namespace gdrkit::platform {
namespace {

constexpr int most_nodes = 1024;  // maximum that Linux can be configured for

static_assert(base::CpuSet::most_cpus == largest_listed_number + 1);

class RealPlacementCalls final : public PlacementCalls {
 public:
  int allowed_cpus(std::vector<int>* cpus) noexcept override {
    base::CpuSet set;
    if (const int error = set.read(); error < 0) return error;
    cpus->clear();
    for (int cpu = 0; cpu < base::CpuSet::most_cpus; ++cpu) {
      if (set.has(cpu)) cpus->push_back(cpu);
    }
    return 0;
  }

  int current_cpu() noexcept override {
    const int cpu = ::sched_getcpu();
    return cpu < 0 ? -errno : cpu;
  }

  int bind_thread(const std::vector<int>& cpus) noexcept override {
    base::CpuSet set;
    for (const int cpu : cpus) set.add(cpu);
    return set.apply();
  }

  int bind_memory(int node) noexcept override {
    if (node < 0 || node >= most_nodes) return -EINVAL;
    constexpr unsigned bits = sizeof(unsigned long) * CHAR_BIT;
    std::array<unsigned long, most_nodes / bits> mask{};
    mask[static_cast<unsigned>(node) / bits] = 1ul << (static_cast<unsigned>(node) % bits);
    // Linux uses one bit less than the given number.
    return ::syscall(SYS_set_mempolicy, MPOL_BIND, mask.data(), most_nodes + 1) == 0 ? 0 : -errno;
  }
};

}  // namespace

PlacementCalls& real_placement_calls() noexcept {
  static RealPlacementCalls calls;
  return calls;
}

}  // namespace gdrkit::platform
