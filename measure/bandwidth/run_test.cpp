// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <numeric>

#include "measure/bandwidth/bandwidth_report.hpp"
#include "measure/harness/samples.hpp"

namespace gdrkit::measure::bandwidth {
namespace {

/// Why the test cannot run here; "" if it can.
std::string why_waived(const TestCase& test, const Gpus& gpus, const std::vector<CellPlan>& cells) {
  if (test.needs_peers() && gpus.count() < 2)
    return cli::format("it requires two GPUs, but this machine has %d", gpus.count());
  if (test.mover == Mover::gpu_kernel && !gpus.why_no_kernels().empty()) return gpus.why_no_kernels();
  if (cells.empty()) return "no GPU has peer access to another: " + gpus.unreachable_pairs();
  return {};
}

std::string direction_of(const TestCase& test) {
  if (test.family == Family::host || test.family == Family::all_host) {
    return test.flow == Flow::forth ? "to_device" : "from_device";
  }
  return test.family == Family::host_latency ? "from_device" : "device_to_device";
}

std::vector<std::string> suffixes_of(const TestCase& test, std::size_t quantities) {
  if (quantities == 1) return {""};
  const std::string way = test.flow == Flow::read ? "_read" : "_write";
  return {way + "1", way + "2", "_total"};
}

std::string title_of(const TestCase& test, const std::string& suffix) {
  std::string title = test.title();
  if (suffix.empty()) return title;
  std::string word = suffix.substr(1);
  word[0] = static_cast<char>(word[0] - 'a' + 'A');
  return title.insert(title.rfind(" bandwidth"), " " + word);
}

}  // namespace

bool Report::has(Status status) const {
  return std::ranges::any_of(tests, [=](const TestReport& test) { return test.status == status; });
}

std::vector<measure::Series> make_matrices(const TestCase& test, const std::vector<CellValues>& cells,
                                           const BandwidthOptions& options, std::size_t buffer_bytes) {
  std::vector<measure::Series> matrices;
  if (cells.empty()) return matrices;
  const std::vector<std::string> suffixes = suffixes_of(test, cells.front().samples.size());
  for (std::size_t index = 0; index < suffixes.size(); ++index) {
    measure::Series series;
    series.id = test.name + suffixes[index];
    series.group = test.name;
    series.title = title_of(test, suffixes[index]);
    series.operation = test.is_latency() ? "load" : "copy";
    series.direction = direction_of(test);
    series.method = test.mover == Mover::copy_engine ? "copy_engine" : "gpu_kernel";
    series.conditions = {{"buffer_bytes", std::to_string(test.is_latency() ? latency_buffer_bytes : buffer_bytes)}};
    series.x_name = "row";
    series.y_name = "column";
    series.unit = test.unit();
    series.is_lower_better = test.is_latency();
    for (const CellValues& cell : cells) {
      measure::Point point = measure::make_point(cell.row, cell.samples[index],
                                                 test.is_latency() ? 1 : static_cast<std::size_t>(options.loops));
      point.y = cell.column;
      if (options.uses_mean) {
        point.value =
            std::accumulate(point.rounds.begin(), point.rounds.end(), 0.0) / static_cast<double>(point.rounds.size());
      }
      series.points.push_back(std::move(point));
    }
    matrices.push_back(std::move(series));
  }
  return matrices;
}

MatrixFigures figures_of(const measure::Series& matrix) {
  MatrixFigures figures;
  if (matrix.points.empty()) return figures;
  figures.minimum = figures.maximum = matrix.points.front().value;
  for (const measure::Point& point : matrix.points) {
    figures.sum += point.value;
    figures.minimum = std::min(figures.minimum, point.value);
    figures.maximum = std::max(figures.maximum, point.value);
  }
  figures.average = figures.sum / static_cast<double>(matrix.points.size());
  return figures;
}

TestReport run_test(const TestCase& test, Gpus* gpus, CellRun* run, const BandwidthOptions& options) {
  TestReport report;
  report.test = &test;
  report.columns = gpus->count();
  report.rows = test.family == Family::pair || test.family == Family::pair_latency ? gpus->count() : 1;
  const auto cells =
      plan_cells(test, gpus->count(), [&](int runner, int other) { return gpus->reaches(runner, other); });
  report.reason = why_waived(test, *gpus, cells);
  if (!report.reason.empty()) {
    report.status = Status::waived;
    return report;
  }
  if (test.needs_peers() && !gpus->unreachable_pairs().empty()) {
    report.note = "no peer access, so left out: " + gpus->unreachable_pairs();
  }
  try {
    std::vector<CellValues> values;
    for (const CellPlan& cell : cells) values.push_back(run->run(test, cell));
    report.matrices = make_matrices(test, values, options, run->options().buffer_bytes);
  } catch (const cli::Failure& failure) {
    report.status = Status::error;
    report.reason = failure.what();
  }
  return report;
}

}  // namespace gdrkit::measure::bandwidth
