// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Measured bandwidths, and those computed from the times of copies.
#include <utility>

#include "measure/report/report_section.hpp"

namespace gdrkit::measure::report {
namespace {

/// The same series in GB/s: bytes per nanosecond. The relative noise of a reciprocal is that of the value.
measure::Series as_bandwidth(const measure::Series& series) {
  measure::Series derived = series;
  const double factor = unit_of(series.unit).factor;
  derived.unit = "GB/s";
  derived.is_lower_better = false;
  derived.points.clear();
  for (measure::Point point : series.points) {
    if (point.value <= 0 || point.x <= 0) continue;
    point.value = point.x / (point.value * factor);
    point.minimum = 0;
    point.single.reset();
    derived.points.push_back(std::move(point));
  }
  return derived;
}

Figure derived_figure(const Picture& picture) {
  std::vector<measure::Series> derived;
  for (const measure::Series* series : picture.series) derived.push_back(as_bandwidth(*series));
  Picture shown;
  for (const measure::Series& series : derived) shown.series.push_back(&series);
  Figure figure = figure_of(shown, heading_of(picture));
  figure.chart.title += ", bandwidth";
  return figure;
}

bool has_curve(const Picture& picture) {
  for (const measure::Series* series : picture.series) {
    if (series->points.size() > 2) return true;
  }
  return false;
}

}  // namespace

void add_bandwidth(Source* source, Chapter* chapter) {
  Section section{"Bandwidth against size",
                  {Paragraph{"The size divided by the median time of one copy; 1 GB/s is 10^9 bytes per second."}}};
  const std::size_t before = section.blocks.size();
  for (Picture& picture : source->pictures) {
    if (!is_plain_copy(picture)) continue;
    if (picture.quantity() == Quantity::time && has_curve(picture)) {
      section.blocks.emplace_back(derived_figure(picture));
    } else if (picture.quantity() == Quantity::bandwidth && !picture.is_shown) {
      picture.is_shown = true;
      section.blocks.push_back(block_of(picture, heading_of(picture)));
    }
  }
  if (section.blocks.size() > before) chapter->sections.push_back(std::move(section));
}

}  // namespace gdrkit::measure::report
