// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Plan: the copies of each cell of a test's matrix, and which of their bytes count.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gdrkit::measure::bandwidth {

/// The places between which a test copies.
enum class Family { host, pair, all_host, all_to_one, one_to_all, host_latency, pair_latency, local };
enum class Mover { copy_engine, gpu_kernel };
/// forth: to the GPU, back: to the host. read: the runner of the copy is its target, write: its source.
enum class Flow { forth, back, read, write };

/// A line of bandwidth_tests.def.
struct TestCase {
  const char* name;
  Family family;
  Mover mover;
  Flow flow;
  bool is_bidirectional;
  const char* description;

  [[nodiscard]] bool is_latency() const { return family == Family::host_latency || family == Family::pair_latency; }
  [[nodiscard]] bool needs_peers() const {
    return family == Family::pair || family == Family::all_to_one || family == Family::one_to_all ||
           family == Family::pair_latency;
  }
  [[nodiscard]] const char* unit() const { return is_latency() ? "ns" : "GB/s"; }
  /// The title of the matrix in nvbandwidth's terms. The arrow points in the direction of the data.
  [[nodiscard]] std::string title() const;
};

[[nodiscard]] const std::vector<TestCase>& test_cases();

/// Returns all tests if names and prefixes are empty. Names may be indices. The order is that of the names, or of the
/// list for prefixes, without duplicates. Throws Failure(usage) for an unknown name, a prefix without a match, or both
/// kinds at once.
[[nodiscard]] std::vector<const TestCase*> select_tests(const std::vector<std::string>& names,
                                                        const std::vector<std::string>& prefixes);

inline constexpr int host = -1;

/// One copy that runs at the same time as the others of its cell.
struct JobPlan {
  int source = host;      ///< number of the GPU, or host
  int target = host;      ///< the same for the target
  int runner = 0;         ///< the GPU that copies
  double size_share = 1;  ///< of the buffer size
  double gpu_share = 1;   ///< of the GPU's multiprocessors, for GPU kernels
};

/// How a cell's value is computed. first: the first copy's rate. each: the rates of both, and their sum. total: all
/// bytes over the time from the first start to the last end.
enum class Count { first, each, total };

struct CellPlan {
  int row = 0;
  int column = 0;
  std::vector<JobPlan> jobs;  ///< for a latency: one job, whose runner loads from its source
  Count count = Count::first;
};

/// For `devices` GPUs numbered from 0. Cells that need an access for which `reaches(runner, other)` is false are left
/// out; totals omit that part.
template <class Reaches>
[[nodiscard]] std::vector<CellPlan> plan_cells(const TestCase& test, int devices, Reaches&& reaches);

/// The plan for GPUs that all reach each other.
[[nodiscard]] std::vector<CellPlan> plan_all_cells(const TestCase& test, int devices);

template <class Reaches>
std::vector<CellPlan> plan_cells(const TestCase& test, int devices, Reaches&& reaches) {
  std::vector<CellPlan> kept;
  for (CellPlan& cell : plan_all_cells(test, devices)) {
    std::vector<JobPlan> jobs;
    for (const JobPlan& job : cell.jobs) {
      const int other = job.runner == job.source ? job.target : job.source;
      if (other == host || other == job.runner || reaches(job.runner, other)) jobs.push_back(job);
    }
    const bool may_be_partial = cell.count == Count::total;
    if (jobs.empty() || (!may_be_partial && jobs.size() != cell.jobs.size())) continue;
    cell.jobs = std::move(jobs);
    kept.push_back(std::move(cell));
  }
  return kept;
}

}  // namespace gdrkit::measure::bandwidth
