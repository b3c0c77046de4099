// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "measure/report/report_section.hpp"

namespace gdrkit::measure::report {
namespace {

constexpr const char* operations[] = {"open", "close", "pin", "map", "pin_and_map", "unmap", "unpin"};

bool is_cost(const Picture& picture) {
  return std::any_of(picture.series.begin(), picture.series.end(), [](const measure::Series* series) {
    return std::any_of(std::begin(operations), std::end(operations),
                       [&](const char* name) { return series->operation == name; });
  });
}

/// The reference of the costs as a sentence, because it does not depend on the size of the memory.
void add_references(Source* source, Section* section) {
  for (Picture& picture : source->pictures) {
    const measure::Series& series = picture.first();
    if (!picture.is_reference || series.group != "costs" || series.points.empty()) continue;
    picture.is_shown = true;
    std::vector<double> values;
    for (const measure::Point& point : series.points) values.push_back(point.value);
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const std::string range = value_text(series, *least) == value_text(series, *most)
                                  ? value_text(series, *least)
                                  : value_text(series, *least) + " to " + value_text(series, *most);
    section->blocks.emplace_back(Paragraph{"For comparison, " + name_of(series) + ": " + range + "."});
    Table table = list_of(picture);
    table.is_folded = true;
    section->blocks.emplace_back(std::move(table));
  }
}

}  // namespace

void add_costs(Source* source, Chapter* chapter) {
  const std::size_t before = chapter->sections.size();
  add_pictures(source, chapter, "Cost of pinning and mapping",
               "The time of each call before the first copy and after the last, against the size of the memory.",
               is_cost);
  if (chapter->sections.size() > before) add_references(source, &chapter->sections.back());
}

}  // namespace gdrkit::measure::report
