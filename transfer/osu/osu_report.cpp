// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/osu/osu_report.hpp"

#include <algorithm>
#include <cinttypes>
#include <utility>

#include "cli/interface/exit_code.hpp"
#include "gdrkit/gdrkit.h"
#include "transfer/report/result_json.hpp"

namespace gdrkit::transfer::osu {
namespace {

constexpr int size_width = 10;
constexpr int value_width = 18;
constexpr int iterations_width = 12;
constexpr int width_without_size = 17;

const char* place_text(char place) { return place == 'D' ? "DEVICE (D)" : place == 'M' ? "MANAGED (M)" : "HOST (H)"; }

}  // namespace

std::string head_lines(const LineFormat& line) {
  const bool has_gpu = line.places != "HH";
  const std::string pattern = line.test->title;
  const std::size_t at = pattern.find("%s");
  std::string text = "\n# " + pattern.substr(0, at) + (has_gpu ? "-CUDA" : "") + pattern.substr(at + 2) + " v" +
                     osu_version + " (gdrkit " + gdrkit_version() + ", engine " + line.engine + ")\n";
  if (has_gpu && !line.test->is_of_all_ranks()) {
    text += cli::format("# Send Buffer on %s and Receive Buffer on %s\n", place_text(line.places[0]),
                        place_text(line.places[1]));
  }
  if (line.test->value == Value::rate)
    text += cli::format("# [ pairs: %d ] [ window size: %d ]\n", line.pairs, line.window);
  if (line.test->has_sizes()) {
    text += "# Datatype: MPI_CHAR.\n";
    text += cli::format("%-*s", size_width, "# Size");
  }
  switch (line.test->value) {
    case Value::latency:
      text += line.test->has_sizes()
                  ? cli::format("%*s", value_width, line.test->is_one_sided() ? "Latency (us)" : "Avg Latency(us)")
                  : "# Avg Latency(us)";
      break;
    case Value::bandwidth: text += cli::format("%*s", value_width, "Bandwidth (MB/s)"); break;
    case Value::rate: text += cli::format("%*s%*s", value_width, "MB/s", value_width, "Messages/s"); break;
  }
  if (line.is_full) {
    text += cli::format("%*s%*s%*s", value_width, "Min Latency(us)", value_width, "Max Latency(us)", iterations_width,
                        "Iterations");
  }
  for (const int percentile : line.percentiles) {
    text += cli::format("%*s", value_width, cli::format("P%d Tail Lat(us)", percentile).c_str());
  }
  if (line.validates) text += cli::format("%*s", value_width, "Validation");
  return text + "\n";
}

std::string row_line(const LineFormat& line, const OsuRow& row) {
  std::string text = line.test->has_sizes()
                         ? cli::format("%-*zu%*.2f", size_width, row.size_bytes, value_width, row.value)
                         : cli::format("%*.2f", width_without_size, row.value);
  if (line.test->value == Value::rate) text += cli::format("%*.2f", value_width, row.messages_per_second);
  if (line.is_full) {
    text += cli::format("%*.2f%*.2f%*d", value_width, row.least, value_width, row.largest, iterations_width,
                        row.iterations);
  }
  for (const double value : row.percentiles) text += cli::format("%*.2f", value_width, value);
  if (line.validates) text += cli::format("%*s", value_width, row.wrong_bytes == 0 ? "Pass" : "Fail");
  return text + "\n";
}

std::string wrong_line(const std::vector<OsuRow>& rows) {
  std::uint64_t bytes = 0;
  int sizes = 0;
  for (const OsuRow& row : rows) {
    bytes += row.wrong_bytes;
    sizes += row.wrong_bytes == 0 ? 0 : 1;
  }
  return sizes == 0 ? "" : cli::format("# Wrong bytes: %" PRIu64 ", in %d of %zu sizes\n", bytes, sizes, rows.size());
}

measure::Series series_of(const Report& report) {
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
  for (const OsuRow& row : report.rows) {
    std::vector<double> rounds = row.rounds;
    for (double& value : rounds) value = is_latency ? value : value / 1000;
    const std::size_t operations = static_cast<std::size_t>(row.iterations) / std::max<std::size_t>(rounds.size(), 1);
    series.points.push_back(measure::make_point(static_cast<double>(row.size_bytes), std::move(rounds), operations));
  }
  return series;
}

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
