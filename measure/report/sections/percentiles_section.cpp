// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Operations timed one by one, in tables.
#include <algorithm>
#include <utility>

#include "measure/harness/samples.hpp"
#include "measure/report/report_section.hpp"

namespace gdrkit::measure::report {
namespace {

std::string percentile_text(const measure::Series& series, const measure::Single& single, double value,
                            std::size_t beyond_permille) {
  return measure::has_percentile(single.count, beyond_permille) ? value_text(series, value) : "-";
}

std::vector<std::string> row_of(const measure::Series& series, const std::string& label, const measure::Point& point) {
  const measure::Single& single = *point.single;
  std::string place = written(point.x, quantity_of_x(series.x_name));
  if (point.y) place += ", " + in_words(series.y_name) + " " + written(*point.y, quantity_of_x(series.y_name));
  return {label,
          place,
          std::to_string(single.count),
          value_text(series, single.minimum),
          value_text(series, single.p50),
          percentile_text(series, single, single.p99, measure::beyond_p99),
          percentile_text(series, single, single.p999, measure::beyond_p999),
          value_text(series, single.maximum)};
}

bool has_percentiles(const Picture& picture) {
  return std::ranges::any_of(picture.series, [](const measure::Series* series) {
    return std::ranges::any_of(series->points, [](const measure::Point& point) {
      return point.single && measure::has_percentile(point.single->count, measure::beyond_p99);
    });
  });
}

/// A table of the smallest x of each series, and a folded table of all.
void add_picture(const Picture& picture, Section* section) {
  const std::vector<std::string> labels = labels_of(picture);
  Table all{"", {"", in_words(picture.first().x_name), "operations", "minimum", "p50", "p99", "p99.9", "maximum"}, {}};
  Table first = all;
  first.caption = heading_of(picture);
  for (std::size_t at = 0; at < picture.series.size(); ++at) {
    const measure::Series& series = *picture.series[at];
    const measure::Point* smallest = nullptr;
    for (const measure::Point& point : series.points) {
      if (!point.single) continue;
      all.rows.push_back(row_of(series, labels[at], point));
      if (smallest == nullptr || point.x < smallest->x) smallest = &point;
    }
    if (smallest != nullptr) first.rows.push_back(row_of(series, labels[at], *smallest));
  }
  if (all.rows.empty()) return;
  const bool is_more = all.rows.size() > first.rows.size();
  all.is_folded = true;
  all.caption = is_busy(picture) || is_more || !has_percentiles(picture) ? first.caption : "";
  // Omitted if other work ran, whose delays the percentiles would include, or if there are too few operations.
  if (!is_busy(picture) && has_percentiles(picture)) section->blocks.emplace_back(std::move(first));
  if (!all.caption.empty()) section->blocks.emplace_back(std::move(all));
}

}  // namespace

void add_percentiles(Source* source, Chapter* chapter) {
  Section section{"Percentiles of single operations", {}};
  std::string text = "Each operation was timed separately";
  if (source->result->clock) {
    text += "; the cost of reading the clock (" + written(source->result->clock->overhead_ns, Quantity::time) +
            ") is contained in every value";
  }
  section.blocks.emplace_back(Paragraph{text + ". Shown at the smallest size; unfold a table for the others."});
  for (const Picture& picture : source->pictures) {
    if (!picture.is_reference) add_picture(picture, &section);
  }
  if (section.blocks.size() > 1) chapter->sections.push_back(std::move(section));
}

}  // namespace gdrkit::measure::report
