// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The text output, in nvbandwidth's format.
#include <cstdio>

#include "cli/interface/wrapped_text.hpp"
#include "gdrkit/gdrkit.h"
#include "measure/bandwidth/bandwidth_report.hpp"

namespace gdrkit::measure::bandwidth {
namespace {

void print_matrix(const TestReport& report, const measure::Series& matrix, const BandwidthOptions& options) {
  std::printf("%s\n ", matrix.title.c_str());
  for (int column = 0; column < report.columns; ++column) std::printf("%10d", column);
  std::printf("\n");
  for (int row = 0; row < report.rows; ++row) {
    std::printf("%2d", row);
    for (int column = 0; column < report.columns; ++column) {
      const measure::Point* point = measure::find_point(matrix, row, column);
      std::printf("%10s", point == nullptr ? "N/A" : cli::format("%.2f", point->value).c_str());
    }
    std::printf("\n");
  }
  const MatrixFigures figures = figures_of(matrix);
  std::printf("\nSUM %s %.2f\n", matrix.id.c_str(), figures.sum);
  if (!options.is_verbose) return;
  std::printf("MIN %s %.2f\nMAX %s %.2f\nAVG %s %.2f\n", matrix.id.c_str(), figures.minimum, matrix.id.c_str(),
              figures.maximum, matrix.id.c_str(), figures.average);
}

void print_samples(const measure::Series& matrix) {
  for (const measure::Point& point : matrix.points) {
    for (std::size_t number = 0; number < point.rounds.size(); ++number) {
      std::printf("\tSample %zu: row %d, column %d: %.2f %s\n", number, static_cast<int>(point.x),
                  static_cast<int>(*point.y), point.rounds[number], matrix.unit.c_str());
    }
  }
}

}  // namespace

void print_list() {
  std::printf("Index, Name:\n\tDescription\n=======================\n");
  for (std::size_t index = 0; index < test_cases().size(); ++index) {
    std::printf("%zu, %s:\n\t%s\n\n", index, test_cases()[index].name, test_cases()[index].description);
  }
}

void print_head(const Report& report, const BandwidthOptions& options) {
  std::printf("gdrkit bandwidth %s: the tests of nvbandwidth 0.8, under the same names\n", gdrkit_version());
  const std::string head = cli::format("%s; buffers of %zu MiB, %d copies per sample, %s of %d samples, %s",
                                       report.machine.driver_version.c_str(), report.buffer_bytes >> 20, options.loops,
                                       options.uses_mean ? "mean" : "median", options.samples,
                                       options.skips_verification ? "data not checked" : "data checked");
  std::printf("%s\n", cli::fitted(head, 2).c_str());
  for (std::size_t number = 0; number < report.devices.size(); ++number) {
    std::printf("Device %zu: %s\n", number, report.devices[number].c_str());
  }
  if (options.numa.numa != "all") cli::print_place(report.placed);
  if (options.numa.numa == "auto" && !options.numa.no_bind && report.devices.size() > 1) {
    std::printf("this is the node of device 0; each device is measured from its own node\n");
  }
  std::printf("\n");
}

void print_test_begin(const TestCase& test) {
  std::printf("Running %s.\n", test.name);
  std::fflush(stdout);
}

void print_test_end(const TestReport& report, const BandwidthOptions& options) {
  if (report.status == Status::waived) std::printf("%s\n", cli::fitted("Waived: " + report.reason, 2).c_str());
  if (report.status == Status::error) std::printf("%s\n", cli::fitted("ERROR: " + report.reason, 2).c_str());
  for (const measure::Series& matrix : report.matrices) {
    if (options.is_verbose) print_samples(matrix);
    print_matrix(report, matrix, options);
  }
  if (!report.note.empty()) std::printf("%s\n", cli::fitted(report.note, 2).c_str());
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace gdrkit::measure::bandwidth
