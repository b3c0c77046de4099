// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "diag/doctor/examination.hpp"
#include "diag/machine/counters.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::diag::doctor {
namespace {

constexpr std::size_t longest_value = 200;

/// The format requires UTF-8: bytes that are not printable ASCII become '?'.
std::string escaped(const std::string& value) {
  std::string text;
  for (const char character : value.substr(0, longest_value)) {
    if (character == '\n') {
      text += "\\n";
    } else if (character == '\\' || character == '"') {
      text += std::string("\\") + character;
    } else {
      text += character < 0x20 || character > 0x7e ? '?' : character;
    }
  }
  return text;
}

using Labels = std::vector<std::pair<const char*, std::string>>;

/// Metrics in the text format that Prometheus' node_exporter reads from a file.
class MetricText {
 public:
  /// Starts a metric; later calls of add() add to it. `type`: gauge or counter.
  void start(const char* name, const char* type, const char* help) {
    name_ = name;
    text_ += "# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " " + type + "\n";
  }

  void add(const Labels& labels, double value) { add_line(labels, cli::format("%.17g", value)); }
  void add(const Labels& labels, unsigned long long value) { add_line(labels, cli::format("%llu", value)); }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  /// Ignores a set of labels that was added before, since a repeated series makes the whole file invalid.
  void add_line(const Labels& labels, const std::string& value) {
    std::string series = name_;
    for (const auto& [name, content] : labels) {
      series += (series == name_ ? "{" : ",") + std::string(name) + "=\"" + escaped(content) + "\"";
    }
    if (!labels.empty()) series += "}";
    if (series_.insert(series).second) text_ += series + " " + value + "\n";
  }

  std::string name_;
  std::string text_;
  std::set<std::string> series_;
};

bool is_figure(double value) { return value > 0 && value < 1000; }

/// Label values come from the machine; the number of series is bounded by the number of its devices.
void add_counters(const Counters& counters, MetricText& metrics) {
  metrics.start("gdrkit_adapter_counter_total", "counter",
                "Counters of the ports of RDMA adapters (kind: error, stress, traffic).");
  for (const auto& [name, counter] : counters.counters) {
    if (name.port.empty()) continue;
    metrics.add(
        {{"adapter", name.device}, {"port", name.port}, {"counter", name.counter}, {"kind", name_of(counter.kind)}},
        static_cast<unsigned long long>(counter.value));
  }
  metrics.start("gdrkit_pcie_errors_total", "counter", "Errors that a PCIe function reported since boot.");
  for (const auto& [name, counter] : counters.counters) {
    if (name.port.empty())
      metrics.add({{"address", name.device}, {"counter", name.counter}},
                  static_cast<unsigned long long>(counter.value));
  }
  metrics.start("gdrkit_pcie_link_width_lanes", "gauge", "Lanes of the link of a GPU or adapter.");
  for (const auto& [address, link] : counters.links) {
    if (const double lanes = std::strtod(link.width.c_str(), nullptr); is_figure(lanes))
      metrics.add({{"address", address}}, lanes);
  }
  metrics.start("gdrkit_pcie_link_speed_gigatransfers_per_second", "gauge",
                "Speed of the link of a GPU or adapter; idle GPUs lower it.");
  for (const auto& [address, link] : counters.links) {
    if (const double speed = std::strtod(link.speed.c_str(), nullptr); is_figure(speed))
      metrics.add({{"address", address}}, speed);
  }
  metrics.start("gdrkit_counters_not_readable", "gauge", "Counters that exist but could not be read.");
  metrics.add({}, static_cast<unsigned long long>(counters.not_readable.size()));
}

}  // namespace

void print_examination_prom(const Examination& examination, const Machine& machine) {
  MetricText metrics;
  metrics.start("gdrkit_doctor_info", "gauge", "The version of gdrkit that wrote these metrics.");
  metrics.add({{"version", gdrkit_version()}}, 1ull);
  metrics.start("gdrkit_doctor_check", "gauge", "1 for the state of each check, which is that of its worst finding.");
  for (const CheckResult& result : examination.results) {
    metrics.add({{"id", result.check->id}, {"group", result.check->group}, {"state", name_of(result.worst())}}, 1ull);
  }
  metrics.start("gdrkit_doctor_findings", "gauge", "Findings by state.");
  for (std::size_t state = 0; state < examination.counts.size(); ++state) {
    metrics.add({{"state", name_of(static_cast<State>(state))}},
                static_cast<unsigned long long>(examination.counts[state]));
  }
  metrics.start(
      "gdrkit_doctor_exit_code", "gauge",
      "Exit code that gdrkit doctor would have returned: 0 no failure, 1 failures, 3 a required fact is unknown.");
  metrics.add({}, static_cast<unsigned long long>(examination.code));
  metrics.start("gdrkit_doctor_devices", "gauge", "Devices that were found and checked.");
  metrics.add({{"kind", "pci"}}, static_cast<unsigned long long>(examination.pci_count));
  metrics.add({{"kind", "gpu"}}, static_cast<unsigned long long>(examination.gpu_count));
  metrics.add({{"kind", "adapter"}}, static_cast<unsigned long long>(examination.adapter_count));
  add_counters(read_counters(machine), metrics);
  std::fputs(metrics.text().c_str(), stdout);
}

}  // namespace gdrkit::diag::doctor
