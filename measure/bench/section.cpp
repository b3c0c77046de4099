// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/section.hpp"

#include <algorithm>
#include <utility>

#include "cli/interface/wrapped_text.hpp"

namespace gdrkit::measure::bench {

#define GDRKIT_BENCH_SECTION(name, summary) std::vector<Cell> name##_cells(Session* session);
#include "measure/bench/sections.def"
#undef GDRKIT_BENCH_SECTION

const std::vector<Section>& all_sections() {
  static const std::vector<Section> sections = {
#define GDRKIT_BENCH_SECTION(name, summary) {#name, summary, &name##_cells},
#include "measure/bench/sections.def"
#undef GDRKIT_BENCH_SECTION
  };
  return sections;
}

std::string section_names() { return cli::joined(all_sections(), ", ", &Section::name); }

void Collector::add(const Series& like, Point point) {
  auto found = std::ranges::find_if(series_, [&](const Series& series) { return series.id == like.id; });
  if (found == series_.end()) {
    series_.push_back(like);
    series_.back().points.clear();
    found = series_.end() - 1;
  }
  const auto same =
      std::ranges::find_if(found->points, [&](const Point& other) { return other.x == point.x && other.y == point.y; });
  if (same == found->points.end()) {
    found->points.push_back(std::move(point));
  } else {
    *same = merged(*same, point);
  }
}

void Collector::note(const std::string& sentence) {
  if (std::ranges::find(notes_, sentence) == notes_.end()) notes_.push_back(sentence);
}

const Series* Collector::find(const std::string& id) const noexcept {
  const auto found = std::ranges::find_if(series_, [&](const Series& series) { return series.id == id; });
  return found == series_.end() ? nullptr : &*found;
}

std::size_t Collector::points() const noexcept {
  std::size_t count = 0;
  for (const Series& series : series_) count += series.points.size();
  return count;
}

}  // namespace gdrkit::measure::bench
