// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/compare/retrial.hpp"

#include <algorithm>

namespace gdrkit::measure {

void Retrial::add(const Look& look) {
  changes_.push_back(change_of(suspect_.old_look, look, suspect_.series->is_lower_better, suspect_.kinship,
                               comparison_.circumstances));
}

bool Retrial::is_over() const {
  if (changes_.size() >= most_trials || is_confirmed()) return true;
  if (changes_.size() < fewest_to_clear) return false;
  // Of two trials both must be low: their median lies between a lucky one and a true one.
  double highest = change().log_ratio;
  if (changes_.size() < fewest_to_confirm) {
    for (const Change& trial : changes_) highest = std::max(highest, trial.log_ratio);
  }
  return highest < std::max(limit(), smallest_change) / 2;
}

bool Retrial::is_confirmed() const {
  return changes_.size() >= fewest_to_confirm && change().log_ratio > std::max(limit(), smallest_change);
}

std::vector<RetriedPoint> retry_suspects(const Comparison& comparison,
                                         const std::function<Again(const ComparedPoint& suspect)>& measure_again) {
  std::vector<RetriedPoint> suspects;
  for (const ComparedPoint& point : comparison.points) {
    if (point.is_suspicious) suspects.push_back({point, Outcome::unresolved, {}, 0, 0});
  }
  std::sort(suspects.begin(), suspects.end(), [](const RetriedPoint& one, const RetriedPoint& other) {
    return one.point.change.log_ratio / one.point.limit > other.point.change.log_ratio / other.point.limit;
  });
  for (std::size_t number = 0; number < std::min(suspects.size(), most_retried); ++number) {
    RetriedPoint& suspect = suspects[number];
    Retrial retrial(suspect.point, comparison);
    while (!retrial.is_over()) {
      const Again again = measure_again(suspect.point);
      if (again.point == nullptr) break;
      retrial.add({again.point.get(), again.control.get()});
      ++suspect.trials;
    }
    if (suspect.trials > 0) {
      suspect.again = retrial.change();
      suspect.limit = retrial.limit();
    }
    if (retrial.is_over()) suspect.outcome = retrial.is_confirmed() ? Outcome::slower : Outcome::cleared;
  }
  return suspects;
}

}  // namespace gdrkit::measure
