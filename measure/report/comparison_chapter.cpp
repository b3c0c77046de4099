// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/wrapped_text.hpp"
#include "measure/report/report_page.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "measure/compare/comparison.hpp"
#include "measure/report/chart/line_chart.hpp"
#include "measure/report/chart/style.hpp"
#include "measure/report/picture.hpp"

namespace gdrkit::measure::report {
namespace {

using measure::ComparedPoint;

/// All compared points, the library's own and its baselines, by the newer result's series.
using PointsOf = std::map<const measure::Series*, std::vector<const ComparedPoint*>>;

double ratio_of(const ComparedPoint& point) { return std::exp(point.change.log_ratio); }

std::string place_of(const ComparedPoint& point) {
  const measure::Series& series = *point.series;
  std::string text = written(point.new_observation.point->x, quantity_of_x(series.x_name));
  if (point.new_observation.point->y)
    text += ", " + written(*point.new_observation.point->y, quantity_of_x(series.y_name));
  return text;
}

std::vector<std::string> row_of(const ComparedPoint& point) {
  const measure::Series& series = *point.series;
  const std::string direction = in_words(series.direction);
  const bool is_in_name = name_of(series).find(direction) != std::string::npos;
  return {is_in_name ? name_of(series) : name_of(series) + ", " + direction,
          place_of(point),
          value_text(series, point.old_observation.point->value),
          value_text(series, point.new_observation.point->value),
          written(ratio_of(point), Quantity::ratio),
          written(std::exp(point.limit), Quantity::ratio),
          point.change.is_controlled ? "yes" : "no"};
}

Table table_for(const std::string& caption) {
  return {caption, {"", "at", "A", "B", "B is worse by", "noise alone", "relative to its control"}, {}};
}

/// The conspicuous points, in sentences and tables.
class Verdict {
 public:
  Verdict(const measure::Comparison& comparison, bool is_same_machine)
      : comparison_(comparison), is_same_machine_(is_same_machine) {}

  [[nodiscard]] Section section() const {
    Section section{"Significant changes", {}};
    const std::size_t count = comparison_.points.size();
    const Table slower = table_of(comparison_.points, &ComparedPoint::is_slower);
    const Table faster = table_of(comparison_.points, &ComparedPoint::is_faster);
    Sentences sentences;
    sentences.items.push_back(sentence(slower.rows.size(), count, "worse"));
    if (count > 0) sentences.items.push_back(sentence(faster.rows.size(), count, "better"));
    add_unjudged(&sentences);
    if (!slower.rows.empty() && is_same_machine_) {
      sentences.items.emplace_back(
          "Each was measured once; 'gdrkit bench --compare' measures such points again before it reports a "
          "regression.");
    }
    section.blocks.emplace_back(std::move(sentences));
    add(slower, "B is worse", &section);
    add(faster, "B is better", &section);
    Table moved = table_of(comparison_.baselines, &ComparedPoint::is_slower);
    for (auto& row : table_of(comparison_.baselines, &ComparedPoint::is_faster).rows) moved.rows.push_back(row);
    add(moved, "Baselines that changed: not a regression of gdrkit", &section);
    return section;
  }

 private:
  [[nodiscard]] std::string sentence(std::size_t found, std::size_t all, const std::string& word) const {
    if (all == 0) return "The two results have no point of gdrkit's own in common.";
    const std::string where = is_same_machine_ ? "" : " (of two machines, not of two builds)";
    if (found == 0) return "Nothing is " + word + " in B beyond the noise, of " + counted(all, "point") + where + ".";
    return std::to_string(found) + " of " + counted(all, "point") + " " + (found == 1 ? "is " : "are ") + word +
           " in B beyond the noise" + where + ".";
  }

  void add_unjudged(Sentences* sentences) const {
    constexpr std::size_t most_named = 10;
    const std::vector<measure::UnjudgedPoint>& unjudged = comparison_.unjudged;
    if (unjudged.empty()) return;
    std::string text = counted(unjudged.size(), "point") + " cannot be judged: ";
    for (std::size_t at = 0; at < std::min(unjudged.size(), most_named); ++at) {
      text += (at == 0 ? "" : ", ") + unjudged[at].name + " (" + unjudged[at].why + ")";
    }
    if (unjudged.size() > most_named) text += " and " + std::to_string(unjudged.size() - most_named) + " more";
    sentences->items.push_back(text + ".");
  }

  static Table table_of(const std::vector<ComparedPoint>& points, bool (ComparedPoint::*is_meant)() const) {
    Table table = table_for("");
    for (const ComparedPoint& point : points) {
      if ((point.*is_meant)()) table.rows.push_back(row_of(point));
    }
    return table;
  }

  static void add(Table table, const std::string& caption, Section* section) {
    if (table.rows.empty()) return;
    table.caption = caption;
    section->blocks.emplace_back(std::move(table));
  }

  const measure::Comparison& comparison_;
  bool is_same_machine_;
};

Table table_of(const std::vector<const ComparedPoint*>& points, const std::string& caption) {
  Table table = table_for(caption);
  for (const ComparedPoint* point : points) table.rows.push_back(row_of(*point));
  return table;
}

/// The ratios of one series, over the band of noise.
Figure ratio_figure(const measure::Series& series, const std::string& label, std::size_t style,
                    const std::vector<const ComparedPoint*>& points) {
  Figure figure;
  figure.heading = label;
  figure.table = table_of(points, "");
  LineChart& chart = figure.chart;
  chart.title = label + ": B against A";
  chart.description = "the factor by which B is worse, over " + in_words(series.x_name);
  Curve curve{"", style, {}};
  for (const ComparedPoint* point : points) {
    const double x = point->new_observation.point->x;
    const double ratio = ratio_of(*point);
    curve.marks.push_back({x, ratio, ratio, ratio});
    chart.band.push_back({x, 1, std::exp(-point->limit), std::exp(point->limit)});
  }
  const auto is_before = [](const Mark& one, const Mark& other) { return one.x < other.x; };
  std::ranges::sort(curve.marks, is_before);
  std::ranges::sort(chart.band, is_before);
  chart.curves.push_back(std::move(curve));
  chart.x = {in_words(series.x_name), quantity_of_x(series.x_name), false};
  const std::optional<Range> x = x_range_of(chart);
  chart.x.is_log = chart.x.quantity == Quantity::size && x && x->high > 0;
  chart.y = {"B / A, above 1 is worse", Quantity::ratio, false};
  chart.reference = 1;
  return figure;
}

/// One scale for all, wide enough for a change of a tenth to look small.
void share_scale(FigureRow* row) {
  Range shared{0.8, 1.25};
  for (const Figure& figure : row->figures) {
    if (const std::optional<Range> range = y_range_of(figure.chart)) {
      shared = {std::min(shared.low, range->low), std::max(shared.high, range->high)};
    }
  }
  constexpr double far_apart = 4;
  for (Figure& figure : row->figures) {
    figure.chart.y_range = shared;
    figure.chart.y.is_log = shared.high / far_apart > shared.low;
  }
}

void add_ratios(const Picture& picture, const PointsOf& points_of, Section* section) {
  const std::vector<std::string> labels = labels_of(picture);
  std::vector<std::string> methods;
  for (const measure::Series* series : picture.series) methods.push_back(series->method);
  const std::vector<std::size_t> styles = styles_of(methods);
  FigureRow row{heading_of(picture), {}};
  for (std::size_t at = 0; at < picture.series.size(); ++at) {
    const auto found = points_of.find(picture.series[at]);
    if (found == points_of.end()) continue;
    if (picture.is_matrix() || found->second.size() == 1) {
      section->blocks.emplace_back(table_of(found->second, labels[at]));
    } else {
      row.figures.push_back(ratio_figure(*picture.series[at], labels[at], styles[at], found->second));
    }
  }
  share_scale(&row);
  if (!row.figures.empty()) section->blocks.emplace_back(std::move(row));
}

Section ratios(const measure::Result& newer, const PointsOf& points_of) {
  Section section{"Every ratio",
                  {Paragraph{"The grey band is the range that noise alone explains, given the number of points; only "
                             "points outside it are significant. A point with a control is judged by its ratio to the "
                             "control."}}};
  const Source source = source_of(newer);
  for (const Picture& picture : source.pictures) add_ratios(picture, points_of, &section);
  if (section.blocks.size() == 1) section.blocks.clear();
  return section;
}

Section leftovers(const measure::Result& older, const measure::Result& newer) {
  Sentences only;
  const auto collect = [&](const measure::Result& mine, const measure::Result& other, const std::string& letter) {
    for (const measure::Series& series : mine.series) {
      const measure::Series* match = measure::find_series(other, series.id);
      std::size_t missing = 0;
      for (const measure::Point& point : series.points) {
        if (match == nullptr || measure::find_point(*match, point.x, point.y) == nullptr) ++missing;
      }
      if (match != nullptr && match->unit != series.unit) {
        if (letter == "A") only.items.push_back(series.id + " has another unit in B");
      } else if (match == nullptr || missing > 0) {
        only.items.push_back(series.id + (match == nullptr ? "" : ", " + counted(missing, "point")) + ": only in " +
                             letter);
      }
    }
  };
  collect(older, newer, "A");
  collect(newer, older, "B");
  Section section{"Only in one result", {}};
  if (!only.items.empty()) section.blocks.emplace_back(std::move(only));
  return section;
}

}  // namespace

Chapter comparison_chapter(const measure::Result& older, const measure::Result& newer) {
  Chapter chapter;
  chapter.heading = "B against A";
  chapter.summary = "A: gdrkit " + older.version + " on " + older.date + ". B: gdrkit " + newer.version + " on " +
                    newer.date + ". A ratio above 1 means that B is worse: it takes longer or transfers less.";
  const std::string refusal = measure::why_no_comparison(older, newer, "A");
  if (!refusal.empty()) {
    chapter.warnings.push_back(refusal);
    return chapter;
  }
  const std::vector<std::string> machines = measure::machine_differences(older, newer);
  if (!machines.empty())
    chapter.warnings.push_back("These are different machines (" + cli::joined(machines, "; ") +
                               "): ratios compare machines, not builds.");
  const std::vector<std::string> settings = measure::setting_differences(older, newer);
  if (!settings.empty())
    chapter.warnings.push_back("Possible explanations of a change: " + cli::joined(settings, "; ") + ".");
  const measure::Comparison comparison = measure::compare(older, newer);
  PointsOf points_of;
  for (const auto* points : {&comparison.points, &comparison.baselines}) {
    for (const ComparedPoint& point : *points) points_of[point.series].push_back(&point);
  }
  chapter.sections.push_back(Verdict(comparison, machines.empty()).section());
  for (Section section : {ratios(newer, points_of), leftovers(older, newer)}) {
    if (!section.blocks.empty()) chapter.sections.push_back(std::move(section));
  }
  return chapter;
}

}  // namespace gdrkit::measure::report
