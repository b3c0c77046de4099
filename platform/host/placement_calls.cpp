// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The operating system itself. Memory policies by raw system call: two calls are no reason to need libnuma.
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <memory>

#include "platform/facts/number_list.hpp"
#include "platform/host/placement.hpp"

namespace gdrkit::platform {
namespace {

constexpr int most_cpus = largest_listed_number + 1;
constexpr int most_nodes = 1024;  // what Linux can be built for at most

struct CpuSetFree {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};

/// Larger than cpu_set_t, which ends at 1024 CPUs and makes the system answer EINVAL on machines with more.
class CpuSet {
 public:
  CpuSet() : set_(CPU_ALLOC(most_cpus)) {
    if (set_ != nullptr) CPU_ZERO_S(size(), set_.get());
  }
  [[nodiscard]] cpu_set_t* get() const noexcept { return set_.get(); }
  [[nodiscard]] static std::size_t size() noexcept { return CPU_ALLOC_SIZE(most_cpus); }

 private:
  std::unique_ptr<cpu_set_t, CpuSetFree> set_;
};

class RealPlacementCalls final : public PlacementCalls {
 public:
  int allowed_cpus(std::vector<int>* cpus) noexcept override {
    const CpuSet set;
    if (set.get() == nullptr) return -ENOMEM;
    if (::sched_getaffinity(0, CpuSet::size(), set.get()) != 0) return -errno;
    cpus->clear();
    for (int cpu = 0; cpu < most_cpus; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), CpuSet::size(), set.get())) cpus->push_back(cpu);
    }
    return 0;
  }

  int current_cpu() noexcept override {
    const int cpu = ::sched_getcpu();
    return cpu < 0 ? -errno : cpu;
  }

  int bind_thread(const std::vector<int>& cpus) noexcept override {
    const CpuSet set;
    if (set.get() == nullptr) return -ENOMEM;
    for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), CpuSet::size(), set.get());
    return ::sched_setaffinity(0, CpuSet::size(), set.get()) == 0 ? 0 : -errno;
  }

  int bind_memory(int node) noexcept override {
    if (node < 0 || node >= most_nodes) return -EINVAL;
    constexpr unsigned bits = sizeof(unsigned long) * CHAR_BIT;
    std::array<unsigned long, most_nodes / bits> mask{};
    mask[static_cast<unsigned>(node) / bits] = 1ul << (static_cast<unsigned>(node) % bits);
    // Linux takes one bit less than it is told.
    return ::syscall(SYS_set_mempolicy, MPOL_BIND, mask.data(), most_nodes + 1) == 0 ? 0 : -errno;
  }
};

}  // namespace

PlacementCalls& real_placement_calls() noexcept {
  static RealPlacementCalls calls;
  return calls;
}

}  // namespace gdrkit::platform
