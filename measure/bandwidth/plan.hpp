// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Plan: the copies of each cell of a test's matrix, and which of their bytes count.
#pragma once

#include <utility>
#include <vector>

#include "measure/bandwidth/test_case.hpp"

namespace gdrkit::measure::bandwidth {

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
