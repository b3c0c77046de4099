// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CopyTeam: threads that copy at the same time, each on its own CPU.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

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

}  // namespace gdrkit::measure::bench
