// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/osu/osu_report.hpp"
#include "transfer/report/result_json.hpp"

namespace gdrkit::transfer::osu {

void write_report_json(const cli::DocumentOption& option, const Report& report) {
  cli::Json wrong = cli::Json::array();
  std::uint64_t wrong_bytes = 0;
  for (const OsuRow& row : report.rows) {
    wrong_bytes += row.wrong_bytes;
    if (row.wrong_bytes != 0) wrong.push_back(row.size_bytes);
  }
  cli::Json fields = {{"validated", report.line.validates},
                      {"wrong_sizes", wrong},
                      {"wrong_bytes", wrong_bytes},
                      {"path", report.path},
                      {"doctor", report::doctor_json(report.doctor)}};
  if (report.line.test->is_of_all_ranks()) {
    fields["extremes"] = cli::Json::array();
    for (const OsuRow& row : report.rows) {
      fields["extremes"].push_back({{"size_bytes", row.size_bytes}, {"least", row.least}, {"largest", row.largest}});
    }
  }
  if (!report.line.percentiles.empty()) {
    fields["percentiles"] = cli::Json::array();
    for (const OsuRow& row : report.rows) {
      cli::Json one = {{"size_bytes", row.size_bytes}};
      for (std::size_t i = 0; i < row.percentiles.size(); ++i) {
        one["p" + std::to_string(report.line.percentiles[i])] = row.percentiles[i];
      }
      fields["percentiles"].push_back(one);
    }
  }
  report::write_result_json(option, report.result, fields);
}

}  // namespace gdrkit::transfer::osu
