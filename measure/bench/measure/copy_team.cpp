// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/measure/copy_team.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

namespace gdrkit::measure::bench {
namespace {

constexpr int polls_before_yielding = 2000;

/// Spins: a sleeping thread would start later than the others end.
template <class Condition>
void wait_for(Condition&& is_so) {
  for (int poll = 0; !is_so(); ++poll) {
    // More members than free CPUs: yield to the missing one.
    if (poll > polls_before_yielding) ::sched_yield();
  }
}

}  // namespace

CopyTeam::CopyTeam(std::size_t members, const std::vector<int>& cpus) : places_(members) {
  for (std::size_t member = 1; member < members; ++member) {
    threads_.emplace_back([=, this] { serve(member, member < cpus.size() ? cpus[member] : -1); });
  }
}

CopyTeam::~CopyTeam() {
  is_over_.store(true, std::memory_order_relaxed);
  // Pairs with the acquire in serve(): members see is_over_ with the new turn.
  turn_.fetch_add(1, std::memory_order_release);
  for (std::thread& thread : threads_) thread.join();
}

void CopyTeam::serve(std::size_t member, int cpu) {
  (void)stay_on(cpu);
  for (std::size_t turn = 1;; ++turn) {
    wait_for([&] { return turn_.load(std::memory_order_acquire) >= turn; });
    if (is_over_.load(std::memory_order_relaxed)) return;
    take_part(member);
  }
}

void CopyTeam::take_part(std::size_t member) {
  if (member < active_) {
    // All begin when the last one has arrived.
    arrived_.fetch_add(1, std::memory_order_acq_rel);
    wait_for([&] { return arrived_.load(std::memory_order_acquire) >= active_; });
    try {
      places_[member].ns = (*batches_)[member](count_);
    } catch (...) {
      places_[member].failure = std::current_exception();
    }
  }
  // Pairs with the acquire in run(): this member's writes are visible with its end.
  done_.fetch_add(1, std::memory_order_release);
}

double CopyTeam::run(const std::vector<std::function<double(std::size_t)>>& batches, std::size_t count) {
  batches_ = &batches;
  count_ = count;
  active_ = std::min(batches.size(), places_.size());
  arrived_.store(0, std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  // Pairs with the acquire in serve(): members see the batches with the new turn.
  turn_.fetch_add(1, std::memory_order_release);
  take_part(0);
  wait_for([&] { return done_.load(std::memory_order_acquire) == places_.size(); });
  double rate = 0;
  for (std::size_t member = 0; member < active_; ++member) {
    if (places_[member].failure) std::rethrow_exception(std::exchange(places_[member].failure, nullptr));
    rate += 1 / places_[member].ns;
  }
  return static_cast<double>(active_) / rate;
}

}  // namespace gdrkit::measure::bench
