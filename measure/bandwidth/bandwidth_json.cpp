// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <cstdio>

#include "cli/interface/json_document.hpp"
#include "gdrkit/gdrkit.h"
#include "measure/bandwidth/bandwidth_report.hpp"
#include "measure/result/result_document.hpp"

namespace gdrkit::measure::bandwidth {
namespace {

const char* status_name(Status status) {
  switch (status) {
    case Status::passed: return "Passed";
    case Status::waived: return "Waived";
    case Status::error: break;
  }
  return "Error";
}

/// nvbandwidth prints figures as text with six digits.
std::string cell_text(const measure::Point* point) {
  return point == nullptr ? std::string("N/A") : cli::format("%g", point->value);
}

/// Both directions of pairs follow one another in one matrix, as in nvbandwidth. Description and figures are those of
/// the last matrix, their sum.
cli::Json nvbandwidth_test(const TestReport& report, bool is_verbose) {
  cli::Json json{{"name", report.test->name}, {"status", status_name(report.status)}};
  if (report.status == Status::error) json["error"] = report.reason;
  if (report.status == Status::waived) json["reason"] = report.reason;
  for (const measure::Series& matrix : report.matrices) {
    json["bandwidth_description"] = matrix.title;
    for (int row = 0; row < report.rows; ++row) {
      cli::Json cells = cli::Json::array();
      for (int column = 0; column < report.columns; ++column) {
        cells.push_back(cell_text(measure::find_point(matrix, row, column)));
      }
      json["bandwidth_matrix"].push_back(cells);
    }
    const MatrixFigures figures = figures_of(matrix);
    json["sum"] = figures.sum;
    if (!is_verbose) continue;
    json["min"] = figures.minimum;
    json["max"] = figures.maximum;
    json["average"] = figures.average;
  }
  return json;
}

/// "CUDA 13.0, NVIDIA driver 580.159.04" to 13000; 0 for any other text.
int cuda_version(const std::string& text) {
  int major = 0;
  int minor = 0;
  return std::sscanf(text.c_str(), "CUDA %d.%d", &major, &minor) == 2 ? major * 1000 + minor * 10 : 0;
}

std::string driver_version(const std::string& text) {
  const std::string label = "NVIDIA driver ";
  const auto found = text.find(label);
  return found == std::string::npos ? text : text.substr(found + label.size());
}

}  // namespace

void print_nvbandwidth_json(const Report& report, const BandwidthOptions& options) {
  cli::Json root{{"version", std::string("gdrkit ") + gdrkit_version() + " (tests of nvbandwidth v0.8)"},
                 {"git_version", std::string("gdrkit ") + gdrkit_version()},
                 {"CUDA Runtime Version", cuda_version(report.machine.driver_version)},
                 {"Driver Version", driver_version(report.machine.driver_version)}};
  root["GPU Device list"] = cli::Json::array();
  for (std::size_t number = 0; number < report.devices.size(); ++number) {
    root["GPU Device list"].push_back(std::to_string(number) + ": " + report.devices[number]);
  }
  if (!report.note.empty()) root["warning"] = report.note;
  root["testcases"] =
      cli::json_list(report.tests, [&](const TestReport& test) { return nvbandwidth_test(test, options.is_verbose); });
  cli::print_json(cli::Json{{"nvbandwidth", root}});
}

void write_bandwidth_json(const Report& report, const BandwidthOptions& options) {
  cli::Json document = cli::json_head("bandwidth", report.machine, "", report.is_emulated, report.placed.place);
  document["settings"] = {{"buffer_bytes", std::to_string(report.buffer_bytes)},
                          {"copies_per_sample", std::to_string(options.loops)},
                          {"samples", std::to_string(options.samples)},
                          {"value", options.uses_mean ? "mean" : "median"},
                          {"verification", options.skips_verification ? "skipped" : "done"}};
  document["devices"] = report.devices;
  document["tests"] = cli::Json::array();
  std::vector<measure::Series> series;
  for (const TestReport& test : report.tests) {
    const char* results[] = {"passed", "waived", "failed"};
    document["tests"].push_back({{"name", test.test->name},
                                 {"result", results[static_cast<int>(test.status)]},
                                 {"reason", test.reason},
                                 {"note", test.note}});
    series.insert(series.end(), test.matrices.begin(), test.matrices.end());
  }
  document["series"] = series_json(report.sweep ? report.sweep->series : series);
  document["ok"] = !report.has(Status::error);
  cli::write_json(options.json, document);
}

}  // namespace gdrkit::measure::bandwidth
