// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Operations with a busy GPU or bus, with the same on an idle one for contrast.
#include <list>
#include <utility>

#include "measure/report/chart/style.hpp"
#include "measure/report/report_section.hpp"

namespace gdrkit::measure::report {
namespace {

bool is_undisturbed_twin(const measure::Series& plain, const measure::Series& busy) {
  return plain.conditions.empty() && plain.operation == busy.operation && plain.direction == busy.direction &&
         plain.method == busy.method && plain.x_name == busy.x_name && plain.y_name.empty() &&
         unit_of(plain.unit).quantity == unit_of(busy.unit).quantity && plain.is_lower_better == busy.is_lower_better;
}

/// Restricts the plain series to the x of the busy one; other sections show the rest.
measure::Series limited_to(const measure::Series& plain, const measure::Series& busy) {
  measure::Series limited = plain;
  limited.points.clear();
  for (const measure::Point& point : plain.points) {
    if (measure::find_point(busy, point.x) != nullptr) limited.points.push_back(point);
  }
  return limited;
}

/// The picture with the undisturbed mapping added, if there is space and it is not in it.
Picture with_contrast(const Picture& picture, const measure::Result& result, std::list<measure::Series>* kept) {
  Picture shown = picture;
  for (const measure::Series* busy : picture.series) {
    if (busy->method != "mapping" || busy->conditions.empty() || shown.series.size() == style_count) continue;
    for (const measure::Series& plain : result.series) {
      if (!is_undisturbed_twin(plain, *busy) || plain.group == busy->group) continue;
      measure::Series limited = limited_to(plain, *busy);
      if (limited.points.empty()) continue;
      kept->push_back(std::move(limited));
      shown.series.push_back(&kept->back());
      break;
    }
  }
  return shown;
}

}  // namespace

void add_busy(Source* source, Chapter* chapter) {
  Section section{
      "With a busy GPU or a busy bus",
      {Paragraph{"The same operations while other work keeps the GPU or the bus busy, with the undisturbed mapping "
                 "for contrast."}}};
  const std::size_t before = section.blocks.size();
  std::list<measure::Series> kept;
  for (Picture& picture : source->pictures) {
    if (picture.is_shown || picture.is_matrix() || !is_busy(picture)) continue;
    picture.is_shown = true;
    section.blocks.push_back(block_of(with_contrast(picture, *source->result, &kept), heading_of(picture)));
  }
  if (section.blocks.size() > before) chapter->sections.push_back(std::move(section));
}

}  // namespace gdrkit::measure::report
