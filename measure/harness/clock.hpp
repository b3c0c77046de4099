// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Clock: the clock for single operations, and the cost of reading it. MachineNoise: the share of a CPU's time that
// other work takes, measured by a loop that only reads the clock.
#pragma once

#include <cstdint>
#include <string>

namespace gdrkit::measure {

/// A batch of many operations is timed with CLOCK_MONOTONIC (stopwatch.hpp), whose two reads are then negligible. A
/// single copy of 100 ns requires a cheaper clock: the processor's time-stamp counter if it runs at a constant rate,
/// read such that neither earlier nor later instructions cross the read. Otherwise CLOCK_MONOTONIC is used.
class Clock {
 public:
  /// Which time-stamp counters are accepted. `any`: also one whose rate CPUID does not guarantee to be constant, if
  /// reading CLOCK_MONOTONIC costs several times as much, for example if Linux keeps its time by an HPET. Use it in
  /// programs that are compared with one that reads the counter unconditionally.
  enum class Counter { constant, any };

  /// Chooses and calibrates (about 20 ms). Expensive: create one per run.
  explicit Clock(Counter accepted = Counter::constant);

  /// Ticks, read after all earlier work has finished (loads returned, stores retired; the caller adds a store fence).
  [[nodiscard]] std::uint64_t now() const noexcept { return is_tsc_ ? read_tsc() : read_monotonic(); }
  [[nodiscard]] double ns(std::uint64_t ticks) const noexcept { return static_cast<double>(ticks) * ns_per_tick_; }

  [[nodiscard]] const char* name() const noexcept { return is_tsc_ ? "tsc" : "clock_monotonic"; }
  [[nodiscard]] const char* why() const noexcept { return why_; }  ///< the reason of the choice, a sentence
  [[nodiscard]] double ns_per_tick() const noexcept { return ns_per_tick_; }
  /// Median of two reads with an empty operation between them. It is contained in every singly timed value, and not
  /// subtracted.
  [[nodiscard]] double overhead_ns() const noexcept { return overhead_ns_; }

 private:
  static std::uint64_t read_tsc() noexcept;
  static std::uint64_t read_monotonic() noexcept;
  void calibrate() noexcept;
  [[nodiscard]] double pair_cost_ns() const;

  bool is_tsc_ = false;
  const char* why_ = "";
  double ns_per_tick_ = 1;
  double overhead_ns_ = 0;
};

struct MachineNoise {
  double observed_ms = 0;
  double lost_share = 0;  ///< of the observed time: gaps between two clock reads longer than gap_us
  double largest_gap_us = 0;
  int gaps = 0;

  static constexpr double gap_us = 1;  ///< an undisturbed clock read takes some 10 ns; an interrupt over 1 us
  /// On a machine that loses more than this, percentiles above p99 are those of other work, not of the copy.
  static constexpr double quiet_share = 0.001;
  [[nodiscard]] bool is_quiet() const noexcept { return lost_share <= quiet_share; }
};

/// Observes for `milliseconds` on the calling thread, which should be bound to its CPU.
[[nodiscard]] MachineNoise observe_machine_noise(const Clock& clock, double milliseconds);

}  // namespace gdrkit::measure
