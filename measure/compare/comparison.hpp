// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Comparison: two results of one tool, point by point.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "measure/compare/change.hpp"
#include "measure/result/result.hpp"

namespace gdrkit::measure {

struct ComparedPoint {
  const Series* series = nullptr;  ///< of the new result
  Observation old_observation;
  Observation new_observation;
  Kinship kinship = Kinship::same_time;
  Change change;
  double limit = 0;            ///< the log_ratio that chance alone does not exceed in a comparison of so many points
  bool is_hidden = false;      ///< noise hides even the largest change that it may excuse
  bool is_suspicious = false;  ///< should be measured again, if possible

  [[nodiscard]] bool is_slower() const { return change.log_ratio > limit && change.log_ratio > smallest_change; }
  [[nodiscard]] bool is_faster() const { return -change.log_ratio > limit && -change.log_ratio > smallest_change; }
  [[nodiscard]] std::string name() const;  ///< "copies/to_device/mapping at 4096"
};

/// A point of both results that cannot be judged.
struct UnjudgedPoint {
  std::string name;
  std::string why;    ///< the reason, as a clause
  std::string group;  ///< decisive_group()
  bool is_damaged = false;
};

/// Points into both results, which must outlive it.
struct Comparison {
  std::vector<ComparedPoint> points;     ///< of the library itself
  std::vector<ComparedPoint> baselines;  ///< of the baselines
  std::vector<UnjudgedPoint> unjudged;   ///< of the library itself: damaged points, which are in no list above, and
                                         ///< those of `points` whose change is hidden by noise
  std::vector<std::string> vanished;     ///< names of points that only the old result contains
  Circumstances circumstances;
  Family family;  ///< of `points`

  /// A clause for each group of important points that cannot be judged. If there are any, the absence of findings means
  /// nothing.
  [[nodiscard]] std::vector<std::string> undecided() const;
};

[[nodiscard]] Comparison compare(const Result& old_result, const Result& new_result);
/// Whether a series is a baseline for the library: a raw loop, a copy by the driver, another library.
[[nodiscard]] bool is_baseline(const Series& series);

/// Why these results can never be compared: an error message, or "" if they can. `name`: of the old result's file.
[[nodiscard]] std::string why_no_comparison(const Result& old_result, const Result& new_result,
                                            const std::string& name);
/// Differences that make the comparison one of machines rather than of builds, as clauses: CPU, GPU, backend.
[[nodiscard]] std::vector<std::string> machine_differences(const Result& old_result, const Result& new_result);
/// Differences that may explain a change but do not prevent a comparison, as clauses: driver, copy kernels, mapping
/// type.
[[nodiscard]] std::vector<std::string> setting_differences(const Result& old_result, const Result& new_result);

/// The name of the decisive group of a point, or "": undisturbed copies through the mapping by one thread, of up to 4
/// KiB (latency) and from 1 MiB on (bandwidth), in either direction. Four groups.
[[nodiscard]] std::string decisive_group(const Series& series, const Point& point);

/// A point of both results, and whether it can be judged.
struct Judgement {
  std::string group;  ///< decisive_group()
  bool is_judged = true;
  bool is_damaged = false;  ///< its recorded values are not a measurement
};

/// A clause for each group without a verdict: one of its points is damaged, or at least half of its points cannot be
/// judged. If no point is in a group (only other sections or sizes were compared), all points form one.
[[nodiscard]] std::vector<std::string> undecided_groups(const std::vector<Judgement>& judgements);

/// Why a point's values are not a measurement, as a clause: its own rounds or its control's are missing, or not above
/// 0. "" if valid. `control`: nullptr for none.
[[nodiscard]] std::string damage_of(const Point& point, const Point* control);

}  // namespace gdrkit::measure
