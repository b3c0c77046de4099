// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/bench_report.hpp"

#include <cstring>
#include <vector>

#include "cli/interface/exit_code.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "transfer/report/result_json.hpp"
#include "transfer/shmem/bench/device_batch.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr double us = 1000;
constexpr double million_each_second = 1000;  // of one for each nanosecond

measure::Series series_of(const std::string& name, const std::string& title, const std::string& library, int n_pes) {
  measure::Series series;
  series.id = "shmem/" + name + "/" + library;
  series.group = name;
  series.title = title + " (" + library + ")";
  series.operation = name;
  series.method = library;
  series.x_name = "size_bytes";
  series.unit = unit_name(Quantity::latency);
  if (n_pes != 2) series.conditions["pes"] = std::to_string(n_pes);
  return series;
}

/// A round's time as what is reported.
double value_of(const Case& one, std::size_t size_bytes, double ns) {
  switch (one.quantity()) {
    case Quantity::bandwidth: return static_cast<double>(size_bytes) / ns;
    case Quantity::rate: return million_each_second * static_cast<double>(operations_each_round(*one.device)) / ns;
    case Quantity::latency: break;
  }
  return ns / us;
}

}  // namespace

std::vector<Ratio> CaseResult::ratios(const measure::Series& peer) const {
  std::vector<Ratio> all;
  for (const measure::Point& point : own.points) {
    const measure::Point* const other = measure::find_point(peer, point.x);
    if (other != nullptr && other->value > 0) all.push_back({point.x, point.value / other->value});
  }
  return all;
}

measure::Result whole_result(const BenchReport& report) {
  measure::Result whole = report.result;
  for (const CaseResult& one : report.cases) {
    whole.series.push_back(one.own);
    whole.series.insert(whole.series.end(), one.peers.begin(), one.peers.end());
  }
  return whole;
}

std::string table_text(const CaseResult& one, const PeerNames& peer_names) {
  const char* const unit = unit_name(one.quantity);
  std::string text = cli::format("#shmem_%s: %s\n%-12s %-8s %16s %12s", one.name.c_str(), one.title.c_str(), "size(B)",
                                 "scope", cli::format("%s (%s)", quantity_name(one.quantity), unit).c_str(), "p99");
  for (const measure::Series& peer : one.peers) {
    text +=
        cli::format(" %18s %10s", cli::format("%s (%s)", peer_names.at(peer.method).c_str(), unit).c_str(), "ratio");
  }
  text += "\n";
  for (const measure::Point& point : one.own.points) {
    const std::string size = one.has_size ? cli::format("%.0f", point.x) : "-";
    const std::string p99 = point.single ? cli::format("%.6f", point.single->p99) : "-";
    text += cli::format("%-12s %-8s %16.6f %12s", size.c_str(), one.scope.c_str(), point.value, p99.c_str());
    for (const measure::Series& peer : one.peers) {
      const measure::Point* const other = measure::find_point(peer, point.x);
      const bool has_ratio = other != nullptr && other->value > 0;
      text += has_ratio ? cli::format(" %18.6f %10.3f", other->value, point.value / other->value)
                        : cli::format(" %18s %10s", "-", "-");
    }
    text += "\n";
  }
  return text + "\n";
}

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
    fields["peer"] = cli::joined(report.peer_names, ", ", [](const auto& peer) { return peer.second; });
    fields["ratios"] = ratios;
  }
  report::write_result_json(option, whole_result(report), fields);
}

const char* unit_name(Quantity quantity) {
  return quantity == Quantity::latency ? "us" : quantity == Quantity::bandwidth ? "GB/s" : "M/s";
}

const char* quantity_name(Quantity quantity) {
  return quantity == Quantity::latency ? "latency" : quantity == Quantity::bandwidth ? "bandwidth" : "rate";
}

measure::Series start_series(const std::string& library, int n_pes) {
  return series_of("start", "from the start of the processes to the end of the first put", library, n_pes);
}

measure::Series case_series(const Case& one, const std::string& library, int n_pes) {
  measure::Series series = series_of(one.name, one.title(), library, n_pes);
  series.operation = one.operation;
  if (*one.memory != '\0') series.conditions["memory"] = one.memory;
  if (*one.completion != '\0') series.conditions["completion"] = one.completion;
  if (std::strcmp(one.scope, "host") != 0) series.conditions["scope"] = one.scope;
  series.unit = unit_name(one.quantity());
  series.is_lower_better = one.quantity() == Quantity::latency;
  return series;
}

measure::Point case_point(const Case& one, std::size_t size_bytes, const measure::Measured& measured,
                          measure::Single single) {
  std::vector<double> rounds;
  for (const double ns : measured.round_ns) rounds.push_back(value_of(one, size_bytes, ns));
  measure::Point point = measure::make_point(static_cast<double>(size_bytes), rounds, measured.operations_per_round);
  if (single.count != 0 && one.quantity() == Quantity::latency) {
    for (double* value : {&single.minimum, &single.p50, &single.p99, &single.p999, &single.maximum}) *value /= us;
    point.single = single;
  }
  return point;
}

}  // namespace gdrkit::transfer::shmem
