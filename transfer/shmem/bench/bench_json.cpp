// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/result/result_document.hpp"
#include "transfer/shmem/bench/bench_report.hpp"

namespace gdrkit::tools::pgas {

void write_bench_json(const cli::DocumentOption& option, const BenchReport& report) {
  if (!option.is_given) return;
  const measure::Result result = whole_result(report);
  cli::Json document = measure::head_json(result);
  cli::Json ratios = cli::Json::array();
  for (const CaseResult& one : report.cases) {
    for (const measure::Series& peer : one.peers) {
      cli::Json points = cli::Json::array();
      for (const Ratio& ratio : one.ratios(peer)) points.push_back({{"x", ratio.x}, {"ratio", ratio.value}});
      ratios.push_back({{"series", one.own.id}, {"to", peer.id}, {"points", points}});
    }
  }
  document["series"] = measure::series_json(result.series);
  if (!report.peer_names.empty()) {
    std::string names;
    for (const auto& [library, name] : report.peer_names) names += (names.empty() ? "" : ", ") + name;
    document["peer"] = names;
    document["ratios"] = ratios;
  }
  document["ok"] = report.result.is_ok;
  cli::write_json(option, document);
}

}  // namespace gdrkit::tools::pgas
