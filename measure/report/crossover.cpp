// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/crossover.hpp"

#include <algorithm>
#include <cmath>

#include "measure/report/numbers.hpp"

namespace gdrkit::measure::report {
namespace {

/// The logarithm of one / other at an x, and whether it exceeds the noise.
struct Difference {
  double x;
  double logarithm;  ///< above 0: `one` is better
  int winner;        ///< 1: `one`, -1: `other`, 0: the noise exceeds the difference
};

bool is_usable(const measure::Point& point) {
  return point.value > 0 && point.rounds.size() >= least_rounds && point.x > 0;
}

std::vector<Difference> differences(const measure::Series& one, const measure::Series& other) {
  std::vector<Difference> found;
  const double factor_one = unit_of(one.unit).factor;
  const double factor_other = unit_of(other.unit).factor;
  for (const measure::Point& point : one.points) {
    const measure::Point* match = measure::find_point(other, point.x);
    if (match == nullptr || !is_usable(point) || !is_usable(*match)) continue;
    double logarithm = std::log(point.value) + std::log(factor_one) - std::log(match->value) - std::log(factor_other);
    if (one.is_lower_better) logarithm = -logarithm;
    const double limit = errors_to_differ * std::hypot(point.noise, match->noise);
    found.push_back({point.x, logarithm, logarithm > limit ? 1 : logarithm < -limit ? -1 : 0});
  }
  std::ranges::sort(found, [](const Difference& a, const Difference& b) { return a.x < b.x; });
  return found;
}

/// Where the straight line between two points (over the logarithm of x) is zero.
double zero_between(const Difference& a, const Difference& b) {
  const double share = a.logarithm / (a.logarithm - b.logarithm);
  return std::exp(std::log(a.x) + share * (std::log(b.x) - std::log(a.x)));
}

/// The middle one of all changes of sign from `first` to `last`, which have different signs: their number is odd.
double crossing_point(const std::vector<Difference>& all, std::size_t first, std::size_t last) {
  std::vector<double> zeros;
  for (std::size_t at = first; at < last; ++at) {
    if ((all[at].logarithm > 0) != (all[at + 1].logarithm > 0)) zeros.push_back(zero_between(all[at], all[at + 1]));
  }
  return zeros[zeros.size() / 2];
}

}  // namespace

Contest compete(const measure::Series& one, const measure::Series& other) {
  const std::vector<Difference> all = differences(one, other);
  Contest contest;
  contest.points = all.size();
  std::size_t last_clear = all.size();
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (all[at].winner == 0) continue;
    ++(all[at].winner > 0 ? contest.one_better : contest.other_better);
    if (last_clear < all.size() && all[last_clear].winner != all[at].winner) {
      contest.crossings.push_back(
          {all[last_clear].x, all[at].x, crossing_point(all, last_clear, at), all[last_clear].winner > 0});
    }
    last_clear = at;
  }
  return contest;
}

}  // namespace gdrkit::measure::report
