// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/compare/retrial.hpp"

#include <algorithm>

namespace gdrkit::measure {

void Retrial::add(const Look& look) {
  changes_.push_back(
      change_of(suspect_.old_look, look, suspect_.series->is_lower_better, suspect_.kinship, suspect_.unrest));
}

bool Retrial::is_over() const {
  if (changes_.size() >= trials) return true;
  return !changes_.empty() && changes_.back().log_ratio < std::max(limit(), smallest_change) / 2;
}

bool Retrial::is_confirmed() const {
  return changes_.size() >= trials && change().log_ratio > std::max(limit(), smallest_change);
}

}  // namespace gdrkit::measure
