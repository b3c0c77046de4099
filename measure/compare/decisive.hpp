// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Decisive points: a comparison without them has no verdict.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "measure/result/result.hpp"

namespace gdrkit::measure {

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
