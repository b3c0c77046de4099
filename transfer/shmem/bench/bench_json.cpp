// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/result/result_document.hpp"
#include "transfer/shmem/bench/bench_report.hpp"

namespace gdrkit::tools::pgas {

void write_bench_json(const DocumentOption& option, const BenchReport& report) {
  if (!option.is_given) return;
  Json document = measure::head_json(report.result);
  std::vector<measure::Series> series;
  Json ratios = Json::array();
  for (const CaseResult& one : report.cases) {
    series.push_back(one.own);
    if (!one.peer) continue;
    series.push_back(*one.peer);
    Json points = Json::array();
    for (const Ratio& ratio : one.ratios()) points.push_back({{"x", ratio.x}, {"ratio", ratio.value}});
    ratios.push_back({{"series", one.own.id}, {"to", one.peer->id}, {"points", points}});
  }
  document["series"] = measure::series_json(series);
  if (!report.peer_name.empty()) {
    document["peer"] = report.peer_name;
    document["ratios"] = ratios;
  }
  document["ok"] = report.result.is_ok;
  write_json(option, document);
}

}  // namespace gdrkit::tools::pgas
