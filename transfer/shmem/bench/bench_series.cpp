// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/bench_series.hpp"

#include <cstring>
#include <vector>

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
