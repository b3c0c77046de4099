// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/perftest/perftest_report.hpp"

#include <algorithm>
#include <utility>

#include "transfer/report/result_json.hpp"

namespace gdrkit::transfer::perftest {
namespace {

cli::Json row_json(const BandwidthRow& row, bool is_in_gbits) {
  const SharedResult result = shared_result(row, is_in_gbits);
  return {{"MsgSize", row.size_bytes},
          {"n_iterations", row.iterations},
          {"BW_peak", result.peak},
          {"BW_average", result.average},
          {"MsgRate", result.rate}};
}

cli::Json row_json(const LatencyRow& row) {
  return {{"MsgSize", row.size_bytes}, {"n_iterations", row.iterations}, {"t_min", row.minimum},
          {"t_max", row.maximum},      {"t_typical", row.typical},       {"t_avg", row.average},
          {"t_stdev", row.deviation},  {"percentile_99", row.p99},       {"percentile_99.9", row.p999}};
}

}  // namespace

measure::Series series_of(const Report& report) {
  const Settings& settings = report.settings;
  measure::Series series;
  series.group = std::string(settings.test->name) + "/" + report.place;
  series.id = "perftest/" + series.group + "/" + settings.connection + (settings.is_bidirectional ? "/both" : "");
  series.title = title_of(settings) + " (" + settings.connection + ", " + report.place + " memory)";
  series.operation = settings.test->name;
  series.method = "verbs";
  series.conditions = {
      {"connection", settings.connection}, {"memory", report.place}, {"queue_pairs", std::to_string(settings.pairs)}};
  series.x_name = "size_bytes";
  series.unit = settings.test->is_latency() ? "us" : "GB/s";
  series.is_lower_better = settings.test->is_latency();
  for (const BandwidthRow& row : report.bandwidths) {
    std::vector<double> rounds = row.rounds;
    if (rounds.empty()) rounds = {row.average_bytes_per_s};
    for (double& one : rounds) one /= 1e9;
    const std::size_t operations = static_cast<std::size_t>(row.iterations) / rounds.size();
    series.points.push_back(measure::make_point(static_cast<double>(row.size_bytes), std::move(rounds), operations));
  }
  for (const LatencyRow& row : report.latencies) {
    series.points.push_back(measure::make_point(static_cast<double>(row.size_bytes), row.rounds,
                                                static_cast<std::size_t>(row.iterations) / row.rounds.size()));
    series.points.back().single = measure::Single{
        static_cast<std::size_t>(row.iterations), row.minimum, row.typical, row.p99, row.p999, row.maximum};
  }
  return series;
}

void write_report_json(const cli::DocumentOption& option, const Report& report) {
  report::write_result_json(option, report.result,
                            {{"checked", report.is_checked},
                             {"wrong", report.wrong},
                             {"lost", report.lost},
                             {"path", report.path},
                             {"doctor", report::doctor_json(report.doctor)}});
}

void write_out_json(const std::string& path, const Report& report) {
  const Settings& settings = report.settings;
  std::string name = title_of(settings);
  std::ranges::replace(name, ' ', '_');
  cli::Json info = {{"test", name},
                    {"Dual_port", "OFF"},
                    {"Device", settings.device},
                    {"Number_of_qps", settings.pairs},
                    {"Transport_type", "IB"},
                    {"Connection_type", settings.connection},
                    {"Using_SRQ", "OFF"},
                    {"PCIe_relax_order", settings.test->is_ping_pong() ? "OFF" : "ON"},
                    {"ibv_wr_API", "OFF"},
                    {"TX_depth", settings.send_depth}};
  if (!settings.test->is_latency()) info["CQ_Moderation"] = settings.moderation;
  info["Mtu"] = settings.mtu_bytes;
  info["Link_type"] = settings.is_ethernet ? "Ethernet" : "IB";
  info["GID_index"] = settings.gid_index;
  info["Max_inline_data"] = settings.inline_bytes;
  info["rdma_cm_QPs"] = settings.has_cm_pairs ? "ON" : "OFF";
  info["Data_ex_method"] = settings.has_cm_exchange ? "rdma_cm" : "Ethernet";
  // Of several sizes the last one is kept, as in perftest; "all_results" contains all.
  cli::Json all =
      cli::json_list(report.bandwidths, [&](const BandwidthRow& row) { return row_json(row, settings.is_in_gbits); });
  for (const LatencyRow& row : report.latencies) all.push_back(row_json(row));
  cli::Json document = {{"test_info", info}, {"results", all.empty() ? cli::Json::object() : all.back()}};
  if (all.size() > 1) document["all_results"] = all;
  cli::DocumentOption option;
  option.is_given = true;
  option.path = path;
  cli::write_json(option, document);
}

}  // namespace gdrkit::transfer::perftest
