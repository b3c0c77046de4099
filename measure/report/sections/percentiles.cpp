// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Operations timed one by one: a small chart a series, those of one picture on one scale.
#include <algorithm>
#include <utility>

#include "measure/harness/samples.hpp"
#include "measure/report/chart/line_chart.hpp"
#include "measure/report/section.hpp"

namespace gdrkit::tools::report {
namespace {

struct Percentile {
  const char* name;
  double measure::Single::*field;
  std::size_t style;
  std::size_t beyond_permille;  ///< of a thousand operations, how many are above
};

constexpr Percentile percentiles[] = {
    {"minimum", &measure::Single::minimum, 2, 1000},
    {"p50", &measure::Single::p50, 0, 500},
    {"p99", &measure::Single::p99, 1, measure::beyond_p99},
    {"p99.9", &measure::Single::p999, 3, measure::beyond_p999},
};

std::string percentile_text(const measure::Series& series, const measure::Single& single, double value,
                            std::size_t beyond_permille) {
  return measure::tells_percentile(single.count, beyond_permille) ? value_text(series, value) : "-";
}

Table table_of_singles(const measure::Series& series) {
  Table table;
  table.head = {in_words(series.x_name), "operations", "minimum", "p50", "p99", "p99.9", "maximum"};
  const Quantity x = quantity_of_x(series.x_name);
  for (const measure::Point& point : series.points) {
    if (!point.single) continue;
    const measure::Single& single = *point.single;
    std::string place = written(point.x, x);
    if (point.y) place += ", " + in_words(series.y_name) + " " + written(*point.y, quantity_of_x(series.y_name));
    table.rows.push_back(
        {place, std::to_string(single.count), value_text(series, single.minimum), value_text(series, single.p50),
         percentile_text(series, single, single.p99, measure::beyond_p99),
         percentile_text(series, single, single.p999, measure::beyond_p999), value_text(series, single.maximum)});
  }
  return table;
}

Figure figure_of_singles(const Picture& picture, const measure::Series& series, const std::string& label) {
  Figure figure;
  figure.heading = label;
  figure.table = table_of_singles(series);
  LineChart& chart = figure.chart;
  chart.title = label + ": percentiles of single operations";
  chart.description = "minimum, median, 99th and 99.9th percentile over " + in_words(series.x_name);
  chart.x = {in_words(series.x_name), picture.x_quantity(), false};
  chart.y = {picture.quantity() == Quantity::time ? "time, single operations" : series.unit, picture.quantity(), true};
  const double factor = unit_of(series.unit).factor;
  for (const Percentile& percentile : percentiles) {
    Curve curve{percentile.name, percentile.style, {}};
    for (const measure::Point& point : series.points) {
      if (!point.single || !measure::tells_percentile(point.single->count, percentile.beyond_permille)) continue;
      const double value = (*point.single).*percentile.field * factor;
      curve.marks.push_back({point.x, value, value, value});
    }
    std::stable_sort(curve.marks.begin(), curve.marks.end(), [](const Mark& a, const Mark& b) { return a.x < b.x; });
    if (!curve.marks.empty()) chart.curves.push_back(std::move(curve));
  }
  const std::optional<Range> x = x_range_of(chart);
  chart.x.is_log = chart.x.quantity == Quantity::size && x && x->high > 0;
  return figure;
}

void share_range(std::vector<Figure>* figures) {
  std::optional<Range> shared;
  for (const Figure& figure : *figures) {
    const std::optional<Range> range = y_range_of(figure.chart);
    if (!range) continue;
    if (!shared) shared = range;
    shared = Range{std::min(shared->low, range->low), std::max(shared->high, range->high)};
  }
  for (Figure& figure : *figures) figure.chart.y_range = shared;
}

void add_picture(const Picture& picture, Section* section) {
  const std::vector<std::string> labels = labels_of(picture);
  FigureRow row{heading_of(picture), {}};
  for (std::size_t at = 0; at < picture.series.size(); ++at) {
    const measure::Series& series = *picture.series[at];
    const auto singles = std::count_if(series.points.begin(), series.points.end(),
                                       [](const measure::Point& point) { return point.single.has_value(); });
    if (singles == 0) continue;
    if (singles > 1 && !picture.is_matrix()) {
      row.figures.push_back(figure_of_singles(picture, series, labels[at]));
    } else {
      Table table = table_of_singles(series);
      table.caption = labels[at];
      section->blocks.emplace_back(std::move(table));
    }
  }
  share_range(&row.figures);
  if (!row.figures.empty()) section->blocks.emplace_back(std::move(row));
}

}  // namespace

void add_percentiles(Source* source, Chapter* chapter) {
  Section section{"Percentiles of single operations", {}};
  std::string text = "Each operation was timed separately";
  if (source->result->clock) {
    text += "; the cost of reading the clock (" + written(source->result->clock->overhead_ns, Quantity::time) +
            ") is contained in every value";
  }
  section.blocks.emplace_back(Paragraph{text + "."});
  for (const Picture& picture : source->pictures) add_picture(picture, &section);
  if (section.blocks.size() > 1) chapter->sections.push_back(std::move(section));
}

}  // namespace gdrkit::tools::report
