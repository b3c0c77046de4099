// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Elsewhere: threads that are begun meanwhile run on other CPUs than the measuring thread.
#pragma once

#include <sched.h>

#include <cstddef>
#include <vector>

namespace gdrkit::tools {

/// The calling thread on this CPU alone; false where the system does not allow it.
inline bool stay_on(int cpu) noexcept {
  if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return ::sched_setaffinity(0, sizeof(set), &set) == 0;
}

/// New threads inherit their CPUs from the thread that begins them: this gives the calling one all of `cpus` but the
/// first (all, if there is one), and its own back at the end.
class Elsewhere {
 public:
  explicit Elsewhere(const std::vector<int>& cpus) noexcept {
    CPU_ZERO(&own_);
    if (cpus.empty() || ::sched_getaffinity(0, sizeof(own_), &own_) != 0) return;
    cpu_set_t others;
    CPU_ZERO(&others);
    for (std::size_t number = cpus.size() > 1 ? 1 : 0; number < cpus.size(); ++number) CPU_SET(cpus[number], &others);
    has_moved_ = ::sched_setaffinity(0, sizeof(others), &others) == 0;
  }
  ~Elsewhere() {
    if (has_moved_) (void)::sched_setaffinity(0, sizeof(own_), &own_);
  }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;

 private:
  cpu_set_t own_{};
  bool has_moved_ = false;
};

}  // namespace gdrkit::tools
