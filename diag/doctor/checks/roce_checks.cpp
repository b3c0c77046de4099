// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group roce: addresses, traffic classes and congestion control of Ethernet adapters.
#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tuple>

#include "base/number.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "diag/doctor/check.hpp"
#include "diag/machine/adapter_ports.hpp"
#include "diag/machine/environment.hpp"

namespace gdrkit::diag::doctor {
namespace {

struct RocePort {
  std::string subject;  ///< mlx5_0:1
  std::string adapter;  ///< its directory
  std::string directory;
  std::string number;
  std::string interface;  ///< of its addresses; "" if unknown
  topology::Fact<std::vector<Gid>> gids;
};

/// Active Ethernet ports. Adds a finding if there are none, and one for each port that could not be judged.
std::vector<RocePort> roce_ports_or_skip(const Machine& machine, Findings& findings) {
  std::vector<RocePort> ports;
  const auto& view = machine.view;
  bool has_ethernet = false;
  const auto& adapters = adapters_or_skip(machine, findings);
  if (adapters.empty()) return ports;
  for (const Adapter& adapter : adapters) {
    const auto numbers = view.names(adapter.directory + "/ports");
    if (!numbers.is_found()) findings.add(State::unknown, adapter.name, numbers.reason);
    for (const std::string& number : numbers.value) {
      const std::string directory = adapter.directory + "/ports/" + number;
      const std::string subject = adapter.name + ":" + number;
      const auto layer = view.line(directory + "/link_layer");
      const auto state = view.line(directory + "/state");
      if (layer.is_found() && layer.value != "Ethernet") continue;
      has_ethernet = true;
      if (!layer.is_found() || !state.is_found()) {
        findings.add(State::unknown, subject, layer.is_found() ? state.reason : layer.reason);
      } else if (state.value.find("ACTIVE") == std::string::npos) {
        findings.add(State::skip, subject, "is not active: see nic.state");
      } else {
        RocePort port{subject, adapter.directory, directory, number, "", read_gids(view, directory)};
        for (const Gid& gid : port.gids.value) {
          if (port.interface.empty()) port.interface = gid.interface;
        }
        ports.push_back(std::move(port));
      }
    }
  }
  if (!has_ethernet) findings.add(State::skip, "", "no adapter port is on Ethernet");
  return ports;
}

std::optional<int> number_of(const std::string& text) {
  int value = 0;
  return base::parse_number(text, &value) ? std::optional(value) : std::nullopt;
}

/// All settings with this name; adds a finding if the settings are unknown.
std::vector<Setting> settings_of(const Environment& environment, std::initializer_list<const char*> names,
                                 Findings& findings) {
  std::vector<Setting> settings;
  if (!environment.variables().is_found()) findings.add_unknown("/proc/self/environ", environment.variables());
  for (const std::string& problem : environment.problems()) findings.add(State::unknown, "", problem);
  for (const char* name : names) {
    if (const Setting* setting = environment.find(name)) settings.push_back(*setting);
  }
  return settings;
}

}  // namespace

const Advice advice_roce_gid = {
    "gids, gid_attrs/types and gid_attrs/ndevs of each active port on Ethernet",
    "RoCE v2 needs a routable address: with version 1 or link-local addresses only, it reaches its own subnet at best",
    {"give the port's interface an address: sudo ip address add IP/LENGTH dev INTERFACE   # and in the network "
     "configuration",
     true, false, false,
     "grep . /sys/class/infiniband/ADAPTER/ports/PORT/gids/* "
     "/sys/class/infiniband/ADAPTER/ports/PORT/gid_attrs/types/*"},
    "a container cannot read the types of the host's GID entries, which are reported as unknown"};

void check_roce_gid(const Machine& machine, Findings& findings) {
  for (const RocePort& port : roce_ports_or_skip(machine, findings)) {
    if (!port.gids.is_found()) {
      findings.add(State::unknown, port.subject, port.gids.reason);
      continue;
    }
    const auto& gids = port.gids.value;
    const auto best = std::ranges::find_if(gids, [](const Gid& gid) { return gid.is_v2() && gid.is_ipv4(); });
    const auto routable =
        std::ranges::find_if(gids, [](const Gid& gid) { return gid.is_v2() && !gid.is_link_local(); });
    const bool has_v2 = std::ranges::any_of(gids, [](const Gid& gid) { return gid.is_v2(); });
    const bool lacks_types = std::ranges::any_of(gids, [](const Gid& gid) { return gid.type.empty(); });
    if (best != gids.end() || routable != gids.end()) {
      const Gid& gid = best != gids.end() ? *best : *routable;
      findings.add(State::ok, port.subject,
                   cli::format("index %u is %s, RoCE v2%s", gid.index, gid.text.c_str(),
                               gid.interface.empty() ? "" : (" of " + gid.interface).c_str()));
    } else if (lacks_types) {
      findings.add(State::unknown, port.subject,
                   "cannot read the RoCE versions of the port's addresses (gid_attrs/types)");
    } else if (gids.empty()) {
      findings.add(State::fail, port.subject, "has no address");
    } else {
      findings.add(State::warn, port.subject,
                   has_v2 ? "has only link-local RoCE v2 addresses" : "has no RoCE v2 address, only version 1");
    }
  }
}

const Advice advice_roce_gid_index = {
    "NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX and NVSHMEM_IB_GID_INDEX, compared with the addresses of each active Ethernet "
    "port",
    "if the GID at this index is empty or RoCE v1 on any adapter, connections fail: ibv_modify_qp returns 'Invalid "
    "argument'",
    {"unset the variable: NCCL since 2.21 and UCX choose a RoCE v2 entry themselves; or set an index that is RoCE v2 "
     "on each adapter",
     false, false, true, "grep . /sys/class/infiniband/ADAPTER/ports/PORT/gid_attrs/types/*"},
    "index 3 is common but not guaranteed: indexes change when addresses are added. If a variable selects adapters, "
    "this is reported as a warning only, because the other adapters do not matter"};

void check_roce_gid_index(const Machine& machine, Findings& findings) {
  const auto ports = roce_ports_or_skip(machine, findings);
  if (ports.empty()) return;
  const Environment environment(machine.view);
  const auto settings =
      settings_of(environment, {"NCCL_IB_GID_INDEX", "UCX_IB_GID_INDEX", "NVSHMEM_IB_GID_INDEX"}, findings);
  for (const Setting& setting : settings) {
    const std::string subject = setting.name + "=" + setting.value;
    if (setting.value == "auto" || setting.value == "-1" || setting.value.empty()) continue;
    const auto index = number_of(setting.value);
    if (!index.has_value() || *index < 0) {
      findings.add(State::warn, subject, "is not an index (" + setting.place() + ")");
      continue;
    }
    const char* choice = setting.name[0] == 'U'   ? "UCX_NET_DEVICES"
                         : setting.name[1] == 'C' ? "NCCL_IB_HCA"
                                                  : "NVSHMEM_HCA_LIST";
    const bool names_adapters = environment.find(choice) != nullptr;
    for (const RocePort& port : ports) {
      const auto& gids = port.gids.value;
      const auto at =
          std::ranges::find_if(gids, [&](const Gid& gid) { return gid.index == static_cast<unsigned>(*index); });
      if (!port.gids.is_found() || (at != gids.end() && at->type.empty())) {
        findings.add(State::unknown, subject, port.subject + ": cannot read its addresses");
      } else if (at != gids.end() && at->is_v2()) {
        findings.add(State::ok, subject, port.subject + ": " + at->text + ", RoCE v2");
      } else {
        findings.add(names_adapters ? State::warn : State::fail, subject,
                     port.subject + (at == gids.end() ? ": that entry is empty" : ": that is " + at->type));
      }
    }
  }
  if (findings.all().empty()) findings.add(State::ok, "", "no variable sets an index");
}

const Advice advice_roce_tc = {
    "NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS and NVSHMEM_IB_TRAFFIC_CLASS, and tc/1/traffic_class of each adapter",
    "switches choose the queue by these bits: packets with another class get no reserved buffer and are dropped first",
    {"set the variables to the adapter's class, or unset them: an adapter's own class replaces that of the program",
     false, false, true, "cat /sys/class/infiniband/ADAPTER/tc/1/traffic_class"},
    "the upper six bits count (106 and 104 are both DSCP 26); the switches define which queue a class uses",
    {},
    {{RecordedPath::Kind::content, "/sys/class/infiniband/*/tc/*/traffic_class", "RoCE: traffic class"}}};

namespace {

/// The class that the adapter sets for all connections ("Global tclass=106"); none if it does not override them.
topology::Fact<std::optional<int>> global_class(const MachineView& view, const RocePort& port) {
  const std::string path = port.adapter + "/tc/" + port.number + "/traffic_class";
  const auto text = view.text(path);
  topology::Fact<std::optional<int>> result{Outcome::found, std::nullopt, text.reason};
  if (text.is_unknown()) result.outcome = text.outcome;
  const std::string label = "Global tclass=";
  const auto at = text.value.find(label);
  if (at == std::string::npos) return result;
  const auto begin = at + label.size();
  result.value = number_of(text.value.substr(begin, text.value.find_first_not_of("0123456789", begin) - begin));
  return result;
}

}  // namespace

void check_roce_tc(const Machine& machine, Findings& findings) {
  const auto ports = roce_ports_or_skip(machine, findings);
  if (ports.empty()) return;
  const Environment environment(machine.view);
  const auto settings =
      settings_of(environment, {"NCCL_IB_TC", "UCX_IB_TRAFFIC_CLASS", "NVSHMEM_IB_TRAFFIC_CLASS"}, findings);
  for (const Setting& setting : settings) {
    const std::string subject = setting.name + "=" + setting.value;
    if (setting.value == "auto" || setting.value == "-1" || setting.value.empty()) continue;
    const auto value = number_of(setting.value);
    if (!value.has_value() || *value < 0 || *value > 255) {
      findings.add(State::warn, subject, "is not a traffic class from 0 to 255 (" + setting.place() + ")");
      continue;
    }
    for (const RocePort& port : ports) {
      const auto global = global_class(machine.view, port);
      if (!global.is_found()) {
        findings.add(State::unknown, subject, global.reason);
      } else if (global.value.has_value() && *global.value >> 2 != *value >> 2) {
        findings.add(State::warn, subject,
                     port.subject +
                         cli::format(" replaces it with its own class %d, DSCP %d", *global.value, *global.value >> 2));
      } else {
        findings.add(State::ok, subject, port.subject + cli::format(": DSCP %d", *value >> 2));
      }
    }
  }
  if (findings.all().empty()) findings.add(State::ok, "", "no variable sets a traffic class");
}

const Advice advice_roce_qos = {
    "ecn/roce_np/enable, ecn/roce_rp/enable and qos/trust of each port's network interface, if the driver shows them",
    "RoCE slows down before packets are lost only if both halves are on: notification (np) and reaction (rp)",
    {"echo 1 | sudo tee /sys/class/net/INTERFACE/ecn/roce_np/enable/PRIORITY "
     "/sys/class/net/INTERFACE/ecn/roce_rp/enable/PRIORITY",
     true, false, false, "grep . /sys/class/net/INTERFACE/ecn/roce_*/enable/*"},
    "priority flow control is in no file, so this check cannot read it: run mlnx_qos -i INTERFACE or dcb pfc show dev "
    "INTERFACE. Networks that tolerate packet loss do not need it",
    {.now = "for priority in 0 1 2 3 4 5 6 7; do\n"
            "  if grep -qs 1 /sys/class/net/INTERFACE/ecn/roce_np/enable/$priority "
            "/sys/class/net/INTERFACE/ecn/roce_rp/enable/$priority; then\n"
            "    echo 1 > /sys/class/net/INTERFACE/ecn/roce_np/enable/$priority\n"
            "    echo 1 > /sys/class/net/INTERFACE/ecn/roce_rp/enable/$priority\n"
            "  fi\n"
            "done",
     .risk = "turns both halves on for each priority that has one; this has an effect only if switches mark packets "
             "(ECN). If a script turns one half off at boot, find it"}};

namespace {

/// Priorities with a 1: "3"; absent if the driver shows none.
Fact<std::set<std::string>> enabled(const MachineView& view, const std::string& directory) {
  const auto names = view.names(directory);
  Fact<std::set<std::string>> priorities{names.outcome, {}, names.reason};
  for (const std::string& name : names.value) {
    const auto value = view.number(directory + "/" + name);
    if (!value.is_found()) return {Outcome::unreadable, {}, value.reason};
    if (value.value != 0) priorities.value.insert(name);
  }
  return priorities;
}

std::string listed(const std::set<std::string>& words) { return words.empty() ? "none" : cli::joined(words, ","); }

}  // namespace

void check_roce_qos(const Machine& machine, Findings& findings) {
  for (const RocePort& port : roce_ports_or_skip(machine, findings)) {
    if (port.interface.empty()) {
      findings.add(State::unknown, port.subject, "its network interface is unknown");
      continue;
    }
    const std::string directory = "/sys/class/net/" + port.interface;
    const auto notifies = enabled(machine.view, directory + "/ecn/roce_np/enable");
    const auto reacts = enabled(machine.view, directory + "/ecn/roce_rp/enable");
    if (!notifies.is_found() || !reacts.is_found()) {
      findings.add(State::unknown, port.subject, notifies.is_found() ? reacts.reason : notifies.reason);
      continue;
    }
    const auto trust = machine.view.line(directory + "/qos/trust");
    const bool is_half = notifies.value != reacts.value;
    const bool is_off = notifies.value.empty();
    std::string command;
    for (const auto& [name, has, other] :
         {std::tuple{"roce_np", notifies.value, reacts.value}, std::tuple{"roce_rp", reacts.value, notifies.value}}) {
      for (const std::string& priority : other) {
        if (has.count(priority) == 0)
          command += cli::format(" %s/ecn/%s/enable/%s", directory.c_str(), name, priority.c_str());
      }
    }
    findings.add(is_half  ? State::warn
                 : is_off ? State::info
                          : State::ok,
                 port.subject,
                 port.interface + ": ECN notifies for priorities " + listed(notifies.value) + ", reacts for " +
                     listed(reacts.value) + (trust.is_found() ? "; trusts " + trust.value : ""),
                 command.empty() ? "" : "echo 1 | sudo tee" + command);
  }
}

}  // namespace gdrkit::diag::doctor
