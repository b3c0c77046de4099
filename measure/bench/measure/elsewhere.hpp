// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Elsewhere: threads that are begun meanwhile run on other CPUs than the measuring thread.
#pragma once

#include <sched.h>
#include <cstddef>
#include <vector>

#include "base/cpu_set.hpp"

namespace gdrkit::measure::bench {

/// The calling thread on this CPU alone; false where the system does not allow it.
inline bool stay_on(int cpu) noexcept { return cpu >= 0 && base::CpuSet::of(cpu).apply() == 0; }

/// New threads inherit their CPUs from the thread that begins them: this gives the calling one all of `cpus` but the
/// first (all, if there is one), and its own back at the end.
class Elsewhere {
 public:
  explicit Elsewhere(const std::vector<int>& cpus) noexcept {
    if (cpus.empty() || own_.read() != 0) return;
    base::CpuSet others;
    for (std::size_t number = cpus.size() > 1 ? 1 : 0; number < cpus.size(); ++number) others.add(cpus[number]);
    has_moved_ = others.apply() == 0;
  }
  ~Elsewhere() {
    if (has_moved_) (void)own_.apply();
  }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;

 private:
  base::CpuSet own_;
  bool has_moved_ = false;
};

}  // namespace gdrkit::measure::bench
