// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/adapter_ports.hpp"

#include <algorithm>
#include <cstdlib>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::diag {
namespace {

constexpr std::size_t most_ports = 16;

/// "400 Gb/sec (4X NDR)"
topology::Fact<double> read_rate(const topology::MachineView& view, const std::string& path) {
  const auto line = view.line(path);
  if (!line.is_found()) return topology::pass<double>(line);
  const double rate = std::strtod(line.value.c_str(), nullptr);
  if (rate > 0 && rate < 1e6 && line.value.find(" Gb/sec") != std::string::npos) return topology::found(rate);
  return {topology::Outcome::malformed, 0, path + ": '" + line.value + "' is not a rate"};
}

AdapterPorts read_one(const topology::MachineView& view, const std::string& name) {
  AdapterPorts adapter;
  adapter.name = name;
  const std::string folder = "/sys/class/infiniband/" + name;
  adapter.guid = view.line(folder + "/node_guid");
  const auto numbers = view.names(folder + "/ports");
  if (!numbers.is_found()) adapter.unread = numbers.reason;
  for (const std::string& number : numbers.value) {
    if (adapter.ports.size() == most_ports) break;
    const std::string port = folder + "/ports/" + number;
    adapter.ports.push_back(
        {number, view.line(port + "/state"), read_rate(view, port + "/rate"), view.line(port + "/link_layer")});
  }
  return adapter;
}

void judge(AdapterPorts& adapter, double best) {
  std::string unread = adapter.unread;
  bool is_active = false;
  for (const AdapterPort& port : adapter.ports) {
    if (!port.state.is_found()) unread = port.state.reason;
    if (!port.is_active()) continue;
    is_active = true;
    if (!port.rate_gbit_per_s.is_found()) {
      unread = port.rate_gbit_per_s.reason;
    } else if (port.rate_gbit_per_s.value * 2 >= best) {
      adapter.usable = Usable::yes;
      return;
    }
  }
  adapter.usable = unread.empty() ? Usable::no : Usable::unknown;
  adapter.why = !unread.empty() ? unread
                : is_active     ? cli::format("%.0f Gb/s is less than half of the best %.0f", adapter.best_rate(), best)
                                : "no port is active";
}

}  // namespace

double AdapterPorts::best_rate() const {
  double best = 0;
  for (const AdapterPort& port : ports) {
    if (port.is_active()) best = std::max(best, port.rate_gbit_per_s.value);
  }
  return best;
}

std::vector<AdapterPorts> read_adapter_ports(const topology::MachineView& view, const std::vector<std::string>& names) {
  std::vector<AdapterPorts> all;
  double best = 0;
  for (const std::string& name : names) {
    all.push_back(read_one(view, name));
    best = std::max(best, all.back().best_rate());
  }
  for (AdapterPorts& adapter : all) judge(adapter, best);
  return all;
}

}  // namespace gdrkit::diag
