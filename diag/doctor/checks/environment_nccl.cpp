// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group environment: what is set for NCCL's networks, beside what the machine has.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "cli/common/shell_word.hpp"
#include "diag/doctor/checks/environment.hpp"

namespace gdrkit::tools::doctor {
namespace {

constexpr const char* level_variable = "NCCL_NET_GDR_LEVEL";
/// Names that NCCL takes, nearest first; any other text is passed over.
constexpr std::array<const char*, 10> levels = {"LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS"};
/// What numbers mean since NCCL 2.4; larger ones mean the last.
constexpr std::array<const char*, 6> levels_by_number = {"LOC", "PIX", "PXB", "PHB", "SYS", "SYS"};

bool is_below(const std::string& level, const std::string& other) {
  const auto place = [](const std::string& name) {
    return std::find(levels.begin(), levels.end(), name) - levels.begin();
  };
  return place(level) < place(other);
}

/// NVIDIA's Grace, whose GPUs may hang on it by NVLink-C2C.
bool is_grace(const MachineView& view) {
  const auto cpus = view.text("/proc/cpuinfo");
  return labelled(cpus, "CPU implementer").value == "0x41" && labelled(cpus, "CPU part").value == "0xd4f";
}

struct Port {
  std::string device;
  std::string number;
  Fact<std::string> state;  ///< "4: ACTIVE"
  [[nodiscard]] bool is_active() const { return state.value.rfind("4:", 0) == 0; }
};

std::vector<Port> ports_of(const Machine& machine, const std::vector<Adapter>& adapters) {
  std::vector<Port> ports;
  for (const Adapter& adapter : adapters) {
    for (const std::string& number : machine.view.names(adapter.folder + "/ports").value) {
      ports.push_back({adapter.name, number, machine.view.line(adapter.folder + "/ports/" + number + "/state")});
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
    return findings.add(State::fail, setting.name, told(setting) + " leaves no adapter: NCCL takes sockets",
                        removal(setting));
  if (!is_known)
    return findings.add(State::unknown, setting.name,
                        told(setting) + ": the state of a port that it names cannot be read");
  if (!has_active)
    return findings.add(State::fail, setting.name, told(setting) + " leaves only ports that are not active:" + down,
                        removal(setting));
  if (!down.empty() && !filter.is_exclusion)
    findings.add(State::warn, setting.name, told(setting) + " names ports that are not active:" + down);
  for (const auto& token : filter.tokens) {
    std::string meant;
    std::string also;
    for (const Port& port : ports) {
      if (!filter.names(token, port.device)) continue;
      (port.device == token.name ? meant : also) += " " + port.device;
    }
    if (meant.empty() && also.empty())
      findings.add(State::warn, setting.name, told(setting) + ": no adapter is called '" + token.name + "'");
    if (!meant.empty() && !also.empty()) {
      findings.add(
          State::warn, setting.name, told(setting) + ": '" + token.name + "' is the start of more names:" + also,
          "export " + setting.name + "=" +
              shell_word((filter.is_exclusion ? "^=" : "=") + setting.value.substr(filter.is_exclusion ? 1 : 0)));
    }
  }
  if (findings.all().empty() || findings.all().back().subject != setting.name)
    findings.add(State::ok, setting.name, told(setting) + " chooses" + chosen);
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
    "it is the longest way between GPU and adapter on which NCCL lets the adapter reach GPU memory: a wrong one turns "
    "that off, or on where it is slow",
    {"unset NCCL_NET_GDR_LEVEL   # or one of LOC PIX PXB PHB SYS in capitals", false, false, false,
     "NCCL_DEBUG=INFO shows the level that NCCL took"},
    "numbers: 0 LOC, 1 PIX, 2 PXB, 3 PHB, 4 and above SYS; 5 is the loosest and was never PIX"};

void check_env_gdr_level(const Machine& machine, Findings& findings) {
  const auto environment = environment_or_unknown(machine, findings);
  if (!environment) return;
  const Setting* setting = environment->find(level_variable);
  if (setting == nullptr || setting->value.empty())
    return findings.add(State::ok, level_variable, "not set: NCCL chooses");
  const std::string level = nccl_level_of(setting->value);
  if (level.empty()) {
    return findings.add(State::fail, level_variable,
                        told(*setting) + " is no level: NCCL passes it over and says nothing", removal(*setting));
  }
  if (level == "LOC")
    return findings.add(State::warn, level_variable, told(*setting) + " turns GPUDirect RDMA off", removal(*setting));
  if (is_below(level, "P2C") && !machine.gpus.empty() && is_grace(machine.view)) {
    return findings.add(State::fail, level_variable,
                        told(*setting) + " turns GPUDirect RDMA off over the link between Grace and its GPU",
                        removal(*setting));
  }
  if (level == setting->value) return findings.add(State::ok, level_variable, told(*setting));
  findings.add(State::warn, level_variable,
               told(*setting) + " means " + level + (level == std::string("SYS") ? ", the loosest" : ""),
               "unset NCCL_NET_GDR_LEVEL   # or, if this is meant: export NCCL_NET_GDR_LEVEL=" + level);
}

const Advice advice_env_ib_hca = {
    "NCCL_IB_HCA, UCX_NET_DEVICES and NVSHMEM_HCA_LIST beside the adapters, their ports and the network devices of the "
    "system",
    "a name that fits no adapter, or only ports that are down, leaves the library without RDMA: NCCL takes sockets",
    {"export NCCL_IB_HCA==mlx5_0:1,mlx5_1:1   # = for whole names; export UCX_NET_DEVICES=mlx5_0:1, always with the "
     "port",
     false, false, false, "ls /sys/class/infiniband"},
    "to NCCL a name without = is a start of names (mlx5_1 is mlx5_10 too); UCX takes whole names with their port, or "
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
  if (settings.empty()) return findings.add(State::ok, "", "no adapter is chosen by hand");
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
    "each turns a direct way off; left over from a search for a fault they make a job slower by ten times and more",
    {"unset the variable in the job's script, or take its line out of NCCL's file", false, false, false,
     "env | grep NCCL_"},
    "right on machines whose adapters carry storage alone, and while one looks for a fault"};

void check_env_ib_disable(const Machine& machine, Findings& findings) {
  const auto environment = environment_or_unknown(machine, findings);
  if (!environment) return;
  const bool has_adapter = !machine.adapters.empty();
  const auto on = [&](const char* name) { return std::strtoll(value_of(*environment, name).c_str(), nullptr, 0) != 0; };
  const auto complain = [&](State state, const char* name, const char* what) {
    const Setting* setting = environment->find(name);
    findings.add(state, name, told(*setting) + ": " + what, removal(*setting));
  };
  if (on("NCCL_IB_DISABLE")) {
    complain(has_adapter ? State::fail : State::info, "NCCL_IB_DISABLE",
             has_adapter ? "NCCL does not use the RDMA adapters that there are" : "there is no RDMA adapter");
  }
  std::string net = value_of(*environment, "NCCL_NET");
  for (char& character : net) character = static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
  if (net == "socket") {
    complain(has_adapter ? State::fail : State::info, "NCCL_NET",
             has_adapter ? "NCCL does not use the RDMA adapters that there are" : "there is no RDMA adapter");
  }
  if (on("NCCL_P2P_DISABLE"))
    complain(State::warn, "NCCL_P2P_DISABLE", "GPUs of one machine no longer reach each other directly");
  const std::string dmabuf = value_of(*environment, "NCCL_DMABUF_ENABLE");
  if (!dmabuf.empty() && !on("NCCL_DMABUF_ENABLE") && has_adapter) {
    const Outcome module = machine.view.presence("/sys/module/nvidia_peermem/version");
    const Outcome other = machine.view.presence("/sys/kernel/mm/memory_peers/nv_mem/version");
    if (module == Outcome::found || other == Outcome::found) {
      complain(State::info, "NCCL_DMABUF_ENABLE", "the peer-memory module takes its place");
    } else if (module == Outcome::absent && other == Outcome::absent) {
      complain(State::fail, "NCCL_DMABUF_ENABLE",
               "no peer-memory module is loaded, so adapters do not reach GPU memory");
    } else {
      findings.add(
          State::unknown, "NCCL_DMABUF_ENABLE",
          told(*environment->find("NCCL_DMABUF_ENABLE")) + ": whether a peer-memory module is loaded cannot be read");
    }
  }
  if (findings.all().empty()) findings.add(State::ok, "", "no direct way of NCCL is turned off");
}

const Advice advice_env_socket_if = {
    "NCCL_SOCKET_IFNAME beside /sys/class/net and the operstate of each device",
    "NCCL's ranks find each other over this device: without it the job does not start, over a wrong one it hangs",
    {"unset NCCL_SOCKET_IFNAME   # or the device of the default route: export NCCL_SOCKET_IFNAME==eth0", false, false,
     false, "ip -br link"},
    "a name without = is a start of names; each node may call its devices differently"};

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
    // Devices that do not tell their state (lo, tunnels) say unknown.
    (state.value == "down" ? down : chosen) += " " + device;
  }
  if (chosen.empty()) {
    return findings.add(
        State::fail, setting->name,
        told(*setting) + (down.empty() ? " fits no device of /sys/class/net" : " leaves devices that are down:" + down),
        removal(*setting));
  }
  if (!down.empty() && !filter.is_exclusion)
    return findings.add(State::warn, setting->name, told(*setting) + " names devices that are down:" + down);
  findings.add(State::ok, setting->name, told(*setting) + " chooses" + chosen);
}

}  // namespace gdrkit::tools::doctor
