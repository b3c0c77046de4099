// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Comparison: two results of one tool, point by point.
#pragma once

#include <string>
#include <vector>

#include "measure/compare/change.hpp"
#include "measure/compare/decisive.hpp"
#include "measure/compare/family.hpp"

namespace gdrkit::measure {

struct ComparedPoint {
  const Series* series = nullptr;  ///< of the new result
  Look old_look;
  Look new_look;
  Kinship kinship = Kinship::same_time;
  Change change;
  double limit = 0;            ///< the log_ratio that chance alone reaches in no comparison of so many points
  bool is_hidden = false;      ///< noise hides even the largest change that it may excuse
  bool is_suspicious = false;  ///< worth another look, if there can be one

  [[nodiscard]] bool is_slower() const { return change.log_ratio > limit && change.log_ratio > smallest_change; }
  [[nodiscard]] bool is_faster() const { return -change.log_ratio > limit && -change.log_ratio > smallest_change; }
  [[nodiscard]] std::string name() const;  ///< "copies/to_device/mapping at 4096"
};

/// A point of both results that cannot be judged.
struct UnjudgedPoint {
  std::string name;
  std::string why;    ///< a clause
  std::string group;  ///< decisive_group()
  bool is_damaged = false;
};

/// Points into both results, which must outlive it.
struct Comparison {
  std::vector<ComparedPoint> points;     ///< the library's own work
  std::vector<ComparedPoint> baselines;  ///< what it is measured beside
  std::vector<UnjudgedPoint> unjudged;   ///< of the library's own work: the damaged, which are in no list above, and
                                         ///< those of `points` whose change noise hides
  std::vector<std::string> vanished;     ///< names of points that only the old result has
  Circumstances circumstances;
  Family family;  ///< of `points`

  /// A clause for each group of points that matters and cannot be judged: with any of them, nothing found means
  /// nothing.
  [[nodiscard]] std::vector<std::string> undecided() const;
};

[[nodiscard]] Comparison compare(const Result& old_result, const Result& new_result);
/// Whether a series is one that the library's work is compared with: a raw loop, a copy by the driver, another library.
[[nodiscard]] bool is_baseline(const Series& series);

/// Why these can never be compared: an error message, or "" if they can. `name`: of the old result's file.
[[nodiscard]] std::string why_no_comparison(const Result& old_result, const Result& new_result,
                                            const std::string& name);
/// What makes a comparison one of machines rather than of builds, a clause each: CPU, GPU, backend.
[[nodiscard]] std::vector<std::string> machine_differences(const Result& old_result, const Result& new_result);
/// What may explain a change and is no reason to refuse, a clause each: driver, copy kernels, mapping type.
[[nodiscard]] std::vector<std::string> setting_differences(const Result& old_result, const Result& new_result);

}  // namespace gdrkit::measure
