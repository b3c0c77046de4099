// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The best value of the first series of each direction, method and unit.
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "measure/report/section.hpp"

namespace gdrkit::tools::report {
namespace {

constexpr std::size_t most_tiles = 8;

const measure::Point& best_point(const measure::Series& series) {
  const auto is_less = [](const measure::Point& one, const measure::Point& other) { return one.value < other.value; };
  return series.is_lower_better ? *std::min_element(series.points.begin(), series.points.end(), is_less)
                                : *std::max_element(series.points.begin(), series.points.end(), is_less);
}

Tile tile_of(const measure::Series& series) {
  const measure::Point& best = best_point(series);
  std::string note = "at " + in_words(series.x_name) + " " + written(best.x, quantity_of_x(series.x_name));
  if (best.y) note += ", " + in_words(series.y_name) + " " + written(*best.y, quantity_of_x(series.y_name));
  const std::string direction = in_words(series.direction);
  if (name_of(series).find(direction) == std::string::npos) note += ", " + direction;
  if (best.rounds.size() > 1) note += ", " + written_noise(best.noise);
  return {"best of " + name_of(series), value_text(series, best.value), note};
}

}  // namespace

void add_key_figures(Source* source, Chapter* chapter) {
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  Tiles tiles;
  for (const measure::Series& series : source->result->series) {
    if (series.points.empty() || tiles.tiles.size() == most_tiles) continue;
    if (seen.emplace(series.direction, series.method, series.unit).second) tiles.tiles.push_back(tile_of(series));
  }
  if (!tiles.tiles.empty()) chapter->sections.push_back({"Key figures", {std::move(tiles)}});
}

}  // namespace gdrkit::tools::report
