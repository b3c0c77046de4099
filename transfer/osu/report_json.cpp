// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/result/result_document.hpp"
#include "transfer/common/doctor_json.hpp"
#include "transfer/osu/report.hpp"

namespace gdrkit::tools::osu {

void write_report_json(const DocumentOption& option, Report report) {
  if (!option.is_given) return;
  const bool is_latency = report.line.test->value == Value::latency;
  measure::Series series;
  const bool is_of_all = report.line.test->is_of_all_ranks();
  series.group = std::string(report.line.test->name) + "/" + report.line.places;
  if (is_of_all) series.group += "/" + std::to_string(report.n_ranks);
  series.id = "osu/" + series.group + "/" + report.line.engine;
  series.title = std::string("osu_") + report.line.test->name + " " + report.line.places[0] + " " +
                 (is_of_all ? "of " + std::to_string(report.n_ranks) + " ranks" : report.line.places.substr(1)) + " (" +
                 report.line.engine + ")";
  series.operation = report.line.test->name;
  series.method = report.line.engine;
  series.conditions = {{"places", report.line.places}, {"pairs", std::to_string(report.line.pairs)}};
  if (is_of_all) series.conditions = {{"places", report.line.places}, {"ranks", std::to_string(report.n_ranks)}};
  series.x_name = "size_bytes";
  series.unit = is_latency ? "us" : "GB/s";
  series.is_lower_better = is_latency;
  Json wrong = Json::array();
  std::uint64_t wrong_bytes = 0;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const OsuRow& row = report.rows[i];
    const double value = is_latency ? row.value : row.value / 1000;
    series.points.push_back(measure::make_point(static_cast<double>(row.size_bytes), {value},
                                                static_cast<std::size_t>(report.iterations[i])));
    wrong_bytes += row.wrong_bytes;
    if (row.wrong_bytes != 0) wrong.push_back(row.size_bytes);
  }
  report.result.series = {series};
  Json document = measure::head_json(report.result);
  document["series"] = measure::series_json(report.result.series);
  document["validated"] = report.line.validates;
  document["wrong_sizes"] = wrong;
  document["wrong_bytes"] = wrong_bytes;
  document["path"] = report.path;
  document["doctor"] = transfer::doctor_json(report.doctor);
  if (is_of_all) {
    document["extremes"] = Json::array();
    for (const OsuRow& row : report.rows) {
      document["extremes"].push_back({{"size_bytes", row.size_bytes}, {"least", row.least}, {"largest", row.largest}});
    }
  }
  if (!report.line.percentiles.empty()) {
    document["percentiles"] = Json::array();
    for (const OsuRow& row : report.rows) {
      Json one = {{"size_bytes", row.size_bytes}};
      for (std::size_t i = 0; i < row.percentiles.size(); ++i) {
        one["p" + std::to_string(report.line.percentiles[i])] = row.percentiles[i];
      }
      document["percentiles"].push_back(one);
    }
  }
  document["ok"] = report.result.is_ok;
  write_json(option, document);
}

}  // namespace gdrkit::tools::osu
