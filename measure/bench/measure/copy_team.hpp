// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CopyTeam: threads that copy at the same time, each on its own CPU. Elsewhere: new threads run on other CPUs than the
// measuring thread.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "base/cpu_set.hpp"
#include "measure/harness/rounds.hpp"

namespace gdrkit::measure::bench {

/// The calling thread is the first member. Between turns the others spin, as long as the team exists.
class CopyTeam {
 public:
  /// Member i stays on cpus[i] if there are enough.
  CopyTeam(std::size_t members, const std::vector<int>& cpus);
  ~CopyTeam();
  CopyTeam(const CopyTeam&) = delete;
  CopyTeam& operator=(const CopyTeam&) = delete;

  /// Every member runs its own batch (batches[i], which must outlive the call) of `count` operations, all starting at
  /// the same moment. Returns the nanoseconds per operation of one member, as the harmonic mean, so that rates can be
  /// added. Rethrows what a batch threw.
  double run(const std::vector<std::function<double(std::size_t)>>& batches, std::size_t count);

 private:
  struct alignas(64) Place {
    double ns = 0;
    std::exception_ptr failure;
  };
  void serve(std::size_t member, int cpu);
  void take_part(std::size_t member);

  std::vector<Place> places_;
  const std::vector<std::function<double(std::size_t)>>* batches_ = nullptr;
  std::size_t count_ = 0;
  std::size_t active_ = 0;  ///< members with a batch
  std::atomic<std::size_t> turn_{0};
  std::atomic<std::size_t> arrived_{0};
  std::atomic<std::size_t> done_{0};
  std::atomic<bool> is_over_{false};
  std::vector<std::thread> threads_;
};

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
