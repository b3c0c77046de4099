// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Decisive points: those without which a comparison has no verdict.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "measure/result/result.hpp"

namespace gdrkit::measure {

/// The name of the decisive group that a point belongs to, or "": copies through the mapping by one thread with nothing
/// beside them, of up to 4 KiB (latency) and from 1 MiB on (bandwidth), of either direction. Four groups.
[[nodiscard]] std::string decisive_group(const Series& series, const Point& point);

/// A point of both results, and whether it can be judged.
struct Judgement {
  std::string group;  ///< decisive_group()
  bool is_judged = true;
  bool is_damaged = false;  ///< what is written there was never measured
};

/// A clause for each group that gives no verdict: one of its points is damaged, or half of its points or more cannot be
/// judged. Where no point is in a group (other sections or sizes alone were compared), all points are one.
[[nodiscard]] std::vector<std::string> undecided_groups(const std::vector<Judgement>& judgements);

/// Why a point was never measured, a clause: its own rounds or its control's are missing, or not above 0. "" if sound.
/// `control`: nullptr for none.
[[nodiscard]] std::string damage_of(const Point& point, const Point* control);

}  // namespace gdrkit::measure
