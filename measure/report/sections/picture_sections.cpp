// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The sections that consist of pictures.
#include <algorithm>
#include <iterator>
#include <list>
#include <utility>
#include <vector>

#include "measure/report/chart/style.hpp"
#include "measure/report/report_section.hpp"

namespace gdrkit::measure::report {
namespace {

template <class Is>
bool has_series(const Picture& picture, Is is) {
  return std::ranges::any_of(picture.series, is);
}

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

constexpr const char* operations[] = {"open", "close", "pin", "map", "pin_and_map", "unmap", "unpin"};

bool is_cost(const Picture& picture) {
  return std::ranges::any_of(picture.series, [](const measure::Series* series) {
    return std::ranges::any_of(operations, [&](const char* name) { return series->operation == name; });
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
    const auto [least, most] = std::ranges::minmax_element(values);
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

void add_latency(Source* source, Chapter* chapter) {
  add_pictures(source, chapter, "Latency against size", "Time for one copy, both axes logarithmic.",
               [](const Picture& picture) { return is_plain_copy(picture) && picture.quantity() == Quantity::time; });
}

void add_threads(Source* source, Chapter* chapter) {
  add_pictures(source, chapter, "Threads", "", [](const Picture& picture) {
    return picture.first().x_name == "threads" ||
           has_series(picture, [](const auto* series) { return series->conditions.count("threads") > 0; });
  });
}

void add_round_trips(Source* source, Chapter* chapter) {
  add_pictures(source, chapter, "Round trips between CPU and GPU", "", [](const Picture& picture) {
    return has_series(picture, [](const auto* series) { return series->operation == "ping_pong"; });
  });
}

/// All pictures that no earlier section took: no part of a document is dropped.
void add_others(Source* source, Chapter* chapter) {
  add_pictures(source, chapter, "More measurements", "", [](const Picture&) { return true; });
}

/// Measured bandwidths, and those computed from the times of copies.
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

/// Operations with a busy GPU or bus, with the same on an idle one for contrast.
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

void add_costs(Source* source, Chapter* chapter) {
  const std::size_t before = chapter->sections.size();
  add_pictures(source, chapter, "Cost of pinning and mapping",
               "The time of each call before the first copy and after the last, against the size of the memory.",
               is_cost);
  if (chapter->sections.size() > before) add_references(source, &chapter->sections.back());
}

}  // namespace gdrkit::measure::report
