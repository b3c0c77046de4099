// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Comparison: two results of one tool, point by point.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/compare/change.hpp"

namespace gdrkit::measure {

/// Probability that a comparison of two runs of one build finds anything at all, if noise were what it is taken for.
inline constexpr double false_alarm_rate = 0.005;
/// Probability for one point without a change to be looked at again; looking costs a second.
inline constexpr double suspicion_rate = 0.01;
/// Changes below this are nobody's concern, however well they are known.
inline constexpr double smallest_change = 0.02;

struct ComparedPoint {
  const Series* series = nullptr;  ///< of the new result
  Look old_look;
  Look new_look;
  Kinship kinship = Kinship::same_time;
  double unrest = 0;  ///< the larger share of CPU time that others took, of both runs
  Change change;
  double limit = 0;  ///< the log_ratio that chance alone reaches in no comparison of so many points

  [[nodiscard]] bool is_slower() const { return change.log_ratio > limit && change.log_ratio > smallest_change; }
  [[nodiscard]] bool is_faster() const { return -change.log_ratio > limit && -change.log_ratio > smallest_change; }
  /// Worth another look, if there can be one.
  [[nodiscard]] bool is_suspicious() const;
  [[nodiscard]] std::string name() const;  ///< "copies/to_device/mapping at 4096"
};

/// Points into both results, which must outlive it.
struct Comparison {
  std::vector<ComparedPoint> points;     ///< the library's own work
  std::vector<ComparedPoint> baselines;  ///< what it is measured beside
  std::vector<std::string> vanished;     ///< names of points that only the old result has
};

[[nodiscard]] Comparison compare(const Result& old_result, const Result& new_result);
/// The limit for `change` among `points` compared ones.
[[nodiscard]] double limit_among(const Change& change, std::size_t points);
[[nodiscard]] bool is_baseline(const Series& series);

/// Why these can never be compared: a sentence, or "" if they can. `name`: of the old result's file.
[[nodiscard]] std::string why_no_comparison(const Result& old_result, const Result& new_result,
                                            const std::string& name);
/// What makes a comparison one of machines rather than of builds, a clause each: CPU, GPU, backend.
[[nodiscard]] std::vector<std::string> machine_differences(const Result& old_result, const Result& new_result);
/// What may explain a change and is no reason to refuse, a clause each: driver, copy kernels, mapping type.
[[nodiscard]] std::vector<std::string> setting_differences(const Result& old_result, const Result& new_result);

}  // namespace gdrkit::measure
