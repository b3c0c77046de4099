// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A Picture as a chart, as a table, or both.
#include <algorithm>
#include <cmath>
#include <map>

#include "measure/report/chart/line_chart.hpp"
#include "measure/report/chart/style.hpp"
#include "measure/report/picture.hpp"

namespace gdrkit::measure::report {
namespace {

/// Two standard errors: 95 of 100 repetitions of the run would be inside if the noise were normal.
constexpr double errors_shown = 2;

Curve curve_of(const measure::Series& series, const std::string& label, std::size_t style) {
  Curve curve{label, style, {}};
  const double factor = unit_of(series.unit).factor;
  for (const measure::Point& point : series.points) {
    const double value = point.value * factor;
    // A factor instead of a difference: noise of 60 % and more would reach below zero.
    const double factor_of_error = 1 + std::abs(point.noise) * errors_shown;
    const Range ends{value / factor_of_error, value * factor_of_error};
    curve.marks.push_back({point.x, value, std::min(ends.low, ends.high), std::max(ends.low, ends.high)});
  }
  std::ranges::sort(curve.marks, [](const Mark& a, const Mark& b) { return a.x < b.x; });
  return curve;
}

/// Logarithmic if values are far apart; always for sizes.
bool should_be_logarithmic(const Range& range, Quantity quantity) {
  constexpr double far_apart = 12;
  if (range.low <= 0) return false;
  return quantity == Quantity::size || range.high / far_apart >= range.low;
}

bool has_any_positive(const std::vector<Curve>& curves) {
  return std::ranges::any_of(curves, [](const Curve& curve) {
    return std::ranges::any_of(curve.marks, [](const Mark& mark) { return mark.y > 0; });
  });
}

bool has_whole_x(const std::vector<Curve>& curves) {
  return std::ranges::all_of(curves, [](const Curve& curve) {
    return std::ranges::all_of(curve.marks, [](const Mark& mark) { return mark.x == std::floor(mark.x); });
  });
}

void choose_axes(const Picture& picture, LineChart* chart) {
  chart->x.quantity = picture.x_quantity();
  chart->x.label = in_words(picture.first().x_name);
  chart->y.quantity = picture.quantity();
  const std::optional<Range> x = x_range_of(*chart);
  chart->x.is_whole = chart->x.quantity == Quantity::plain && has_whole_x(chart->curves);
  chart->x.is_log =
      x && (should_be_logarithmic(*x, chart->x.quantity) || (chart->x.quantity == Quantity::size && x->high > 0));
  const std::optional<Range> y = y_range_of(*chart);
  // A zero among times would flatten all others: it is listed below the chart instead.
  chart->y.is_log = y && (should_be_logarithmic(*y, chart->y.quantity) ||
                          (chart->y.quantity == Quantity::time && y->low <= 0 && has_any_positive(chart->curves)));
  const char* of_better = picture.first().is_lower_better ? "lower is better" : "higher is better";
  const std::string unit = chart->y.quantity == Quantity::time        ? "time"
                           : chart->y.quantity == Quantity::bandwidth ? "bandwidth"
                                                                      : picture.first().unit;
  chart->y.label = unit + ", " + of_better;
}

std::string caption_of(const Picture& picture, const LineChart& chart, const std::vector<std::string>& labels) {
  std::string text;
  for (std::size_t at = 0; at < picture.series.size(); ++at) {
    const std::string conditions =
        are_conditions_shared(picture) ? "" : conditions_outside_label(*picture.series[at], labels[at]);
    if (!conditions.empty()) text += (text.empty() ? "" : "; ") + labels[at] + ": " + conditions;
    if (picture.series[at]->points.empty()) text += (text.empty() ? "" : "; ") + labels[at] + " has no points";
  }
  if (!text.empty()) text += ".";
  std::size_t all = 0;
  for (const Curve& curve : chart.curves) all += curve.marks.size();
  const std::size_t drawn = count_drawable(chart);
  if (drawn < all) {
    text += (text.empty() ? "" : " ") + counted(all - drawn, "point") +
            " at or below zero, which a logarithmic axis cannot show: see the table.";
  }
  return text;
}

std::string cell_of(const measure::Series& series, const measure::Point& point) {
  std::string text = value_text(series, point.value);
  if (point.rounds.size() > 1) text += " " + written_noise(point.noise);
  return text;
}

}  // namespace

Table table_of(const Picture& picture) {
  const std::vector<std::string> labels = labels_of(picture);
  Table table;
  table.head.push_back(in_words(picture.first().x_name));
  table.head.insert(table.head.end(), labels.begin(), labels.end());
  std::map<double, std::vector<std::string>> rows;
  for (std::size_t column = 0; column < picture.series.size(); ++column) {
    for (const measure::Point& point : picture.series[column]->points) {
      std::vector<std::string>& row = rows[point.x];
      row.resize(picture.series.size());
      row[column] += (row[column].empty() ? "" : "; ") + cell_of(*picture.series[column], point);
    }
  }
  for (auto& [x, cells] : rows) {
    std::vector<std::string> row{written(x, picture.x_quantity())};
    row.insert(row.end(), cells.begin(), cells.end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table table_by_series(const Picture& picture) {
  const std::vector<std::string> labels = labels_of(picture);
  const Table by_x = table_of(picture);
  Table table;
  table.head.push_back(in_words(picture.first().x_name));
  for (const std::vector<std::string>& row : by_x.rows) table.head.push_back(row.front());
  for (std::size_t at = 0; at < picture.series.size(); ++at) {
    const std::string conditions =
        are_conditions_shared(picture) ? "" : conditions_outside_label(*picture.series[at], labels[at]);
    std::vector<std::string> row{labels[at] + (conditions.empty() ? "" : " (" + conditions + ")")};
    for (const std::vector<std::string>& cells : by_x.rows) row.push_back(cells[at + 1].empty() ? "-" : cells[at + 1]);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table list_of(const Picture& picture) {
  const std::vector<std::string> labels = labels_of(picture);
  Table table;
  table.head = {"", in_words(picture.first().x_name), "median", "noise", "minimum", "single: p50", "p99", "p99.9"};
  for (std::size_t at = 0; at < picture.series.size(); ++at) {
    const measure::Series& series = *picture.series[at];
    const std::string conditions = conditions_text(series);
    const std::string name = labels[at] + (conditions.empty() ? "" : " (" + conditions + ")");
    if (series.points.empty()) table.rows.push_back({name + ": no points", "", "", "", "", "", "", ""});
    for (const measure::Point& point : series.points) {
      std::vector<std::string> row{name, written(point.x, picture.x_quantity()), value_text(series, point.value),
                                   point.rounds.size() > 1 ? written_noise(point.noise) : "unknown",
                                   value_text(series, point.minimum)};
      for (double measure::Single::*field : {&measure::Single::p50, &measure::Single::p99, &measure::Single::p999}) {
        row.push_back(point.single ? value_text(series, (*point.single).*field) : "");
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Figure figure_of(const Picture& picture, const std::string& heading) {
  const std::vector<std::string> labels = labels_of(picture);
  std::vector<std::string> methods;
  for (const measure::Series* series : picture.series) methods.push_back(series->method);
  const std::vector<std::size_t> styles = styles_of(methods);
  Figure figure;
  figure.heading = heading;
  for (std::size_t at = 0; at < picture.series.size(); ++at) {
    figure.chart.curves.push_back(curve_of(*picture.series[at], labels[at], styles[at]));
  }
  choose_axes(picture, &figure.chart);
  figure.chart.title = heading;
  figure.chart.description = counted(labels.size(), "curve") + " over " + figure.chart.x.label + ": ";
  for (const std::string& label : labels) figure.chart.description += (label == labels[0] ? "" : ", ") + label;
  figure.caption = caption_of(picture, figure.chart, labels);
  figure.table = table_of(picture);
  return figure;
}

Block block_of(const Picture& picture, const std::string& heading) {
  Figure figure = figure_of(picture, heading);
  std::ptrdiff_t most = 0;
  for (const Curve& curve : figure.chart.curves) {
    most = std::max(
        most, std::ranges::count_if(curve.marks, [&](const Mark& mark) { return is_drawable(mark, figure.chart); }));
  }
  if (most > 2 && !picture.is_reference) return figure;
  Table table = most < 2 || picture.is_reference ? list_of(picture) : table_by_series(picture);
  table.caption = heading;
  return table;
}

}  // namespace gdrkit::measure::report
