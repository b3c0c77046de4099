// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/result/result_document.hpp"
#include "transfer/osu/report.hpp"
#include "transfer/report/doctor_json.hpp"

namespace gdrkit::tools::osu {

void write_report_json(const DocumentOption& option, const Report& report) {
  if (!option.is_given) return;
  Json wrong = Json::array();
  std::uint64_t wrong_bytes = 0;
  for (const OsuRow& row : report.rows) {
    wrong_bytes += row.wrong_bytes;
    if (row.wrong_bytes != 0) wrong.push_back(row.size_bytes);
  }
  Json document = measure::head_json(report.result);
  document["series"] = measure::series_json(report.result.series);
  document["validated"] = report.line.validates;
  document["wrong_sizes"] = wrong;
  document["wrong_bytes"] = wrong_bytes;
  document["path"] = report.path;
  document["doctor"] = report::doctor_json(report.doctor);
  if (report.line.test->is_of_all_ranks()) {
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
