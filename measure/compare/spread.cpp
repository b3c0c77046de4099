// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/compare/spread.hpp"

#include <cmath>
#include <cstddef>

// Boost.Math without other Boost libraries (from 1.76 on), long double and exceptions. No other file may include it,
// because all files of a program must have the same settings.
#define BOOST_MATH_STANDALONE
#define BOOST_MATH_PROMOTE_DOUBLE_POLICY false
#define BOOST_MATH_DOMAIN_ERROR_POLICY ignore_error
#define BOOST_MATH_POLE_ERROR_POLICY ignore_error
#define BOOST_MATH_OVERFLOW_ERROR_POLICY ignore_error
#define BOOST_MATH_EVALUATION_ERROR_POLICY ignore_error
#include <boost/math/distributions/students_t.hpp>

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

double student_quantile(double tail, double freedom) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(freedom), tail));
}

}  // namespace gdrkit::measure
