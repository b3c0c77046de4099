// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group adapter: the ports of RDMA adapters.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "diag/doctor/check.hpp"
#include "diag/machine/adapter_ports.hpp"
#include "diag/machine/counters.hpp"
#include "diag/machine/environment.hpp"
#include "diag/machine/topology_facts.hpp"

namespace gdrkit::diag::doctor {
namespace {

using PortCheck = std::function<void(const Adapter&, const std::string& port_directory, const std::string& subject)>;

void for_each_port(const Machine& machine, Findings& findings, const PortCheck& check) {
  for (const Adapter& adapter : adapters_or_skip(machine, findings)) {
    const auto ports = machine.view.names(adapter.directory + "/ports");
    if (!ports.is_found()) findings.add(State::unknown, adapter.name, ports.reason);
    for (const std::string& port : ports.value)
      check(adapter, adapter.directory + "/ports/" + port, adapter.name + ":" + port);
  }
}

}  // namespace

const Advice advice_nic_state = {
    "state and phys_state of each port",
    "libraries skip ports that are not active and fall back to a slower path silently",
    {"InfiniBand: check the cable and the subnet manager (opensm); Ethernet: sudo ip link set INTERFACE up", true,
     false, false, "cat /sys/class/infiniband/ADAPTER/ports/PORT/state"},
    "a port that is nearest to no GPU and that no variable names may have no cable: it is reported as info only",
    {.now = "ip link set INTERFACE up",
     .risk = "a port without a cable stays down; the next boot brings the interface up only if the network "
             "configuration names it"}};

namespace {

/// Adapters that would be the best adapter of a GPU if all were active, with that GPU's name.
std::map<std::string, std::string> best_adapters(const Machine& machine) {
  const auto& facts = topology_of(machine);
  const std::vector<bool> all(facts.tree.adapters.size(), true);
  const auto matching = topology::match_adapters(facts.tree, facts.nccl, all);
  std::map<std::string, std::string> adapters;
  for (std::size_t gpu = 0; gpu < matching.gpus.size(); ++gpu) {
    const auto& best = matching.gpus[gpu].adapter;
    if (best.has_value()) adapters.emplace(facts.tree.adapters[*best].name, facts.tree.gpus[gpu].name);
  }
  return adapters;
}

/// Whether a variable names the adapter: "=mlx5_0:1,mlx5_1". What "^" excludes is not named.
std::string naming_variable(const Environment& environment, const std::string& adapter) {
  for (const char* name : {"NCCL_IB_HCA", "UCX_NET_DEVICES", "NVSHMEM_HCA_LIST"}) {
    const Setting* setting = environment.find(name);
    if (setting == nullptr || setting->value.starts_with('^')) continue;
    for (const std::string& word : split(setting->value.substr(setting->value.starts_with('=') ? 1 : 0), ',')) {
      if (word.substr(0, word.find(':')) == adapter) return name;
    }
  }
  return "";
}

}  // namespace

void check_nic_state(const Machine& machine, Findings& findings) {
  std::optional<std::map<std::string, std::string>> nearest;  // computed only if a port is not active
  const Environment environment(machine.view);
  for_each_port(machine, findings,
                [&](const Adapter& adapter, const std::string& directory, const std::string& subject) {
                  const auto state = machine.view.line(directory + "/state");
                  if (!state.is_found()) return findings.add(State::unknown, subject, state.reason);
                  const auto physical = machine.view.line(directory + "/phys_state");
                  const std::string text =
                      "state " + state.value + ", link " + (physical.is_found() ? physical.value : "unknown");
                  if (state.value.find("ACTIVE") != std::string::npos) return findings.add(State::ok, subject, text);
                  if (!nearest.has_value()) nearest = best_adapters(machine);
                  const auto gpu = nearest->find(adapter.name);
                  const std::string variable = naming_variable(environment, adapter.name);
                  const bool is_needed = gpu != nearest->end() || !variable.empty();
                  const bool is_initialising = state.value.find("INIT") != std::string::npos;
                  findings.add(!is_needed        ? State::info
                               : is_initialising ? State::fail
                                                 : State::warn,
                               subject,
                               text + (!variable.empty() ? "; " + variable + " names it"
                                       : is_needed       ? "; nearest to " + gpu->second
                                                         : "; no GPU is nearest to it"));
                });
}

const Advice advice_nic_rate = {"rate of each active port, compared with ports of adapters with the same board_id",
                                "one slow port slows down every collective operation that uses it",
                                {"check the cable and the switch port: they may have negotiated a lower rate", true,
                                 false, true, "cat /sys/class/infiniband/ADAPTER/ports/PORT/rate"},
                                "adapters of one kind may be connected to networks with different rates"};

void check_nic_rate(const Machine& machine, Findings& findings) {
  std::map<std::string, double> best;
  struct Port {
    std::string subject, board;
    double rate;
  };
  std::vector<Port> ports;
  for_each_port(machine, findings,
                [&](const Adapter& adapter, const std::string& directory, const std::string& subject) {
                  const auto state = machine.view.line(directory + "/state");
                  if (state.is_found() && state.value.find("ACTIVE") == std::string::npos) {
                    return findings.add(State::skip, subject, "is not active: see nic.state");
                  }
                  const auto rate = machine.view.line(directory + "/rate");
                  const double value = std::strtod(rate.value.c_str(), nullptr);
                  if (!rate.is_found() || value <= 0) {
                    return findings.add(State::unknown, subject,
                                        rate.is_found() ? "'" + rate.value + "' is not a rate" : rate.reason);
                  }
                  const auto board = machine.view.line(adapter.directory + "/board_id");
                  ports.push_back({subject, board.value, value});
                  best[board.value] = std::max(best[board.value], value);
                });
  for (const Port& port : ports) {
    findings.add(port.rate < best[port.board] ? State::warn : State::ok, port.subject,
                 cli::format("%.0f Gb/s, the best of the same kind here is %.0f", port.rate, best[port.board]));
  }
}

const Advice advice_nic_sm = {"lid and sm_lid of each InfiniBand port",
                              "without a subnet manager a port has no address and cannot send",
                              {"start a subnet manager (opensm) in the network; sminfo shows where it runs", true,
                               false, true, "cat /sys/class/infiniband/ADAPTER/ports/PORT/sm_lid"},
                              "Ethernet ports have no subnet manager: link_layer distinguishes them"};

void check_nic_sm(const Machine& machine, Findings& findings) {
  for_each_port(machine, findings, [&](const Adapter&, const std::string& directory, const std::string& subject) {
    const auto layer = machine.view.line(directory + "/link_layer");
    if (!layer.is_found()) return findings.add(State::unknown, subject, layer.reason);
    if (layer.value != "InfiniBand")
      return findings.add(State::skip, subject, "is " + layer.value + ", which has no subnet manager");
    const auto own = machine.view.number(directory + "/lid");
    const auto manager = machine.view.number(directory + "/sm_lid");
    if (!own.is_found() || !manager.is_found())
      return findings.add(State::unknown, subject, own.is_found() ? manager.reason : own.reason);
    findings.add(own.value == 0 || manager.value == 0 ? State::fail : State::ok, subject,
                 cli::format("lid %lld, lid of the subnet manager %lld", static_cast<long long>(own.value),
                             static_cast<long long>(manager.value)));
  });
}

const Advice advice_nic_fw = {
    "fw_ver of each adapter, compared with adapters with the same board_id",
    "adapters of one kind with different firmware behave differently: faults appear on some machines or ports only",
    {"install one version on all: sudo mlxfwmanager --online -u, then sudo mlxfwreset -d ADDRESS reset or a reboot",
     true, true, true, "cat /sys/class/infiniband/*/fw_ver"},
    "this check does not detect versions that are too old, because the oldest usable version depends on the switches "
    "and the driver"};

void check_nic_fw(const Machine& machine, Findings& findings) {
  std::map<std::string, std::set<std::string>> versions;
  struct Card {
    std::string name, board, version;
  };
  std::vector<Card> cards;
  for (const Adapter& adapter : adapters_or_skip(machine, findings)) {
    const auto version = machine.view.line(adapter.directory + "/fw_ver");
    const auto board = machine.view.line(adapter.directory + "/board_id");
    if (!version.is_found() || board.is_unknown()) {
      findings.add(State::unknown, adapter.name, version.is_found() ? board.reason : version.reason);
      continue;
    }
    const std::string kind =
        board.is_found() ? board.value : cli::format("0x%llx", static_cast<unsigned long long>(adapter.pci.device));
    cards.push_back({adapter.name, kind, version.value});
    versions[kind].insert(version.value);
  }
  for (const Card& card : cards) {
    const std::size_t count = versions[card.board].size();
    findings.add(count > 1 ? State::warn : State::ok, card.name,
                 "firmware " + card.version + (count > 1 ? cli::format(", one of %zu versions of ", count) : " of ") +
                     card.board);
  }
}

const Advice advice_nic_mtu = {
    "mtu of the network interface of each active Ethernet port",
    "RoCE uses packets of 4096 bytes only if the interface has an MTU of 4200 or more; with the default of 1500 it "
    "uses 1024",
    {"sudo ip link set INTERFACE mtu 9000, on both ends and in the switches", true, false, false,
     "cat /sys/class/net/INTERFACE/mtu"},
    "the subnet manager sets the MTU of InfiniBand, which is in no file; EFA has its own packet format",
    {.now = "ip link set INTERFACE mtu 9000",
     .file = "/etc/systemd/system/gdrkit-mtu.service",
     .text =
         GDRKIT_SERVICE("large packets on RoCE interfaces (gdrkit doctor: nic.mtu)",
                        "Wants=network-online.target\nAfter=network-online.target\n", "ip link set INTERFACE mtu 9000"),
     .enable = GDRKIT_ENABLE("gdrkit-mtu.service"),
     .risk =
         "large packets are lost silently unless the switches and the other end accept an MTU of 9000 too; the link "
         "may go down for seconds. Instead of installing the service, you can set the MTU in netplan (mtu: 9000), "
         "NetworkManager (nmcli connection modify NAME 802-3-ethernet.mtu 9000) or systemd-networkd (MTUBytes=9000)"}};

void check_nic_mtu(const Machine& machine, Findings& findings) {
  constexpr std::int64_t for_largest_packets = 4200;
  bool has_ethernet = false;
  for_each_port(machine, findings, [&](const Adapter&, const std::string& directory, const std::string& subject) {
    const auto layer = machine.view.line(directory + "/link_layer");
    const auto state = machine.view.line(directory + "/state");
    if (layer.is_found() && layer.value != "Ethernet") return;
    has_ethernet = true;
    if (!layer.is_found() || !state.is_found()) {
      return findings.add(State::unknown, subject, layer.is_found() ? state.reason : layer.reason);
    }
    if (state.value.find("ACTIVE") == std::string::npos) {
      return findings.add(State::skip, subject, "is not active: see nic.state");
    }
    const auto gids = read_gids(machine.view, directory);
    std::string interface;
    for (const Gid& gid : gids.value) interface = interface.empty() ? gid.interface : interface;
    if (interface.empty() || interface.find('/') != std::string::npos) {
      return findings.add(State::unknown, subject, "its network interface is unknown");
    }
    const auto mtu = machine.view.number("/sys/class/net/" + interface + "/mtu");
    if (!mtu.is_found()) return findings.add(State::unknown, subject, mtu.reason);
    findings.add(mtu.value >= for_largest_packets ? State::ok : State::warn, subject,
                 interface + cli::format(" has mtu %lld", static_cast<long long>(mtu.value)),
                 "sudo ip link set " + interface + " mtu 9000   # on both ends and in the switches");
  });
  if (!has_ethernet && !machine.adapters.empty()) findings.add(State::skip, "", "no adapter port is on Ethernet");
}

const Advice advice_nic_counters = {
    "counters and hw_counters of each port (gdrkit doctor --watch shows which of them grow)",
    "a port that goes down and up again, or retrains its link, delays every connection over it",
    {"reseat or replace the cable and the transceiver, and check the switch port", true, false, true,
     "grep . /sys/class/infiniband/ADAPTER/ports/PORT/counters/*"},
    "they count since the reset of the adapter: only counters that still grow show a current fault; a few errors at "
    "boot are normal"};

void check_nic_counters(const Machine& machine, Findings& findings) {
  constexpr std::uint64_t usual_downs = 5;
  if (adapters_or_skip(machine, findings).empty()) return;
  const Counters all = read_counters(machine);
  for (const auto& [path, reason] : all.not_readable) {
    if (path.starts_with("/sys/class/infiniband/")) findings.add(State::unknown, "", reason);
  }
  struct Port {
    std::string text;
    bool is_bad = false;
    bool has_any = false;
  };
  std::map<std::string, Port> ports;
  for (const auto& [name, counter] : all.counters) {
    if (name.port.empty() || counter.kind != CounterKind::error) continue;
    Port& port = ports[name.device + ":" + name.port];
    port.has_any = true;
    if (counter.value == 0) continue;
    port.text += (port.text.empty() ? "" : ", ") + name.counter +
                 cli::format(" %llu", static_cast<unsigned long long>(counter.value));
    const bool is_link_counter = name.counter == "link_downed" || name.counter == "link_error_recovery";
    port.is_bad = port.is_bad || (is_link_counter && counter.value > usual_downs);
  }
  for (const auto& [subject, port] : ports) {
    findings.add(port.is_bad         ? State::warn
                 : port.text.empty() ? State::ok
                                     : State::info,
                 subject, port.text.empty() ? "counts no errors" : port.text);
  }
}

}  // namespace gdrkit::diag::doctor
