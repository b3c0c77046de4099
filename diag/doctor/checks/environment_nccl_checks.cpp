// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group environment: NCCL's network settings, compared with the machine.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "cli/interface/shell_word.hpp"
#include "diag/doctor/checks/environment_checks.hpp"
#include "diag/machine/grace.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr const char* level_variable = "NCCL_NET_GDR_LEVEL";
/// Names that NCCL accepts, nearest first. It ignores any other text.
constexpr std::array<const char*, 10> levels = {"LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS"};
/// Meaning of numbers since NCCL 2.4. Larger numbers mean the last.
constexpr std::array<const char*, 6> levels_by_number = {"LOC", "PIX", "PXB", "PHB", "SYS", "SYS"};

bool is_below(const std::string& level, const std::string& other) {
  const auto place = [](const std::string& name) { return std::ranges::find(levels, name) - levels.begin(); };
  return place(level) < place(other);
}

struct Port {
  std::string device;
  std::string number;
  Fact<std::string> state;  ///< "4: ACTIVE"
  [[nodiscard]] bool is_active() const { return state.value.starts_with("4:"); }
};

std::vector<Port> ports_of(const Machine& machine, const std::vector<Adapter>& adapters) {
  std::vector<Port> ports;
  for (const Adapter& adapter : adapters) {
    for (const std::string& number : machine.view.names(adapter.directory + "/ports").value) {
      ports.push_back({adapter.name, number, machine.view.line(adapter.directory + "/ports/" + number + "/state")});
    }
  }
  return ports;
}

void judge_filter(const Setting& setting, const std::vector<Port>& ports, Findings& findings) {
  const NcclFilter filter(setting.value);
  std::string chosen;
  std::string down;
  bool is_known = true;
  bool has_active = false;
  for (const Port& port : ports) {
    bool is_named = false;
    for (const auto& token : filter.tokens) {
      is_named = is_named || (filter.names(token, port.device) && (token.port.empty() || token.port == port.number));
    }
    if (is_named == filter.is_exclusion) continue;
    const std::string name = " " + port.device + ":" + port.number;
    chosen += name;
    is_known = is_known && port.state.is_found();
    has_active = has_active || port.is_active();
    if (port.state.is_found() && !port.is_active()) down += name;
  }
  if (chosen.empty())
    return findings.add(State::fail, setting.name, described(setting) + " selects no adapter: NCCL uses sockets",
                        removal(setting));
  if (!is_known)
    return findings.add(State::unknown, setting.name,
                        described(setting) + ": cannot read the state of a port that it names");
  if (!has_active)
    return findings.add(State::fail, setting.name,
                        described(setting) + " selects only ports that are not active:" + down, removal(setting));
  if (!down.empty() && !filter.is_exclusion)
    findings.add(State::warn, setting.name, described(setting) + " names ports that are not active:" + down);
  for (const auto& token : filter.tokens) {
    std::string meant;
    std::string also;
    for (const Port& port : ports) {
      if (!filter.names(token, port.device)) continue;
      (port.device == token.name ? meant : also) += " " + port.device;
    }
    if (meant.empty() && also.empty())
      findings.add(State::warn, setting.name, described(setting) + ": no adapter has the name '" + token.name + "'");
    if (!meant.empty() && !also.empty()) {
      findings.add(
          State::warn, setting.name, described(setting) + ": '" + token.name + "' is also a prefix of:" + also,
          "export " + setting.name + "=" +
              cli::shell_word((filter.is_exclusion ? "^=" : "=") + setting.value.substr(filter.is_exclusion ? 1 : 0)));
    }
  }
  if (findings.all().empty() || findings.all().back().subject != setting.name)
    findings.add(State::ok, setting.name, described(setting) + " chooses" + chosen);
}

}  // namespace

std::string nccl_level_of(const std::string& text) {
  for (const char* level : levels) {
    if (text == level) return level;
  }
  if (text.empty() || text.front() < '0' || text.front() > '9') return {};
  const unsigned long number = std::strtoul(text.c_str(), nullptr, 0);
  return levels_by_number[std::min<unsigned long>(number, levels_by_number.size() - 1)];
}

bool is_within_nccl_level(const std::string& path, const std::string& level) { return !is_below(level, path); }

const Advice advice_env_gdr_level = {
    "NCCL_NET_GDR_LEVEL in the environment and in NCCL's files",
    "it is the longest path between GPU and adapter on which NCCL uses GPUDirect RDMA: a wrong value turns it off, or "
    "turns it on where it is slow",
    {"unset NCCL_NET_GDR_LEVEL   # or one of LOC PIX PXB PHB SYS in capitals", false, false, false,
     "NCCL_DEBUG=INFO prints the level that NCCL uses"},
    "numbers: 0 LOC, 1 PIX, 2 PXB, 3 PHB, 4 and above SYS; 5 allows the longest path and never meant PIX"};

void check_env_gdr_level(const Machine& machine, Findings& findings) {
  const auto environment = environment_or_unknown(machine, findings);
  if (!environment) return;
  const Setting* setting = environment->find(level_variable);
  if (setting == nullptr || setting->value.empty())
    return findings.add(State::ok, level_variable, "not set: NCCL chooses");
  const std::string level = nccl_level_of(setting->value);
  if (level.empty()) {
    return findings.add(State::fail, level_variable, described(*setting) + " is not a level: NCCL ignores it silently",
                        removal(*setting));
  }
  if (level == "LOC")
    return findings.add(State::warn, level_variable, described(*setting) + " turns GPUDirect RDMA off",
                        removal(*setting));
  if (is_below(level, "P2C") && !machine.gpus.empty() && is_grace(machine.view).value) {
    return findings.add(State::fail, level_variable,
                        described(*setting) + " turns GPUDirect RDMA off over NVLink-C2C between Grace and its GPU",
                        removal(*setting));
  }
  if (level == setting->value) return findings.add(State::ok, level_variable, described(*setting));
  findings.add(State::warn, level_variable,
               described(*setting) + " means " + level + (level == std::string("SYS") ? ", the longest path" : ""),
               "unset NCCL_NET_GDR_LEVEL   # or, if this level is intended: export NCCL_NET_GDR_LEVEL=" + level);
}

const Advice advice_env_ib_hca = {
    "NCCL_IB_HCA, UCX_NET_DEVICES and NVSHMEM_HCA_LIST, compared with the adapters, their ports and the network "
    "devices",
    "if the value matches no adapter, or only ports that are down, the library runs without RDMA: NCCL uses sockets",
    {"export NCCL_IB_HCA='=mlx5_0:1,mlx5_1:1'   # a leading = means exact names; export UCX_NET_DEVICES=mlx5_0:1, "
     "always with the port",
     false, false, false, "ls /sys/class/infiniband"},
    "for NCCL a name without = is a prefix (mlx5_1 matches mlx5_10 too); UCX needs exact names with their port, or "
    "patterns"};

void check_env_ib_hca(const Machine& machine, Findings& findings) {
  const auto environment = environment_or_unknown(machine, findings);
  if (!environment) return;
  const std::size_t before = findings.all().size();
  std::vector<const Setting*> settings;
  for (const char* name : {"NCCL_IB_HCA", "UCX_NET_DEVICES", "NVSHMEM_HCA_LIST"}) {
    const Setting* setting = environment->find(name);
    if (setting != nullptr && !setting->value.empty()) settings.push_back(setting);
  }
  if (settings.empty()) return findings.add(State::ok, "", "no variable selects adapters");
  const auto& adapters = adapters_or_skip(machine, findings);
  if (findings.all().size() != before) return;
  const auto ports = ports_of(machine, adapters);
  for (const Setting* setting : settings) {
    if (setting->name == "UCX_NET_DEVICES") {
      judge_ucx_devices(machine, *setting, findings);
    } else {
      judge_filter(*setting, ports, findings);
    }
  }
}

const Advice advice_env_ib_disable = {
    "NCCL_IB_DISABLE, NCCL_NET, NCCL_P2P_DISABLE, NCCL_DMABUF_ENABLE in the environment and in NCCL's files",
    "each of them turns off a direct path; if they stay set after debugging, a job is ten times slower or more",
    {"unset the variable in the job script, or remove its line from NCCL's file", false, false, false,
     "env | grep NCCL_"},
    "correct on machines whose adapters are for storage only, and while you debug"};

void check_env_ib_disable(const Machine& machine, Findings& findings) {
  const auto environment = environment_or_unknown(machine, findings);
  if (!environment) return;
  const bool has_adapter = !machine.adapters.empty();
  const auto on = [&](const char* name) { return std::strtoll(value_of(*environment, name).c_str(), nullptr, 0) != 0; };
  const auto complain = [&](State state, const char* name, const char* what) {
    const Setting* setting = environment->find(name);
    findings.add(state, name, described(*setting) + ": " + what, removal(*setting));
  };
  if (on("NCCL_IB_DISABLE")) {
    complain(has_adapter ? State::fail : State::info, "NCCL_IB_DISABLE",
             has_adapter ? "NCCL does not use the RDMA adapters of this machine" : "this machine has no RDMA adapter");
  }
  std::string net = value_of(*environment, "NCCL_NET");
  for (char& character : net) character = static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
  if (net == "socket") {
    complain(has_adapter ? State::fail : State::info, "NCCL_NET",
             has_adapter ? "NCCL does not use the RDMA adapters of this machine" : "this machine has no RDMA adapter");
  }
  if (on("NCCL_P2P_DISABLE"))
    complain(State::warn, "NCCL_P2P_DISABLE", "GPUs of one machine do not access each other directly");
  const std::string dmabuf = value_of(*environment, "NCCL_DMABUF_ENABLE");
  if (!dmabuf.empty() && !on("NCCL_DMABUF_ENABLE") && has_adapter) {
    const Outcome module = machine.view.presence("/sys/module/nvidia_peermem/version");
    const Outcome other = machine.view.presence("/sys/kernel/mm/memory_peers/nv_mem/version");
    if (module == Outcome::found || other == Outcome::found) {
      complain(State::info, "NCCL_DMABUF_ENABLE", "NCCL uses the peer-memory module instead");
    } else if (module == Outcome::absent && other == Outcome::absent) {
      complain(State::fail, "NCCL_DMABUF_ENABLE",
               "no peer-memory module is loaded, so adapters cannot access GPU memory");
    } else {
      findings.add(
          State::unknown, "NCCL_DMABUF_ENABLE",
          described(*environment->find("NCCL_DMABUF_ENABLE")) + ": unknown whether a peer-memory module is loaded");
    }
  }
  if (findings.all().empty()) findings.add(State::ok, "", "no setting turns off a direct path of NCCL");
}

const Advice advice_env_socket_if = {
    "NCCL_SOCKET_IFNAME, compared with /sys/class/net and the operstate of each device",
    "NCCL's ranks connect over this network device: if it does not exist, the job does not start; if it is the wrong "
    "one, the job hangs",
    {"unset NCCL_SOCKET_IFNAME   # or use the device of the default route: export NCCL_SOCKET_IFNAME='=eth0'", false,
     false, false, "ip -br link"},
    "a name without = is a prefix; device names may differ from node to node"};

void check_env_socket_if(const Machine& machine, Findings& findings) {
  const auto environment = environment_or_unknown(machine, findings);
  if (!environment) return;
  const Setting* setting = environment->find("NCCL_SOCKET_IFNAME");
  if (setting == nullptr || setting->value.empty())
    return findings.add(State::ok, "NCCL_SOCKET_IFNAME", "not set: NCCL chooses");
  const auto devices = machine.view.names("/sys/class/net");
  if (!devices.is_found()) return findings.add(State::unknown, "/sys/class/net", devices.reason);
  const NcclFilter filter(setting->value);
  std::string chosen;
  std::string down;
  for (const std::string& device : devices.value) {
    bool is_named = false;
    for (const auto& token : filter.tokens) is_named = is_named || filter.names(token, device);
    if (is_named == filter.is_exclusion || (filter.is_exclusion && device == "lo")) continue;
    const auto state = machine.view.line("/sys/class/net/" + device + "/operstate");
    // Devices without a state (lo, tunnels) report "unknown".
    (state.value == "down" ? down : chosen) += " " + device;
  }
  if (chosen.empty()) {
    return findings.add(State::fail, setting->name,
                        described(*setting) + (down.empty() ? " matches no device in /sys/class/net"
                                                            : " selects only devices that are down:" + down),
                        removal(*setting));
  }
  if (!down.empty() && !filter.is_exclusion)
    return findings.add(State::warn, setting->name, described(*setting) + " names devices that are down:" + down);
  findings.add(State::ok, setting->name, described(*setting) + " chooses" + chosen);
}

}  // namespace gdrkit::diag::doctor
