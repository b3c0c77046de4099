// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/harness/clock.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "measure/harness/samples.hpp"
#include "platform/host/stopwatch.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace gdrkit::measure {
namespace {

constexpr std::int64_t calibration_ns = 20'000'000;
constexpr int overhead_samples = 1001;
/// Reading CLOCK_MONOTONIC without a system call costs up to twice as much as reading the counter.
constexpr double system_call_ratio = 4;

constexpr bool has_tsc() noexcept {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

/// CPUID 0x80000007 EDX bit 8: the counter runs at one rate in every power state (Intel SDM vol. 3, 18.17.1), and
/// 0x80000001 EDX bit 27: RDTSCP. A hypervisor that moves guests between hosts hides the first.
bool has_constant_tsc() noexcept {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) == 0 || (d & (1u << 27)) == 0) return false;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
#else
  return false;
#endif
}

}  // namespace

std::uint64_t Clock::read_tsc() noexcept {
#if defined(__x86_64__)
  // LFENCE: no later instruction starts, and no load is outstanding, before the counter is read (SDM, RDTSC).
  _mm_lfence();
  const std::uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
#else
  return 0;
#endif
}

std::uint64_t Clock::read_monotonic() noexcept { return static_cast<std::uint64_t>(platform::now_ns()); }

Clock::Clock(Counter accepted) {
  is_tsc_ = has_constant_tsc();
  why_ = is_tsc_ ? "the time-stamp counter runs at a constant rate here and costs least to read"
                 : "CPUID does not report an invariant time-stamp counter";
  calibrate();
  overhead_ns_ = pair_cost_ns();
  if (is_tsc_ || accepted == Counter::constant || !has_tsc()) return;
  is_tsc_ = true;
  calibrate();
  const double cost_ns = pair_cost_ns();
  if (cost_ns * system_call_ratio < overhead_ns_) {
    overhead_ns_ = cost_ns;
    why_ = "CPUID does not guarantee a constant rate, but reading CLOCK_MONOTONIC is slow here";
    return;
  }
  is_tsc_ = false;
  ns_per_tick_ = 1;
}

double Clock::pair_cost_ns() const {
  const std::function<void(std::size_t)> nothing = [](std::size_t) {};
  std::vector<double> samples;
  samples.reserve(overhead_samples);
  for (int sample = 0; sample < overhead_samples; ++sample) {
    const std::uint64_t begin = now();
    nothing(0);
    samples.push_back(ns(now() - begin));
  }
  return median(std::move(samples));
}

void Clock::calibrate() noexcept {
  if (!is_tsc_) return;
  const std::int64_t begin_ns = platform::now_ns();
  const std::uint64_t begin = now();
  std::int64_t end_ns = begin_ns;
  while (end_ns - begin_ns < calibration_ns) end_ns = platform::now_ns();
  const std::uint64_t ticks = now() - begin;
  ns_per_tick_ = static_cast<double>(end_ns - begin_ns) / static_cast<double>(ticks);
}

MachineNoise observe_machine_noise(const Clock& clock, double milliseconds) {
  constexpr double ns_per_ms = 1e6;
  constexpr double ns_per_us = 1e3;
  MachineNoise noise;
  double lost_ns = 0;
  const std::uint64_t begin = clock.now();
  std::uint64_t last = begin;
  while (clock.ns(last - begin) < milliseconds * ns_per_ms) {
    const std::uint64_t now = clock.now();
    const double gap_ns = clock.ns(now - last);
    if (gap_ns > MachineNoise::gap_us * ns_per_us) {
      ++noise.gaps;
      lost_ns += gap_ns;
      noise.largest_gap_us = std::max(noise.largest_gap_us, gap_ns / ns_per_us);
    }
    last = now;
  }
  const double observed_ns = clock.ns(last - begin);
  noise.observed_ms = observed_ns / ns_per_ms;
  noise.lost_share = observed_ns > 0 ? lost_ns / observed_ns : 0;
  return noise;
}

}  // namespace gdrkit::measure
