// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/compare/student.hpp"

#include <algorithm>
#include <cmath>

namespace gdrkit::measure {
namespace {

constexpr double tiny = 1e-300;
constexpr double enough = 1e-13;
constexpr int most_terms = 1000;
constexpr double precision = 1e-6;
constexpr double largest_t = 1e6;
constexpr double enough_for_normal = 1e6;

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method.
double beta_fraction(double a, double b, double x) {
  const auto away_from_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= most_terms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < enough) break;
  }
  return fraction;
}

/// Regularised incomplete beta function.
double beta_share(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast below the middle of the distribution. Above it, the complement is computed.
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double student_tail(double t, double freedom) {
  // Uses the normal distribution where the fraction would take hundreds of terms for the same result.
  if (freedom > enough_for_normal) return 0.5 * std::erfc(t / std::sqrt(2.0));
  return 0.5 * beta_share(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double student_quantile(double tail, double freedom) {
  double high = 1;
  while (high < largest_t && student_tail(high, freedom) > tail) high *= 2;
  double low = high > 1 ? high / 2 : 0;
  while (high - low > precision * high) {
    const double middle = (low + high) / 2;
    (student_tail(middle, freedom) > tail ? low : high) = middle;
  }
  return std::min(high, largest_t);
}

}  // namespace gdrkit::measure
