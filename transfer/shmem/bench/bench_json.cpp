// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/report/result_json.hpp"
#include "transfer/shmem/bench/bench_report.hpp"

namespace gdrkit::transfer::shmem {

void write_bench_json(const cli::DocumentOption& option, const BenchReport& report) {
  cli::Json fields = cli::Json::object();
  cli::Json ratios = cli::Json::array();
  for (const CaseResult& one : report.cases) {
    for (const measure::Series& peer : one.peers) {
      cli::Json points = cli::Json::array();
      for (const Ratio& ratio : one.ratios(peer)) points.push_back({{"x", ratio.x}, {"ratio", ratio.value}});
      ratios.push_back({{"series", one.own.id}, {"to", peer.id}, {"points", points}});
    }
  }
  if (!report.peer_names.empty()) {
    std::string names;
    for (const auto& [library, name] : report.peer_names) names += (names.empty() ? "" : ", ") + name;
    fields["peer"] = names;
    fields["ratios"] = ratios;
  }
  report::write_result_json(option, whole_result(report), fields);
}

}  // namespace gdrkit::transfer::shmem
