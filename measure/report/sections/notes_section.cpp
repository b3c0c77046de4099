// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How to read the chapter.
#include <algorithm>
#include <utility>

#include "measure/report/report_section.hpp"

namespace gdrkit::measure::report {

void add_notes(Source* source, Chapter* chapter) {
  Sentences notes;
  notes.items = {
      "A value is the median of interleaved rounds; its noise (±) is the relative standard error of that median, from "
      "the spread of the rounds. It does not include effects that are constant during a run.",
      "Times are for one operation; nothing was subtracted from them. 1 KiB is 1024 bytes, 1 GB/s is 10^9 bytes a "
      "second.",
  };
  const auto& series = source->result->series;
  const auto has_few = [](const measure::Series& one) {
    return std::any_of(one.points.begin(), one.points.end(),
                       [](const measure::Point& point) { return point.rounds.size() < 3; });
  };
  const auto few = static_cast<std::size_t>(std::count_if(series.begin(), series.end(), has_few));
  if (few > 0)
    notes.items.push_back(std::to_string(few) + " series had points with fewer than 3 rounds: their noise is unknown.");
  if (series.empty()) notes.items.emplace_back("The document contains no series.");
  chapter->sections.push_back({"Notes", {std::move(notes)}});
}

}  // namespace gdrkit::measure::report
