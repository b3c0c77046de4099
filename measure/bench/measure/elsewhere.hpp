// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Elsewhere: new threads run on other CPUs than the measuring thread.
#pragma once

#include <sched.h>
#include <cstddef>
#include <vector>

#include "base/cpu_set.hpp"

namespace gdrkit::measure::bench {

/// Binds the calling thread to this CPU; returns false if the system does not allow it.
inline bool stay_on(int cpu) noexcept { return cpu >= 0 && base::CpuSet::of(cpu).apply() == 0; }

/// New threads inherit the CPUs of the thread that starts them. The constructor gives the calling one all of `cpus`
/// except the first (all, if there is one); the destructor restores its own.
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
