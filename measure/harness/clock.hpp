// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Clock: what single operations are timed with, and what reading it costs.
#pragma once

#include <cstdint>
#include <string>

namespace gdrkit::measure {

/// A batch of many operations is timed with CLOCK_MONOTONIC (stopwatch.hpp), whose two reads vanish in it. One copy of
/// 100 ns needs less: the processor's time-stamp counter, where it runs at a constant rate, read so that neither
/// earlier nor later instructions cross the reading. Elsewhere CLOCK_MONOTONIC serves here too.
class Clock {
 public:
  /// Which time-stamp counter may serve. `any`: also one whose rate CPUID does not promise to be constant, where
  /// reading CLOCK_MONOTONIC costs several times as much, as where Linux keeps its time by an HPET. For programs that
  /// are compared with one that reads the counter without asking.
  enum class Counter { constant, any };

  /// Chooses and calibrates (about 20 ms). Not cheap: one for a run.
  explicit Clock(Counter accepted = Counter::constant);

  /// Ticks, after everything before it has finished (loads returned, stores retired; a store fence is the caller's).
  [[nodiscard]] std::uint64_t now() const noexcept { return is_tsc_ ? read_tsc() : read_monotonic(); }
  [[nodiscard]] double ns(std::uint64_t ticks) const noexcept { return static_cast<double>(ticks) * ns_per_tick_; }

  [[nodiscard]] const char* name() const noexcept { return is_tsc_ ? "tsc" : "clock_monotonic"; }
  [[nodiscard]] const char* why() const noexcept { return why_; }  ///< a sentence
  [[nodiscard]] double ns_per_tick() const noexcept { return ns_per_tick_; }
  /// Median of two reads with an empty operation between them. It is in every singly timed value; nothing is
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

}  // namespace gdrkit::measure
