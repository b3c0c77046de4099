// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The definitions are nvbandwidth's (v0.8): which copies run at the same time, their sizes, and which of them count.
#include <utility>

#include "measure/bandwidth/plan.hpp"

namespace gdrkit::measure::bandwidth {
namespace {

JobPlan with_host(int device, Flow flow, double size_share, double gpu_share) {
  JobPlan job{device, host, device, size_share, gpu_share};
  if (flow == Flow::forth) std::swap(job.source, job.target);
  return job;
}

Flow other_way(Flow flow) { return flow == Flow::forth ? Flow::back : Flow::forth; }

/// Both directions between a GPU and the host. Copy engines: the interfering copy is twice as large, so that it lasts
/// longer than the counted one. GPU kernels: half of the buffer and of the GPU for each direction.
void add_both_ways(const TestCase& test, int device, bool is_measured, std::vector<JobPlan>* jobs) {
  const bool is_kernel = test.mover == Mover::gpu_kernel;
  const double interfering = is_kernel ? 0.5 : 2;
  const double gpu_share = is_kernel ? 0.5 : 1;
  const double first = is_kernel ? 0.5 : (is_measured ? 1 : 2);
  jobs->push_back(with_host(device, test.flow, first, gpu_share));
  jobs->push_back(with_host(device, other_way(test.flow), interfering, gpu_share));
}

CellPlan host_cell(const TestCase& test, int device) {
  CellPlan cell{0, device, {}, Count::first};
  if (test.is_bidirectional) {
    add_both_ways(test, device, true, &cell.jobs);
  } else {
    cell.jobs.push_back(with_host(device, test.flow, 1, 1));
  }
  return cell;
}

CellPlan all_host_cell(const TestCase& test, int device, int devices) {
  CellPlan cell = host_cell(test, device);
  for (int other = 0; other < devices; ++other) {
    if (other == device) continue;
    if (test.is_bidirectional) {
      add_both_ways(test, other, false, &cell.jobs);
    } else {
      cell.jobs.push_back(with_host(other, test.flow, 2, 1));
    }
  }
  return cell;
}

JobPlan between(int source, int target, Flow flow) {
  return {source, target, flow == Flow::read ? target : source, 1, 1};
}

CellPlan pair_cell(const TestCase& test, int row, int column) {
  if (!test.is_bidirectional) {
    const bool is_read = test.flow == Flow::read;
    return {row, column, {between(is_read ? column : row, is_read ? row : column, test.flow)}, Count::first};
  }
  return {row, column, {between(column, row, test.flow), between(row, column, test.flow)}, Count::each};
}

/// "all to one" and "one to all" state which GPUs run the copies; read or write state the direction of the data.
CellPlan gathering_cell(const TestCase& test, int one, int devices) {
  CellPlan cell{0, one, {}, Count::total};
  const bool is_run_by_one = test.family == Family::one_to_all;
  for (int other = 0; other < devices; ++other) {
    if (other == one) continue;
    const int runner = is_run_by_one ? one : other;
    const int partner = is_run_by_one ? other : one;
    cell.jobs.push_back(test.flow == Flow::write ? between(runner, partner, Flow::write)
                                                 : between(partner, runner, Flow::read));
    // GPU kernels of one GPU share its multiprocessors, because otherwise they would run one after another.
    if (is_run_by_one) cell.jobs.back().gpu_share = 1.0 / (devices - 1);
  }
  return cell;
}

}  // namespace

std::vector<CellPlan> plan_all_cells(const TestCase& test, int devices) {
  std::vector<CellPlan> cells;
  for (int row = 0; row < devices; ++row) {
    switch (test.family) {
      case Family::host: cells.push_back(host_cell(test, row)); break;
      case Family::all_host: cells.push_back(all_host_cell(test, row, devices)); break;
      case Family::all_to_one:
      case Family::one_to_all: cells.push_back(gathering_cell(test, row, devices)); break;
      case Family::local: cells.push_back({0, row, {{row, row, row, 1, 1}}, Count::first}); break;
      case Family::host_latency: cells.push_back({0, row, {{host, row, row, 1, 1}}, Count::first}); break;
      case Family::pair:
      case Family::pair_latency:
        for (int column = 0; column < devices; ++column) {
          if (column == row) continue;
          cells.push_back(test.is_latency() ? CellPlan{row, column, {{column, row, row, 1, 1}}, Count::first}
                                            : pair_cell(test, row, column));
        }
        break;
    }
  }
  return cells;
}

}  // namespace gdrkit::measure::bandwidth
