// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/result/result_document.hpp"
#include "measure/result/result_file.hpp"

namespace gdrkit::measure {
namespace {

Json point_json(const Point& point) {
  Json json{{"x", point.x}};
  if (point.y) json["y"] = *point.y;
  json["value"] = point.value;
  json["noise"] = point.noise;
  json["minimum"] = point.minimum;
  json["operations_per_round"] = point.operations_per_round;
  json["rounds"] = point.rounds;
  if (point.single) {
    const Single& single = *point.single;
    json["single"] = {{"count", single.count}, {"minimum", single.minimum}, {"p50", single.p50},
                      {"p99", single.p99},     {"p999", single.p999},       {"maximum", single.maximum}};
  }
  return json;
}

Json one_series_json(const Series& series) {
  return {{"id", series.id},
          {"group", series.group},
          {"title", series.title},
          {"operation", series.operation},
          {"direction", series.direction},
          {"method", series.method},
          {"conditions", series.conditions},
          {"x_name", series.x_name},
          {"y_name", series.y_name},
          {"unit", series.unit},
          {"better", series.is_lower_better ? "lower" : "higher"},
          {"control", series.control},
          {"points", cli::json_list(series.points, point_json)}};
}

}  // namespace

Json head_json(const Result& result) {
  Json json = cli::head_json(result);
  if (result.clock) {
    json["clock"] = {{"name", result.clock->name},
                     {"why", result.clock->why},
                     {"ns_per_tick", result.clock->ns_per_tick},
                     {"overhead_ns", result.clock->overhead_ns}};
  }
  if (result.noise) {
    json["machine_noise"] = {{"observed_ms", result.noise->observed_ms},
                             {"lost_share", result.noise->lost_share},
                             {"largest_gap_us", result.noise->largest_gap_us},
                             {"gaps", result.noise->gaps},
                             {"is_quiet", result.noise->is_quiet()}};
  }
  if (!result.settings.empty()) json["settings"] = result.settings;
  if (!result.notes.empty()) json["notes"] = result.notes;
  return json;
}

Json series_json(const std::vector<Series>& series) { return cli::json_list(series, one_series_json); }

std::string to_json_text(const Result& result) {
  Json json = head_json(result);
  json["series"] = series_json(result.series);
  json["ok"] = result.is_ok;
  return cli::text_of(json);
}

}  // namespace gdrkit::measure
