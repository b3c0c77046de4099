// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group adapter: the ports of RDMA adapters.
#include <cstdlib>
#include <functional>
#include <map>

#include "tools/doctor/check.hpp"

namespace gdrkit::tools::doctor {
namespace {

using PortCheck = std::function<void(const Adapter&, const std::string& port_folder, const std::string& subject)>;

void for_each_port(const Machine& machine, Findings& findings, const PortCheck& look) {
  for (const Adapter& adapter : adapters_or_skip(machine, findings)) {
    const auto ports = machine.view.names(adapter.folder + "/ports");
    if (!ports.is_found()) findings.add(State::unknown, adapter.name, ports.reason);
    for (const std::string& port : ports.value)
      look(adapter, adapter.folder + "/ports/" + port, adapter.name + ":" + port);
  }
}

}  // namespace

const Advice advice_nic_state = {
    "state and phys_state of each port",
    "the libraries leave out ports that are not active, and take a slower way without a word",
    {"InfiniBand: look at cable and subnet manager (opensm); Ethernet: sudo ip link set INTERFACE up", true, false,
     false, "cat /sys/class/infiniband/ADAPTER/ports/1/state"},
    "a second port without a cable is usual: it is told and no failure",
    {.now = "ip link set INTERFACE up"}};

void check_nic_state(const Machine& machine, Findings& findings) {
  for_each_port(machine, findings, [&](const Adapter&, const std::string& folder, const std::string& subject) {
    const auto state = machine.view.line(folder + "/state");
    if (!state.is_found()) return findings.add(State::unknown, subject, state.reason);
    const auto physical = machine.view.line(folder + "/phys_state");
    const bool is_active = state.value.find("ACTIVE") != std::string::npos;
    const bool is_initialising = state.value.find("INIT") != std::string::npos;
    findings.add(is_active         ? State::ok
                 : is_initialising ? State::fail
                                   : State::warn,
                 subject, "state " + state.value + ", link " + (physical.is_found() ? physical.value : "unknown"));
  });
}

const Advice advice_nic_rate = {
    "rate of each active port, beside ports of adapters with the same board_id",
    "one slower port slows every collective operation that uses it",
    {"look at cable and switch port", false, false, true, "cat /sys/class/infiniband/ADAPTER/ports/1/rate"},
    "adapters of one kind may be wired for different networks"};

void check_nic_rate(const Machine& machine, Findings& findings) {
  std::map<std::string, double> best;
  struct Port {
    std::string subject, board;
    double rate;
  };
  std::vector<Port> ports;
  for_each_port(machine, findings, [&](const Adapter& adapter, const std::string& folder, const std::string& subject) {
    const auto state = machine.view.line(folder + "/state");
    if (state.is_found() && state.value.find("ACTIVE") == std::string::npos) {
      return findings.add(State::skip, subject, "is not active: see nic.state");
    }
    const auto rate = machine.view.line(folder + "/rate");
    const double value = std::strtod(rate.value.c_str(), nullptr);
    if (!rate.is_found() || value <= 0) {
      return findings.add(State::unknown, subject, rate.is_found() ? "'" + rate.value + "' is no rate" : rate.reason);
    }
    const auto board = machine.view.line(adapter.folder + "/board_id");
    ports.push_back({subject, board.value, value});
    best[board.value] = std::max(best[board.value], value);
  });
  for (const Port& port : ports) {
    findings.add(port.rate < best[port.board] ? State::warn : State::ok, port.subject,
                 format("%.0f Gb/s, the best of its kind here %.0f", port.rate, best[port.board]));
  }
}

const Advice advice_nic_sm = {"lid and sm_lid of each InfiniBand port",
                              "without a subnet manager a port has no address and cannot send",
                              {"start a subnet manager (opensm) in the network; sminfo tells where it is", true, false,
                               true, "cat /sys/class/infiniband/ADAPTER/ports/1/sm_lid"},
                              "Ethernet ports have none: they are left out by link_layer"};

void check_nic_sm(const Machine& machine, Findings& findings) {
  for_each_port(machine, findings, [&](const Adapter&, const std::string& folder, const std::string& subject) {
    const auto layer = machine.view.line(folder + "/link_layer");
    if (!layer.is_found()) return findings.add(State::unknown, subject, layer.reason);
    if (layer.value != "InfiniBand")
      return findings.add(State::skip, subject, "is " + layer.value + ", which has no subnet manager");
    const auto own = machine.view.number(folder + "/lid");
    const auto manager = machine.view.number(folder + "/sm_lid");
    if (!own.is_found() || !manager.is_found())
      return findings.add(State::unknown, subject, own.is_found() ? manager.reason : own.reason);
    findings.add(own.value == 0 || manager.value == 0 ? State::fail : State::ok, subject,
                 format("lid %lld, subnet manager's %lld", static_cast<long long>(own.value),
                        static_cast<long long>(manager.value)));
  });
}

}  // namespace gdrkit::tools::doctor
