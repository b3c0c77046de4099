// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group topology: whether each GPU has an adapter near it, and whether the path between them is wide enough.
#include <algorithm>
#include <map>

#include "diag/doctor/check.hpp"
#include "diag/machine/topology_facts.hpp"
#include "diag/topology/pci_tree.hpp"

namespace gdrkit::diag::doctor {
namespace {

using topology::Distance;
using topology::PathClass;
using topology::TreeDevice;

constexpr std::int64_t data_direct_class = 0x080100;

/// A guest whose devices are all on root buses, as hypervisors present them: the tree does not describe the machine.
bool is_flat_guest(const Machine& machine, const topology::PciTree& tree) {
  const auto is_flat = [](const TreeDevice& device) { return device.real_path.is_found() && device.bridges.empty(); };
  return machine.is_guest.value && std::ranges::all_of(tree.gpus, is_flat) &&
         std::ranges::all_of(tree.adapters, is_flat);
}

/// Returns false after adding a finding with the reason why no pair can be judged.
bool has_pairs(const Machine& machine, const TopologyFacts& facts, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty() || adapters_or_skip(machine, findings).empty()) return false;
  if (facts.tree.adapters.empty()) {
    findings.add(State::skip, "", "no RDMA adapter is a PCI device");
    return false;
  }
  if (is_flat_guest(machine, facts.tree)) {
    findings.add(State::skip, "", "this virtual machine shows no bridges, so distances are unknown: see topo.vm_flat");
    return false;
  }
  return true;
}

/// The first usable adapter whose distance to `gpu` satisfies the predicate; the number of adapters if there is none.
template <class Is>
std::size_t find_adapter(const TopologyFacts& facts, std::size_t gpu, Is is) {
  std::size_t i = 0;
  while (i < facts.ports.size() && (facts.ports[i].usable == Usable::no || !is(facts.nccl.gpu_adapter(gpu, i).value))) {
    ++i;
  }
  return i;
}

/// Why the distances of adapters are unknown without NVLink and C2C; "" if those would not matter.
std::string open_question(const Machine& machine, const TopologyFacts& facts, std::size_t gpu) {
  if (facts.links.is_known) return "";
  if (machine.view.text("/proc/cpuinfo").value.find("CPU implementer") != std::string::npos) {
    return "a C2C link may lead to it (" + facts.links.why_not + ")";
  }
  for (std::size_t other = 0; other < facts.tree.gpus.size(); ++other) {
    const auto near = [](PathClass value) { return value != PathClass::unknown && value <= PathClass::pxb; };
    const std::size_t adapter = other == gpu ? facts.ports.size() : find_adapter(facts, other, near);
    if (adapter == facts.ports.size()) continue;
    return "NVLink and " + facts.tree.gpus[other].name + " may lead to " + facts.ports[adapter].name + " (" +
           facts.links.why_not + ")";
  }
  return "";
}

/// A function of a ConnectX-8 (Data Direct) behind the GPU's switch that carries the adapter's data over its own path;
/// "" if none. NCCL uses it if the adapter offers it (NCCL_IB_DATA_DIRECT).
std::string data_direct_near(const Machine& machine, const TopologyFacts& facts, const TreeDevice& gpu) {
  if (gpu.bridges.size() < 2) return "";
  const std::string above = facts.tree.bridges[gpu.bridges[gpu.bridges.size() - 2]].name + "/";
  for (const std::string& name : machine.mellanox) {
    const std::string directory = "/sys/bus/pci/devices/" + name;
    if (machine.view.number(directory + "/class").value != data_direct_class) continue;
    if (machine.view.resolved(directory).value.find("/" + above) != std::string::npos) return name;
  }
  return "";
}

void judge_pair(const Machine& machine, const TopologyFacts& facts, std::size_t gpu, Findings& findings) {
  const std::string& subject = facts.tree.gpus[gpu].function.name;
  const topology::BestAdapter& best = facts.matching.gpus[gpu];
  if (!best.adapter.has_value()) {
    const bool is_open =
        std::ranges::any_of(facts.ports, [](const AdapterPorts& adapter) { return adapter.usable != Usable::no; });
    return findings.add(is_open ? State::unknown : State::warn, subject, best.why);
  }
  const AdapterPorts& ports = facts.ports[*best.adapter];
  const std::string text = ports.name + " is " + topology::name_of(best.nearness) + " (" + best.why + ")";
  if (ports.usable == Usable::unknown) return findings.add(State::unknown, subject, ports.why);
  if (best.nearness <= PathClass::chip_host) return findings.add(State::ok, subject, text);
  if (const std::string function = data_direct_near(machine, facts, facts.tree.gpus[gpu]); !function.empty()) {
    return findings.add(State::ok, subject, "Data Direct function " + function + " is behind the GPU's switch");
  }
  const std::size_t relayed = find_adapter(facts, gpu, [](PathClass value) { return value == PathClass::nvlink_nic; });
  if (relayed < facts.ports.size()) {
    return findings.add(
        State::info, subject,
        text + "; NCCL goes to " + facts.ports[relayed].name + " through NVLink and a GPU near it (PXN)");
  }
  const std::string open = open_question(machine, facts, gpu);
  findings.add(open.empty() ? State::warn : State::unknown, subject, open.empty() ? text : text + ", but " + open);
}

void judge_width(const Machine& machine, const TopologyFacts& facts, std::size_t gpu, Findings& findings) {
  const TreeDevice& device = facts.tree.gpus[gpu];
  const std::string& subject = device.function.name;
  const auto& best = facts.matching.gpus[gpu];
  if (!best.adapter.has_value()) return findings.add(State::skip, subject, best.why + ": see topo.pair");
  const AdapterPorts& ports = facts.ports[*best.adapter];
  if (ports.best_rate() <= 0) return findings.add(State::unknown, subject, ports.why);
  if (best.nearness == PathClass::chip_host) {
    return findings.add(State::skip, subject, "the path to the adapter is C2C, not the GPU's PCIe link");
  }
  if (best.nearness > PathClass::pxb && !data_direct_near(machine, facts, device).empty()) {
    return findings.add(State::skip, subject, "Data Direct uses another path to the adapter");
  }
  const std::string open = best.nearness > PathClass::pxb ? open_question(machine, facts, gpu) : "";
  if (!open.empty()) return findings.add(State::unknown, subject, ports.name + ": " + open);
  const topology::NarrowestLink narrowest =
      topology::narrowest_link(facts.tree, device, facts.tree.adapters[*best.adapter]);
  if (!narrowest.unread.empty()) {
    return machine.is_guest.value ? findings.add(State::skip, subject, "this virtual machine does not see the link")
                                  : findings.add(State::unknown, subject, narrowest.unread);
  }
  // Packet headers use a seventh of the bandwidth. Below this ratio the link is too narrow for the port.
  const double ratio = narrowest.gbit_per_s / ports.best_rate();
  findings.add(ratio < 1      ? State::warn
               : ratio < 1.15 ? State::info
                              : State::ok,
               subject,
               cli::format("%s has %.0f Gb/s, the narrowest link to it %.0f Gb/s (%s)", ports.name.c_str(),
                           ports.best_rate(), narrowest.gbit_per_s, narrowest.where.c_str()));
}

}  // namespace

const Advice advice_topo_pair = {
    "the path of each GPU and of each adapter with an active port in /sys/devices; NVLink and C2C at level probe",
    "NCCL turns GPUDirect RDMA off beyond PXB (P2C with a C2C link): data then goes through host memory, silently",
    {"move the adapter to a slot behind the GPU's switch; if there is none: measure with NCCL_NET_GDR_LEVEL=PHB (or "
     "SYS), and keep the setting if it is faster",
     true, false, true, "gdrkit topo --as all"},
    "RDMA also works across a host bridge if a library is configured to use it; on some processors it is slower than "
    "host memory"};

void check_topo_pair(const Machine& machine, Findings& findings) {
  const TopologyFacts& facts = topology_of(machine);
  if (!has_pairs(machine, facts, findings)) return;
  for (std::size_t gpu = 0; gpu < facts.tree.gpus.size(); ++gpu) judge_pair(machine, facts, gpu, findings);
}

const Advice advice_topo_balance = {
    "which GPUs and which of the fastest adapters share a PCIe switch",
    "if one switch has more GPUs per adapter than another, collective operations wait for that switch",
    {"use as many GPUs of each switch as it has adapters for, or move adapters; NVLink lets NCCL share adapters (PXN)",
     false, false, true, "gdrkit topo"},
    "adapters that are slower than the fastest count as storage adapters and are ignored"};

void check_topo_balance(const Machine& machine, Findings& findings) {
  const TopologyFacts& facts = topology_of(machine);
  if (!has_pairs(machine, facts, findings)) return;
  double best_rate = 0;
  for (const AdapterPorts& ports : facts.ports) best_rate = std::max(best_rate, ports.best_rate());
  // The adapters behind a GPU's switch identify its group: GPUs with the same adapters form one group.
  std::map<std::vector<std::size_t>, std::vector<std::size_t>> groups;
  for (std::size_t gpu = 0; gpu < facts.tree.gpus.size(); ++gpu) {
    std::vector<std::size_t> near;
    for (std::size_t i = 0; i < facts.tree.adapters.size(); ++i) {
      const Distance distance = topology::transfer_distance(facts.tree, facts.nccl, gpu, i);
      const AdapterPorts& ports = facts.ports[i];
      if (ports.usable == Usable::unknown) return findings.add(State::unknown, ports.name, ports.why);
      if (ports.usable == Usable::no || ports.best_rate() < best_rate) continue;
      if (distance.value == PathClass::unknown) return findings.add(State::unknown, ports.name, distance.why);
      if (distance.value <= PathClass::pxb) near.push_back(i);
    }
    groups[near].push_back(gpu);
  }
  if (groups.size() == 1 && groups.begin()->first.empty()) {
    return findings.add(State::skip, "", "no GPU shares a switch with an adapter: see topo.pair");
  }
  const auto& first = *std::ranges::find_if(groups, [](const auto& group) { return !group.first.empty(); });
  const auto is_even = [&](const auto& group) {
    return group.second.size() * first.first.size() == first.second.size() * group.first.size();
  };
  if (std::ranges::all_of(groups, is_even)) {
    return findings.add(
        State::ok, "",
        cli::format("%zu group(s) behind switches, each with %zu GPU(s) for %zu adapter(s) or in that ratio",
                    groups.size(), first.second.size(), first.first.size()));
  }
  for (const auto& group : groups) {
    const auto& [adapters, gpus] = group;
    const bool is_one = gpus.size() == 1;
    findings.add(is_even(group) ? State::ok : State::warn,
                 facts.tree.gpus[gpus.front()].name + (is_one ? "" : " to " + facts.tree.gpus[gpus.back()].name),
                 cli::format("%zu GPU(s) share a switch with %zu adapter(s), elsewhere %zu with %zu", gpus.size(),
                             adapters.size(), first.second.size(), first.first.size()));
  }
}

const Advice advice_topo_vm_flat = {
    "whether the GPUs and adapters of a virtual machine are behind bridges, and whether a topology file of NCCL exists",
    "if the hypervisor shows no switches, libraries treat all devices as equally far and choose adapters blindly",
    {"get the topology file for this kind of machine from its provider, and export NCCL_TOPO_FILE=/path/to/it.xml",
     false, false, false, "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=GRAPH prints the file that it loads"},
    "a file for another kind of machine is worse than no file; some providers do show their switches"};

void check_topo_vm_flat(const Machine& machine, Findings& findings) {
  if (machine.is_guest.is_unknown()) return findings.add_unknown("", machine.is_guest);
  if (!machine.is_guest.value) return findings.add(State::skip, "", "this is not a virtual machine");
  if (gpus_or_skip(machine, findings).empty() || adapters_or_skip(machine, findings).empty()) return;
  const topology::PciTree tree = topology::read_pci_tree(machine.view);
  for (const auto* devices : {&tree.gpus, &tree.adapters}) {
    for (const TreeDevice& device : *devices) {
      if (!device.real_path.is_found()) return findings.add_unknown(device.name, device.real_path);
    }
  }
  if (!is_flat_guest(machine, tree)) return findings.add(State::ok, "", "GPUs and adapters are behind bridges");
  const std::string usual = "/var/run/nvidia-topologyd/virtualTopology.xml";
  const auto file = machine.view.node(usual);
  if (file.is_found()) return findings.add(State::ok, usual, "gives NCCL the topology that PCI does not show");
  if (file.is_unknown()) return findings.add_unknown(usual, file);
  findings.add(
      State::warn, "",
      cli::format("%zu GPU(s) and %zu adapter(s), not behind any bridge", tree.gpus.size(), tree.adapters.size()));
}

const Advice advice_pcie_path_min = {
    "speed and width of every link between each GPU and its best adapter, and the rate of the adapter's port",
    "the narrowest link on the path limits the transfer rate between adapter and GPU",
    {"put the adapter into a slot with more lanes or of a newer generation: 400 Gb/s needs 16 lanes of PCIe 5, 200 "
     "Gb/s needs 16 lanes of PCIe 4",
     true, true, true, "sudo lspci -vv -s ADDRESS | grep LnkSta"},
    "an idle GPU lowers the speed of its link: for a GPU's own link this check uses the speed that both ends support"};

void check_pcie_path_min(const Machine& machine, Findings& findings) {
  const TopologyFacts& facts = topology_of(machine);
  if (!has_pairs(machine, facts, findings)) return;
  for (std::size_t gpu = 0; gpu < facts.tree.gpus.size(); ++gpu) judge_width(machine, facts, gpu, findings);
}

}  // namespace gdrkit::diag::doctor
