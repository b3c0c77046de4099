// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/measure/injected_slowdown.hpp"

#include <algorithm>

#include "cli/common/exit_code.hpp"
#include "measure/harness/samples.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::tools {
namespace {

constexpr int settling_batches = 60;
/// Of the error, what one batch corrects: a batch is off by some per cent itself.
constexpr double gain = 0.2;
/// What a turn takes is measured, and then learned from what it did.
constexpr std::size_t timed_turns = 100000;
constexpr int timings = 5;
/// Shorter batches are mostly the clock's.
constexpr double shortest_batch_ns = 20e3;

/// Of turns alone; a compiler may put several into a cycle.
double turns_in_a_ns() {
  double each_ns = platform::time_batch(1, [](std::size_t) { spin(timed_turns); });
  for (int timing = 1; timing < timings; ++timing) {
    each_ns = std::min(each_ns, platform::time_batch(1, [](std::size_t) { spin(timed_turns); }));
  }
  return static_cast<double>(timed_turns) / std::max(each_ns, 1.0);
}

}  // namespace

void spin(std::size_t turns) noexcept {
  for (std::size_t turn = 0; turn < turns; ++turn) asm volatile("" ::: "memory");
}

double Brake::measure(std::size_t count, const std::function<double(std::size_t turns)>& mean_ns) {
  const double plain_ns = mean_ns(0);
  const double slowed_ns = mean_ns(turns());
  if (plain_ns <= 0 || plain_ns * static_cast<double>(count) < shortest_batch_ns) return slowed_ns;
  const double achieved = slowed_ns / plain_ns - 1;
  shares_.push_back(achieved);
  plain_ns_.push_back(plain_ns);
  // A batch that something disturbed corrects no more than the whole share of an undisturbed one, either way.
  const double error = std::clamp(share_ - achieved, -share_, share_);
  turns_ = std::max(turns_ + gain * error * measure::median(plain_ns_) * turns_a_ns_, 0.0);
  return slowed_ns;
}

void Brake::settle(std::size_t count, const std::function<double(std::size_t turns)>& mean_ns) {
  for (int batch = 0; batch < settling_batches; ++batch) (void)measure(count, mean_ns);
  shares_.clear();
}

std::optional<double> Brake::achieved_share() const {
  if (shares_.empty()) return std::nullopt;
  return measure::median(shares_);
}

bool InjectedSlowdown::is_meant(Direction direction, std::size_t size_bytes) const {
  return request_ && request_->size_bytes == size_bytes && request_->direction.value_or(direction) == direction;
}

std::shared_ptr<Brake> InjectedSlowdown::brake(Direction direction) {
  brakes_.emplace_back(direction, std::make_shared<Brake>(request_->percent / 100, turns_in_a_ns()));
  return brakes_.back().second;
}

std::string InjectedSlowdown::description() const {
  if (!request_) return "";
  std::string text = format("%g %% at %zu bytes", request_->percent, request_->size_bytes);
  for (const auto& [direction, brake] : brakes_) {
    if (const auto share = brake->achieved_share()) {
      text += format(", %s: %.1f %% in %zu turns", direction_name(direction), *share * 100, brake->turns());
    }
  }
  return text;
}

}  // namespace gdrkit::tools
