// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/compare/spread.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "measure/harness/samples.hpp"

namespace gdrkit::measure {
namespace {

constexpr double biweight_reach = 9;  ///< values that many deviations away are ignored
constexpr double biweight_efficiency = 0.7;
/// Variances of points of one kind differ by a factor of ten and more, so the usual one has a small weight.
constexpr double freedom_of_usual = 2;
constexpr std::size_t enough_points = 5;

double standard_deviation(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  double squares = 0;
  for (const double value : values) squares += (value - sum / count) * (value - sum / count);
  return std::sqrt(squares / (count - 1));
}

double biweight_deviation(const std::vector<double>& values) {
  const double middle = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - middle));
  const double reach = biweight_reach * median(std::move(distances));
  // More than half of the values are equal: all others count.
  if (reach == 0) return standard_deviation(values);
  double squares = 0;
  double weights = 0;
  for (const double value : values) {
    const double share = (value - middle) * (value - middle) / (reach * reach);
    if (share >= 1) continue;
    squares += (value - middle) * (value - middle) * std::pow(1 - share, 4);
    weights += (1 - share) * (1 - 5 * share);
  }
  return std::sqrt(static_cast<double>(values.size()) * squares) / std::abs(weights);
}

/// Of the variance of `freedom` degrees, as a share of the true one (Wilson and Hilferty).
double median_of_variance(double freedom) { return std::pow(1 - 2 / (9 * freedom), 3); }

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

Spread spread_of(const std::vector<double>& values) {
  if (values.size() < 2) return {};
  const auto freedom = static_cast<double>(values.size() - 1);
  if (values.size() < enough_for_robust) return {standard_deviation(values), freedom};
  return {biweight_deviation(values), biweight_efficiency * freedom};
}

Spread usual_spread(const std::vector<Spread>& all) {
  std::vector<double> variances;
  for (const Spread& spread : all) {
    if (spread.freedom < 1) continue;
    variances.push_back(spread.deviation * spread.deviation / median_of_variance(spread.freedom));
  }
  if (variances.size() < enough_points) return {};
  return {std::sqrt(median(std::move(variances))), freedom_of_usual};
}

Spread moderated(const Spread& own, const Spread& usual) {
  const double freedom = own.freedom + usual.freedom;
  if (freedom == 0) return {};
  const double squares =
      own.freedom * own.deviation * own.deviation + usual.freedom * usual.deviation * usual.deviation;
  return {std::sqrt(squares / freedom), freedom};
}

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
