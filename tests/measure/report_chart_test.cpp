// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Scales, ticks, curves and styles of a report's charts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <set>

#include "measure/report/chart/line_chart.hpp"
#include "measure/report/chart/style.hpp"

namespace gdrkit::measure::report {
namespace {

const Axis plain_axis{"", Quantity::plain, false};
const Axis log_axis{"", Quantity::time, true};
const Axis size_axis{"", Quantity::size, true};

TEST(ReportScale, MapsLinearAndLogarithmicValues) {
  const Scale linear({0, 10}, false, 100, 200);
  EXPECT_DOUBLE_EQ(linear.at(0), 100);
  EXPECT_DOUBLE_EQ(linear.at(2.5), 125);
  const Scale logarithmic({1, 10000}, true, 400, 0);
  EXPECT_DOUBLE_EQ(logarithmic.at(1), 400);
  EXPECT_DOUBLE_EQ(logarithmic.at(100), 200);
  EXPECT_DOUBLE_EQ(logarithmic.at(10000), 0);
}

TEST(ReportScale, StaysFiniteAtTheEndsOfDouble) {
  const Scale linear({-DBL_MAX, DBL_MAX}, false, 0, 100);
  EXPECT_DOUBLE_EQ(linear.at(0), 50);
  for (const bool is_log : {false, true}) {
    for (const double value : {DBL_MIN, 1.0, DBL_MAX}) {
      const Range range = with_room({value, value}, is_log, 0.1);
      EXPECT_LT(range.low, range.high) << value << is_log;
      EXPECT_TRUE(std::isfinite(range.high)) << value << is_log;
      EXPECT_TRUE(!is_log || range.low > 0) << value;
    }
  }
}

TEST(ReportTicks, AreRoundNumbersInsideTheRange) {
  EXPECT_EQ(ticks({0, 10}, plain_axis, 6), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(ticks({-1, 1}, plain_axis, 5), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
  EXPECT_EQ(ticks({100, 1000}, log_axis, 6), (std::vector<double>{100, 200, 500, 1000}));
  EXPECT_EQ(ticks({1, 1e8}, log_axis, 6), (std::vector<double>{1, 100, 1e4, 1e6, 1e8}));
  EXPECT_EQ(ticks({1, 1 << 20}, size_axis, 6), (std::vector<double>{1, 16, 256, 4096, 65536, 1 << 20}));
}

TEST(ReportTicks, AreNotBelowALogarithmicRange) {
  EXPECT_EQ(ticks({0.1, 1e8}, log_axis, 6), (std::vector<double>{1, 100, 1e4, 1e6, 1e8}));
}

TEST(ReportTicks, AreIntegersForCounts) {
  Axis threads = plain_axis;
  threads.is_whole = true;
  EXPECT_EQ(ticks({0.98, 2.02}, threads, 14), (std::vector<double>{1, 2}));
  EXPECT_EQ(ticks({1, 4}, threads, 14), (std::vector<double>{1, 2, 3, 4}));
  threads.is_log = true;
  EXPECT_EQ(ticks({0.9, 70}, threads, 14), (std::vector<double>{1, 2, 5, 10, 20, 50}));
}

TEST(ReportTicks, StayInsideTheRangeAndBelowTheLimit) {
  for (const Axis& axis : {plain_axis, log_axis, size_axis}) {
    for (const Range& range : {Range{1, 1.0001}, Range{3, 3.1}, Range{DBL_MIN, DBL_MAX}, Range{1e300, 1e301},
                               Range{1e20, 1e20 + 65536}, Range{0.7, 123456}, Range{DBL_MAX / 2, DBL_MAX}}) {
      for (const std::size_t most : {std::size_t{2}, std::size_t{5}, std::size_t{14}}) {
        const std::vector<double> found = ticks(range, axis, most);
        EXPECT_LE(found.size(), most) << range.low << " to " << range.high;
        for (const double value : found) {
          const double slack = (range.high / 2 - range.low / 2) * 1e-6;
          EXPECT_GE(value, range.low - slack);
          EXPECT_LE(value, range.high + std::min(slack, DBL_MAX - range.high));
          EXPECT_TRUE(!axis.is_log || value > 0);
        }
      }
    }
  }
}

TEST(ReportTicks, EncloseTheData) {
  const Range range = to_ticks({130, 4100}, log_axis);
  EXPECT_LE(range.low, 130);
  EXPECT_GE(range.high, 4100);
  EXPECT_NEAR(range.low, 100, 1e-6);
  EXPECT_NEAR(range.high, 5000, 1e-6);
}

LineChart chart_of(std::vector<Mark> marks, bool is_log) {
  LineChart chart;
  chart.title = "<title>";
  chart.x = {"x", Quantity::plain, is_log};
  chart.y = {"y", Quantity::plain, is_log};
  chart.curves = {{"curve", 0, std::move(marks)}};
  return chart;
}

Mark at(double x, double y) { return {x, y, y, y}; }

TEST(ReportLineChart, LeavesOutValuesThatALogarithmicAxisCannotShow) {
  const std::vector<Mark> marks{at(0, 1), at(1, 0), at(1, -1), at(2, 2), at(3, NAN), at(4, INFINITY), at(5, 5)};
  EXPECT_EQ(count_drawable(chart_of(marks, true)), 2u);
  EXPECT_EQ(count_drawable(chart_of(marks, false)), 5u);
  const std::string svg = line_chart_svg(chart_of(marks, true), wide_canvas, "f1");
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(ReportLineChart, BandEndsAtTheEdgesAndOmitsUnknownParts) {
  LineChart chart = chart_of({at(1, 1), at(2, 2), at(3, 1)}, false);
  chart.band = {{1, 1, -INFINITY, INFINITY}, {2, 1, NAN, NAN}, {3, 1, 0.9, 1.1}};
  const std::string svg = line_chart_svg(chart, wide_canvas, "f1");
  const std::size_t band = svg.find("class=\"band\"");
  ASSERT_NE(band, std::string::npos);
  const std::string path = svg.substr(band, svg.find("/>", band) - band);
  EXPECT_EQ(path.find("nan"), std::string::npos);
  EXPECT_EQ(path.find("inf"), std::string::npos);
  EXPECT_EQ(std::count(path.begin(), path.end(), 'L'), 3) << "two points there and two back";
}

TEST(ReportLineChart, ReportsThatNothingCanBeDrawn) {
  const std::string svg = line_chart_svg(chart_of({at(1, -1)}, true), wide_canvas, "f1");
  EXPECT_NE(svg.find("no values that this axis can show"), std::string::npos);
}

TEST(ReportLineChart, HasAltText) {
  const std::string svg = line_chart_svg(chart_of({at(1, 1), at(2, 2)}, false), wide_canvas, "f7");
  EXPECT_NE(svg.find("role=\"img\" aria-labelledby=\"f7t f7d\""), std::string::npos);
  EXPECT_NE(svg.find("<title id=\"f7t\">&lt;title&gt;</title>"), std::string::npos);
}

TEST(ReportLineChart, UncertaintyDoesNotFlattenTheCurve) {
  LineChart chart = chart_of({{1, 10, -1e9, 1e9}, {2, 20, 15, 25}}, false);
  const Range range = *y_range_of(chart);
  EXPECT_DOUBLE_EQ(range.low, 5);
  EXPECT_DOUBLE_EQ(range.high, 25);
}

TEST(ReportLineChart, ThinningKeepsEndsAndExtremes) {
  std::vector<Mark> marks;
  for (int x = 0; x < 10000; ++x) marks.push_back(at(x, x % 97));
  marks[5003].y = 500;
  marks[7001].y = -500;
  const std::vector<Mark> kept = thinned(marks, 400);
  EXPECT_LE(kept.size(), 410u);
  EXPECT_EQ(kept.front().x, 0);
  EXPECT_EQ(kept.back().x, 9999);
  std::set<double> values;
  for (std::size_t number = 1; number < kept.size(); ++number) EXPECT_LE(kept[number - 1].x, kept[number].x);
  for (const Mark& mark : kept) values.insert(mark.y);
  EXPECT_TRUE(values.count(500) == 1 && values.count(-500) == 1);
}

TEST(ReportStyle, EachMethodHasAStableUniqueStyle) {
  EXPECT_EQ(styles_of({"raw", "mapping"}), (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(styles_of({"unknown", "mapping", "mapping"}), (std::vector<std::size_t>{1, 0, 2}));
  const std::vector<std::size_t> eight = styles_of({"a", "b", "c", "raw", "e", "f", "g", "h"});
  EXPECT_EQ(std::set<std::size_t>(eight.begin(), eight.end()).size(), 8u);
  std::set<std::string> shapes;
  for (std::size_t style = 0; style < style_count; ++style) shapes.insert(marker_path(style, 0, 0));
  EXPECT_EQ(shapes.size(), style_count);
}

}  // namespace
}  // namespace gdrkit::measure::report
