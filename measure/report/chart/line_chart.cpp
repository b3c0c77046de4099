// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/chart/line_chart.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "measure/report/chart/style.hpp"
#include "measure/report/markup.hpp"

namespace gdrkit::measure::report {
namespace {

constexpr double font = 12;
/// Of the widest of the usual sans-serif fonts; a narrower one only leaves more space.
constexpr double character_width = 7.6;
constexpr double left = 72;
constexpr double right = 26;
constexpr double top = 28;
constexpr double bottom = 44;
constexpr std::size_t most_marks = 400;
constexpr std::size_t most_markers = 48;
/// The mark hides shorter whiskers.
constexpr double least_whisker = 5;

double text_width(const std::string& text) { return character_width * static_cast<double>(length_of(text)); }

bool is_placeable(double value, bool is_log) { return std::isfinite(value) && (!is_log || value >= DBL_MIN); }

void widen(std::optional<Range>* range, double value) {
  if (!*range) *range = Range{value, value};
  (*range)->low = std::min((*range)->low, value);
  (*range)->high = std::max((*range)->high, value);
}

std::string line(double x1, double y1, double x2, double y2, const char* name) {
  return std::string("<path class=\"") + name + "\" d=\"M" + coordinate(x1) + " " + coordinate(y1) + "L" +
         coordinate(x2) + " " + coordinate(y2) + "\"/>";
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" text-anchor=\"" + anchor + "\">" +
         escaped(text) + "</text>";
}

/// The contents of one <svg> that depend on the canvas and the two scales.
class Drawing {
 public:
  Drawing(const LineChart& chart, const Canvas& canvas, const Range& x, const Range& y)
      : chart_(chart),
        canvas_(canvas),
        x_(x, chart.x.is_log, left, canvas.width - right),
        y_(y, chart.y.is_log, canvas.height - bottom, top) {}

  [[nodiscard]] std::string axes() const {
    std::string out;
    const double floor = canvas_.height - bottom;
    const double space = canvas_.width - left - right;
    for (const double value : ticks(y_.range(), chart_.y, static_cast<std::size_t>((floor - top) / 30))) {
      const double y = y_.at(value);
      out += line(left, y, canvas_.width - right, y, "grid");
      out += text_at(left - 8, y + font / 3, "end", shortened(written_short(value, chart_.y.quantity), 8));
    }
    out += line(left, floor, canvas_.width - right, floor, "axis");
    double free_from = 0;
    for (const double value : ticks(x_.range(), chart_.x, static_cast<std::size_t>(space / 52))) {
      const std::string label = written_short(value, chart_.x.quantity);
      const double half = text_width(label) / 2;
      const double x = x_.at(value);
      out += line(x, floor, x, floor + 5, "axis");
      // Never overlaps its neighbour or the edge; the tick without a label stays.
      if (x - half < free_from || x + half > canvas_.width) continue;
      free_from = x + half + 4;
      out += text_at(x, floor + 19, "middle", label);
    }
    const auto fitting = static_cast<std::size_t>(canvas_.width / character_width) - 2;
    out += text_at(2, 13, "start", shortened(chart_.y.label, fitting));
    const std::string label = shortened(chart_.x.label, fitting - 8);
    out += text_at(std::max(left + space / 2, text_width(label) / 2), canvas_.height - 5, "middle", label);
    if (chart_.reference && *chart_.reference >= y_.range().low && *chart_.reference <= y_.range().high) {
      out += line(left, y_.at(*chart_.reference), canvas_.width - right, y_.at(*chart_.reference), "reference");
    }
    return out;
  }

  [[nodiscard]] std::string band() const {
    std::string there;
    std::string back;
    std::vector<Mark> marks;
    for (const Mark& mark : chart_.band) {
      if (is_drawable(mark, chart_) && mark.low <= mark.high) marks.push_back(mark);
    }
    for (const Mark& mark : thinned(marks, most_marks)) {
      const std::string x = coordinate(x_.at(mark.x));
      there += (there.empty() ? "M" : "L") + x + " " + coordinate(inside(mark.high));
      back.insert(0, "L" + x + " " + coordinate(inside(mark.low)));
    }
    return there.empty() ? "" : "<path class=\"band\" d=\"" + there + back + "Z\"/>";
  }

  [[nodiscard]] std::string curve(const Curve& curve) const {
    std::vector<Mark> marks;
    for (const Mark& mark : curve.marks) {
      if (is_drawable(mark, chart_)) marks.push_back(mark);
    }
    if (marks.empty()) return "";
    marks = thinned(marks, most_marks);
    const std::size_t stride = (marks.size() + most_markers - 1) / most_markers;
    std::string path;
    std::string markers;
    std::string whiskers;
    for (std::size_t at = 0; at < marks.size(); ++at) {
      const double x = x_.at(marks[at].x);
      const double y = y_.at(marks[at].y);
      path += (at == 0 ? "M" : "L") + coordinate(x) + " " + coordinate(y);
      if (at % stride != 0) continue;
      markers += marker_path(curve.style, x, y);
      whiskers += whisker(marks[at], x);
    }
    std::string out = "<g class=\"k" + std::to_string(curve.style % style_count) + "\">";
    if (!whiskers.empty()) out += "<path class=\"whisker\" d=\"" + whiskers + "\"/>";
    if (marks.size() > 1) out += "<path class=\"curve\" d=\"" + path + "\"/>";
    return out + "<path class=\"mark\" d=\"" + markers + "\"/></g>";
  }

 private:
  /// The position of the value, or the nearest edge of the chart.
  [[nodiscard]] double inside(double value) const { return y_.at(std::clamp(value, y_.range().low, y_.range().high)); }

  [[nodiscard]] std::string whisker(const Mark& mark, double x) const {
    if (!std::isfinite(mark.low) || !std::isfinite(mark.high) || mark.low > mark.high) return "";
    const double from = inside(mark.low);
    const double to = inside(mark.high);
    if (std::abs(to - from) < least_whisker) return "";
    return "M" + coordinate(x) + " " + coordinate(from) + "V" + coordinate(to) + "M" + coordinate(x - 3) + " " +
           coordinate(from) + "h6M" + coordinate(x - 3) + " " + coordinate(to) + "h6";
  }

  const LineChart& chart_;
  const Canvas& canvas_;
  Scale x_;
  Scale y_;
};

}  // namespace

bool is_drawable(const Mark& mark, const LineChart& chart) {
  return is_placeable(mark.x, chart.x.is_log) && is_placeable(mark.y, chart.y.is_log);
}

std::size_t count_drawable(const LineChart& chart) {
  std::size_t count = 0;
  for (const Curve& curve : chart.curves) {
    count += static_cast<std::size_t>(
        std::ranges::count_if(curve.marks, [&](const Mark& mark) { return is_drawable(mark, chart); }));
  }
  return count;
}

std::optional<Range> x_range_of(const LineChart& chart) {
  std::optional<Range> range;
  for (const Curve& curve : chart.curves) {
    for (const Mark& mark : curve.marks) {
      if (is_drawable(mark, chart)) widen(&range, mark.x);
    }
  }
  return range;
}

std::optional<Range> y_range_of(const LineChart& chart) {
  std::optional<Range> range;
  for (const Curve& curve : chart.curves) {
    for (const Mark& mark : curve.marks) {
      if (!is_drawable(mark, chart)) continue;
      widen(&range, mark.y);
      // Uncertainty extends the axis, but never so far that the curve becomes a flat line.
      const double most = chart.y.is_log ? mark.y * 1.5 : mark.y + std::abs(mark.y) / 2;
      const double least = chart.y.is_log ? mark.y / 1.5 : mark.y - std::abs(mark.y) / 2;
      if (is_placeable(mark.high, chart.y.is_log)) widen(&range, std::clamp(mark.high, mark.y, std::max(most, mark.y)));
      if (is_placeable(mark.low, chart.y.is_log)) widen(&range, std::clamp(mark.low, std::min(least, mark.y), mark.y));
    }
  }
  if (range && chart.reference) widen(&range, *chart.reference);
  if (range && !std::isfinite(range->high)) range->high = DBL_MAX;
  if (range && !std::isfinite(range->low)) range->low = chart.y.is_log ? DBL_MIN : -DBL_MAX;
  return range;
}

std::vector<Mark> thinned(const std::vector<Mark>& marks, std::size_t most) {
  if (marks.size() <= most || most < 4) return marks;
  const std::size_t buckets = most / 2;
  std::vector<Mark> kept{marks.front()};
  const auto is_lower = [](const Mark& one, const Mark& other) { return one.y < other.y; };
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    const auto begin = marks.begin() + static_cast<std::ptrdiff_t>(bucket * marks.size() / buckets);
    const auto end = marks.begin() + static_cast<std::ptrdiff_t>((bucket + 1) * marks.size() / buckets);
    const auto [low, high] = std::minmax_element(begin, end, is_lower);
    kept.push_back(low < high ? *low : *high);
    if (low != high) kept.push_back(low < high ? *high : *low);
  }
  kept.push_back(marks.back());
  return kept;
}

std::string line_chart_svg(const LineChart& chart, const Canvas& canvas, const std::string& id) {
  std::string out = "<svg class=\"chart\" viewBox=\"0 0 " + coordinate(canvas.width) + " " + coordinate(canvas.height) +
                    "\" role=\"img\" aria-labelledby=\"" + id + "t " + id + "d\"><title id=\"" + id + "t\">" +
                    escaped(chart.title) + "</title><desc id=\"" + id + "d\">" + escaped(chart.description) + "</desc>";
  const std::optional<Range> x = x_range_of(chart);
  const std::optional<Range> y = chart.y_range ? chart.y_range : y_range_of(chart);
  if (!x || !y) {
    return out + text_at(canvas.width / 2, canvas.height / 2, "middle", "no values that this axis can show") + "</svg>";
  }
  const Drawing drawing(chart, canvas, with_room(*x, chart.x.is_log, 0.02), to_ticks(*y, chart.y));
  out += drawing.band() + drawing.axes();
  for (const Curve& curve : chart.curves) out += drawing.curve(curve);
  return out + "</svg>";
}

}  // namespace gdrkit::measure::report
