// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/measure/injected_slowdown.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/common/exit_code.hpp"
#include "measure/harness/samples.hpp"

namespace gdrkit::tools {
namespace {

constexpr int looks = 41;
constexpr int halvings = 10;
constexpr std::size_t most_turns = std::size_t{1} << 32;

/// How much longer the operation takes with `turns`, as a share; neighbours in time are compared, so that a machine
/// that slows down meanwhile slows both.
double share_of(std::size_t turns, const std::function<double(std::size_t)>& mean_ns) {
  std::vector<double> ratios;
  for (int look = 0; look < looks; ++look) {
    const double plain = mean_ns(0);
    ratios.push_back(mean_ns(turns) / plain - 1);
  }
  return measure::median(std::move(ratios));
}

}  // namespace

void spin(std::size_t turns) noexcept {
  for (std::size_t turn = 0; turn < turns; ++turn) asm volatile("" ::: "memory");
}

bool InjectedSlowdown::is_meant(Direction direction, std::size_t size_bytes) const {
  return request_ && request_->size_bytes == size_bytes && request_->direction.value_or(direction) == direction;
}

std::size_t InjectedSlowdown::turns(Direction direction, const std::function<double(std::size_t turns)>& mean_ns) {
  const auto known = turns_.find(direction);
  if (known != turns_.end()) return known->second;
  const double wanted = request_->percent / 100;
  // A turn takes about a cycle; the first guess takes 3 a nanosecond, and is corrected by what it did.
  double once_ns = mean_ns(0);
  for (int look = 1; look < looks; ++look) once_ns = std::min(once_ns, mean_ns(0));
  // A turn takes about a cycle. The first ones may cost nothing, hidden behind stores that are on their way, and the
  // next ones all: bracketed and halved, as steps in proportion would jump to and fro.
  std::size_t low = 0;
  auto high = static_cast<std::size_t>(std::max(1.0, once_ns * wanted * 3));
  while (share_of(high, mean_ns) < wanted && high < most_turns) {
    low = high;
    high *= 2;
  }
  for (int halving = 0; halving < halvings && high - low > 1; ++halving) {
    const std::size_t middle = low + (high - low) / 2;
    (share_of(middle, mean_ns) < wanted ? low : high) = middle;
  }
  const std::size_t turns = high;
  achieved_percent_[direction] = share_of(turns, mean_ns) * 100;
  turns_[direction] = turns;
  return turns;
}

std::string InjectedSlowdown::description() const {
  if (!request_) return "";
  std::string text = format("%g %% at %zu bytes", request_->percent, request_->size_bytes);
  for (const auto& [direction, percent] : achieved_percent_) {
    text += format(", %s: %.1f %% in %zu turns", direction_name(direction), percent, turns_.at(direction));
  }
  return text;
}

}  // namespace gdrkit::tools
