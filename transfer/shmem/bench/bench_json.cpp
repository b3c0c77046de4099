// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/result/result_document.hpp"
#include "transfer/shmem/bench/bench_report.hpp"

namespace gdrkit::tools::shmem {

void write_bench_json(const DocumentOption& option, const BenchReport& report) {
  if (!option.is_given) return;
  const measure::Result result = whole_result(report);
  Json document = measure::head_json(result);
  Json ratios = Json::array();
  for (const CaseResult& one : report.cases) {
    for (const measure::Series& peer : one.peers) {
      Json points = Json::array();
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
  write_json(option, document);
}

}  // namespace gdrkit::tools::shmem
