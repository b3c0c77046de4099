// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The definitions are nvbandwidth's (v0.8): which copies run at the same time, their sizes, and which of them count.
#include "measure/bandwidth/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/number.hpp"
#include "cli/interface/exit_code.hpp"

namespace gdrkit::measure::bandwidth {
namespace {

constexpr const char* list_hint = "; 'gdrkit bandwidth --list' lists all tests";

const TestCase* find_test(const std::string& word) {
  const auto& all = test_cases();
  std::size_t index = 0;
  if (base::parse_number(word, &index)) {
    if (index < all.size()) return &all[index];
    cli::reject(cli::format("unknown test %s: tests are numbered from 0 to %zu", word.c_str(), all.size() - 1) +
                list_hint);
  }
  for (const TestCase& test : all) {
    if (word == test.name) return &test;
  }
  cli::reject("unknown test '" + word + "'" + list_hint);
}

const char* arrow(const TestCase& test) {
  if (test.is_bidirectional || test.is_latency()) return "<->";
  if (test.family == Family::all_to_one) return test.flow == Flow::write ? "<-" : "->";
  if (test.family == Family::one_to_all) return test.flow == Flow::write ? "->" : "<-";
  return test.flow == Flow::forth || test.flow == Flow::write ? "->" : "<-";
}

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

const std::vector<TestCase>& test_cases() {
  static const std::vector<TestCase> all = {
#define GDRKIT_BUS_TEST(name, family, mover, flow, is_bidirectional, description) \
  {#name, Family::family, Mover::mover, Flow::flow, is_bidirectional, description},
#include "measure/bandwidth/bandwidth_tests.def"
#undef GDRKIT_BUS_TEST
  };
  return all;
}

std::string TestCase::title() const {
  const std::string by = mover == Mover::copy_engine ? "CE" : "SM";
  switch (family) {
    case Family::local: return "memcpy local GPU(column) bandwidth (GB/s)";
    case Family::host_latency: return "memory latency SM CPU(row) <-> GPU(column) (ns)";
    case Family::pair_latency: return "Device to Device Latency SM GPU(row) <-> GPU(column) (ns)";
    case Family::host:
    case Family::all_host: return "memcpy " + by + " CPU(row) " + arrow(*this) + " GPU(column) bandwidth (GB/s)";
    case Family::all_to_one:
    case Family::one_to_all: return "memcpy " + by + " GPU(column) " + arrow(*this) + " all others bandwidth (GB/s)";
    case Family::pair: break;
  }
  return "memcpy " + by + " GPU(row) " + arrow(*this) + " GPU(column) bandwidth (GB/s)";
}

std::vector<const TestCase*> select_tests(const std::vector<std::string>& names,
                                          const std::vector<std::string>& prefixes) {
  if (!names.empty() && !prefixes.empty()) {
    cli::reject("cannot combine --testcase with --testcasePrefixes; omit one");
  }
  std::vector<const TestCase*> selected;
  for (const std::string& name : names) {
    // A test given twice, by name and by index, would yield two results of one name, which is invalid in a document.
    const TestCase* const test = find_test(name);
    if (std::ranges::find(selected, test) == selected.end()) selected.push_back(test);
  }
  for (const TestCase& test : test_cases()) {
    bool is_meant = names.empty() && prefixes.empty();
    for (const std::string& prefix : prefixes) is_meant = is_meant || std::string(test.name).rfind(prefix, 0) == 0;
    if (is_meant) selected.push_back(&test);
  }
  if (selected.empty()) cli::reject(std::string("no test name begins with a prefix of --testcasePrefixes") + list_hint);
  return selected;
}

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
