// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/compare/retrial.hpp"

#include <algorithm>
#include <utility>

namespace gdrkit::measure {

void Retrial::add(const Observation& observation) {
  changes_.push_back(change_of(suspect_.old_observation, observation, suspect_.series->is_lower_better,
                               suspect_.kinship, comparison_.circumstances));
}

double Retrial::threshold() const { return std::max(limit(), smallest_change); }

bool Retrial::is_over() const {
  if (changes_.size() >= most_trials || is_confirmed()) return true;
  if (changes_.size() < fewest_to_clear) return false;
  // Both of two trials must be low: their median lies between an outlier and a true value.
  double highest = change().log_ratio;
  if (changes_.size() < fewest_to_confirm) {
    for (const Change& trial : changes_) highest = std::max(highest, trial.log_ratio);
  }
  return highest < threshold() / 2;
}

bool Retrial::is_confirmed() const {
  if (changes_.size() < fewest_to_confirm || change().log_ratio <= threshold()) return false;
  const auto low =
      std::ranges::count_if(changes_, [&](const Change& trial) { return trial.log_ratio <= threshold() / 2; });
  return low <= (changes_.size() < most_trials ? 0 : 1);
}

std::vector<RetriedPoint> retry_suspects(const Comparison& comparison, const MeasureAgain& measure_again) {
  std::vector<RetriedPoint> suspects;
  for (const ComparedPoint& point : comparison.points) {
    if (point.is_suspicious) suspects.push_back({point, Outcome::unresolved, {}, 0, 0});
  }
  std::ranges::sort(suspects, [](const RetriedPoint& one, const RetriedPoint& other) {
    return one.point.change.log_ratio / one.point.limit > other.point.change.log_ratio / other.point.limit;
  });
  std::vector<Retrial> retrials;
  std::vector<std::size_t> open;
  for (std::size_t number = 0; number < std::min(suspects.size(), most_retried); ++number) {
    retrials.emplace_back(suspects[number].point, comparison);
    open.push_back(number);
  }
  while (!open.empty()) {
    std::vector<const ComparedPoint*> requested;
    for (const std::size_t number : open) requested.push_back(&suspects[number].point);
    const std::vector<Again> again = measure_again(requested);
    std::vector<std::size_t> still_open;
    for (std::size_t turn = 0; turn < open.size(); ++turn) {
      if (turn >= again.size() || again[turn].point == nullptr) continue;
      const std::size_t number = open[turn];
      retrials[number].add({again[turn].point.get(), again[turn].control.get()});
      ++suspects[number].trials;
      if (!retrials[number].is_over()) still_open.push_back(number);
    }
    open = std::move(still_open);
  }
  for (std::size_t number = 0; number < retrials.size(); ++number) {
    RetriedPoint& suspect = suspects[number];
    const Retrial& retrial = retrials[number];
    if (suspect.trials == 0) continue;
    suspect.again = retrial.change();
    suspect.limit = retrial.limit();
    if (retrial.is_over()) suspect.outcome = retrial.is_confirmed() ? Outcome::slower : Outcome::cleared;
  }
  return suspects;
}

}  // namespace gdrkit::measure
