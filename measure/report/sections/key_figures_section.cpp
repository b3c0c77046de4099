// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// For copies: the latency of one small size and the peak bandwidth, per direction, of the library and of the driver.
// For other documents: one figure per direction, method and unit.
#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "measure/report/report_section.hpp"

namespace gdrkit::measure::report {
namespace {

constexpr std::size_t most_tiles = 8;
constexpr double latency_bytes = 8;

bool is_plain_copy_series(const measure::Series& series, const std::string& direction) {
  return series.operation == "copy" && series.direction == direction && series.conditions.empty() &&
         series.y_name.empty() && quantity_of_x(series.x_name) == Quantity::size;
}

bool is_driver(const measure::Series& series) { return series.method.starts_with("memcpy"); }

/// One value and its origin.
struct Finding {
  const measure::Series* series;
  const measure::Point* point;
  double value;  ///< nanoseconds or GB/s
};

std::optional<double> ns_of(const measure::Series& series, const measure::Point& point) {
  const Unit unit = unit_of(series.unit);
  if (unit.quantity != Quantity::time || point.value <= 0) return std::nullopt;
  return point.value * unit.factor;
}

/// Bytes per nanosecond are 10^9 bytes per second.
std::optional<double> gb_per_s_of(const measure::Series& series, const measure::Point& point) {
  const Unit unit = unit_of(series.unit);
  if (unit.quantity == Quantity::bandwidth) return point.value * unit.factor;
  const std::optional<double> ns = ns_of(series, point);
  return ns && point.x > 0 ? std::optional<double>(point.x / *ns) : std::nullopt;
}

/// The copies of one direction: those through the mapping, or the driver's.
class Copies {
 public:
  Copies(const measure::Result& result, const std::string& direction, bool of_driver) {
    for (const measure::Series& series : result.series) {
      const bool is_selected = of_driver ? is_driver(series) : series.method == "mapping";
      if (is_selected && is_plain_copy_series(series, direction)) series_.push_back(&series);
    }
  }

  /// The smallest size with a time, or the usual one if it has a time.
  [[nodiscard]] std::optional<double> latency_size() const {
    std::optional<double> smallest;
    for (const measure::Series* series : series_) {
      for (const measure::Point& point : series->points) {
        if (!ns_of(*series, point)) continue;
        if (point.x == latency_bytes) return latency_bytes;
        if (!smallest || point.x < *smallest) smallest = point.x;
      }
    }
    return smallest;
  }

  [[nodiscard]] std::optional<Finding> latency(double size) const {
    std::optional<Finding> best;
    for (const measure::Series* series : series_) {
      const measure::Point* const point = measure::find_point(*series, size);
      const std::optional<double> ns = point == nullptr ? std::nullopt : ns_of(*series, *point);
      if (ns && (!best || *ns < best->value)) best = {series, point, *ns};
    }
    return best;
  }

  [[nodiscard]] std::optional<Finding> peak() const {
    std::optional<Finding> best;
    for (const measure::Series* series : series_) {
      for (const measure::Point& point : series->points) {
        const std::optional<double> rate = gb_per_s_of(*series, point);
        if (rate && (!best || *rate > best->value)) best = {series, &point, *rate};
      }
    }
    return best;
  }

 private:
  std::vector<const measure::Series*> series_;
};

/// The title without the direction, which the tile's label contains.
std::string method_of(const measure::Series& series) {
  const std::string tail = ", " + in_words(series.direction);
  std::string name = name_of(series);
  if (name.size() > tail.size() && name.ends_with(tail)) name.resize(name.size() - tail.size());
  return name;
}

std::string noise_of(const measure::Point& point) {
  return point.rounds.size() > 1 ? ", " + written_noise(point.noise) : "";
}

void add_copies_of(const measure::Result& result, const std::string& direction, std::vector<Tile>* tiles) {
  const Copies own(result, direction, false);
  const Copies driver(result, direction, true);
  const std::string where = " " + in_words(direction);
  if (const std::optional<double> size = own.latency_size()) {
    const auto add = [&](const std::string& label, const std::optional<Finding>& found) {
      if (!found) return;
      tiles->push_back({label + where + ", " + written(*size, Quantity::size), written(found->value, Quantity::time),
                        method_of(*found->series) + noise_of(*found->point)});
    };
    add("Latency", own.latency(*size));
    add("Latency of the driver's copy", driver.latency(*size));
  }
  if (!own.peak()) return;
  const auto add = [&](const std::string& label, const std::optional<Finding>& found) {
    if (!found) return;
    tiles->push_back(
        {label + where, written(found->value, Quantity::bandwidth),
         method_of(*found->series) + " at " + written(found->point->x, Quantity::size) + noise_of(*found->point)});
  };
  add("Peak bandwidth", own.peak());
  add("Peak bandwidth of the driver's copy", driver.peak());
}

/// Times over sizes: the value of the smallest size, because the best of several sizes is meaningless. Otherwise the
/// best value.
const measure::Point& representative_point(const measure::Series& series) {
  const bool is_time_of_size =
      unit_of(series.unit).quantity == Quantity::time && quantity_of_x(series.x_name) == Quantity::size;
  const auto comes_first = [&](const measure::Point& one, const measure::Point& other) {
    if (is_time_of_size) return one.x < other.x;
    return series.is_lower_better ? one.value < other.value : one.value > other.value;
  };
  return *std::ranges::min_element(series.points, comes_first);
}

Tile tile_of(const measure::Series& series) {
  const measure::Point& point = representative_point(series);
  std::string note = "at " + in_words(series.x_name) + " " + written(point.x, quantity_of_x(series.x_name));
  if (point.y) note += ", " + in_words(series.y_name) + " " + written(*point.y, quantity_of_x(series.y_name));
  const std::string direction = in_words(series.direction);
  if (name_of(series).find(direction) == std::string::npos) note += ", " + direction;
  return {name_of(series), value_text(series, point.value), note + noise_of(point)};
}

std::vector<Tile> tiles_of_others(const measure::Result& result) {
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  std::vector<Tile> tiles;
  for (const measure::Series& series : result.series) {
    if (series.points.empty() || tiles.size() == most_tiles) continue;
    if (seen.emplace(series.direction, series.method, series.unit).second) tiles.push_back(tile_of(series));
  }
  return tiles;
}

}  // namespace

void add_key_figures(Source* source, Chapter* chapter) {
  Tiles tiles;
  for (const char* const direction : {"to_device", "from_device"}) {
    add_copies_of(*source->result, direction, &tiles.tiles);
  }
  if (tiles.tiles.empty()) tiles.tiles = tiles_of_others(*source->result);
  if (!tiles.tiles.empty()) chapter->sections.push_back({"Key figures", {std::move(tiles)}});
}

}  // namespace gdrkit::measure::report
