// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/json_document.hpp"
#include "measure/result/result_document.hpp"
#include "measure/tune/tune.hpp"

namespace gdrkit::measure::tune {
namespace {

measure::Series series_of(const EngineTimes& times, const std::string& engine, bool is_warm,
                          const std::map<std::size_t, double>& by_size) {
  const std::string direction = times.direction == "to_device" ? "to the device" : "from the device";
  const std::string pace = is_warm ? "back to back" : "1 ms apart";
  measure::Series series;
  series.group = "engines/" + times.direction + "/" + times.host_memory + (is_warm ? "/warm" : "/cold");
  series.id = series.group + "/" + engine;
  series.title = engine + ", " + direction + ", " + times.host_memory + " host memory, " + pace;
  series.operation = "copy";
  series.direction = times.direction;
  series.method = engine;
  series.conditions = {{"host_memory", times.host_memory}, {"pace", pace}};
  series.x_name = "size_bytes";
  series.unit = "us";
  for (const auto& [size, time] : by_size) {
    series.points.push_back(measure::make_point(static_cast<double>(size), {time}, 1));
  }
  return series;
}

}  // namespace

void write_tune_json(const TuneOptions& options, const TuneReport& report) {
  std::vector<measure::Series> all;
  for (const EngineTimes& times : report.times) {
    for (const bool is_warm : {true, false}) {
      for (const auto& [engine, by_size] : is_warm ? times.warm : times.cold) {
        all.push_back(series_of(times, engine, is_warm, by_size));
      }
    }
  }
  cli::Json document = cli::json_head("tune", report.machine, report.backend, report.is_emulated);
  document["notes"] = report.notes;
  document["profile"] = report.profile;
  document["profile_path"] = report.path;
  document["seconds"] = report.seconds;
  document["series"] = series_json(all);
  document["ok"] = true;
  cli::write_json(options.common.json, document);
}

}  // namespace gdrkit::measure::tune
