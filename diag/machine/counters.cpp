// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/counters.hpp"

#include <cstdlib>
#include <set>

namespace gdrkit::diag {
namespace {

struct PortCounter {
  const char* directory;
  const char* file;
  CounterKind kind;
};

constexpr PortCounter port_counters[] = {
#define GDRKIT_PORT_COUNTER(directory, file, kind) {#directory, file, CounterKind::kind},
#include "diag/machine/port_counters.def"
#undef GDRKIT_PORT_COUNTER
};

struct Severity {
  const char* counter;
  const char* file;
  const char* label;
};

constexpr Severity severities[] = {{"aer_correctable", "aer_dev_correctable", "TOTAL_ERR_COR "},
                                   {"aer_nonfatal", "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL "},
                                   {"aer_fatal", "aer_dev_fatal", "TOTAL_ERR_FATAL "}};

class Reader {
 public:
  explicit Reader(const Machine& machine) : machine_(machine) {}

  Counters read() {
    std::set<std::string> functions;
    std::set<std::string> ports_above;
    const auto take = [&](const PciDevice& device) {
      if (device.address.empty() || !functions.insert(device.address).second) return;
      read_errors(device.address);
      read_link(device);
      if (!device.bridges.empty()) ports_above.insert(device.bridges.back());
    };
    for (const PciDevice& gpu : machine_.gpus) take(gpu);
    for (const Adapter& adapter : machine_.adapters) {
      read_ports(adapter);
      take(adapter.pci);
    }
    for (const std::string& port : ports_above) {
      if (functions.insert(port).second) read_errors(port);
    }
    return std::move(counters_);
  }

 private:
  void read_ports(const Adapter& adapter) {
    for (const std::string& port : machine_.view.names(adapter.directory + "/ports").value) {
      for (const PortCounter& counter : port_counters) {
        const std::string path = adapter.directory + "/ports/" + port + "/" + counter.directory + "/" + counter.file;
        put(path, machine_.view.line(path), "", {adapter.name, port, counter.file}, counter.kind);
      }
    }
  }

  void read_errors(const std::string& address) {
    for (const Severity& severity : severities) {
      const std::string path = "/sys/bus/pci/devices/" + address + "/" + severity.file;
      put(path, machine_.view.text(path), severity.label, {address, "", severity.counter}, CounterKind::error);
    }
  }

  void read_link(const PciDevice& device) {
    const auto speed = machine_.view.line(device.directory + "/current_link_speed");
    const auto width = machine_.view.line(device.directory + "/current_link_width");
    if (speed.is_found() && width.is_found()) counters_.links[device.address] = {speed.value, width.value};
  }

  /// The number after `label` in the text, in decimal.
  void put(const std::string& path, const Fact<std::string>& text, const std::string& label, const CounterName& name,
           CounterKind kind) {
    if (text.is_absent()) return;
    const auto at = text.value.find(label);
    const char* digits = at == std::string::npos ? "" : text.value.c_str() + at + label.size();
    char* end = nullptr;
    const std::uint64_t value = std::strtoull(digits, &end, 10);
    if (text.is_found() && *digits >= '0' && *digits <= '9' && (*end == '\0' || *end == '\n')) {
      counters_.counters[name] = {kind, value};
    } else {
      counters_.not_readable[path] = text.is_found() ? path + ": does not contain a count" : text.reason;
    }
  }

  const Machine& machine_;
  Counters counters_;
};

}  // namespace

const char* name_of(CounterKind kind) {
  constexpr const char* names[] = {"error", "stress", "traffic"};
  return names[static_cast<std::size_t>(kind)];
}

Counters read_counters(const Machine& machine) { return Reader(machine).read(); }

}  // namespace gdrkit::diag
