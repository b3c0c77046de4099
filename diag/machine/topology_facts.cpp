// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/topology_facts.hpp"

#include <algorithm>

#include "platform/facts/pci_address.hpp"

namespace gdrkit::diag {
namespace {

using topology::Distance;
using topology::PathClass;

constexpr std::int64_t most_c2c_links = 64;

void refuse(topology::NvLinks& links, const std::string& why) {
  links.is_known = false;
  if (links.why_not.empty()) links.why_not = why;
}

/// Ignores a link that is down, or that cannot carry copies between GPUs. In a guest that does not see the switches the
/// far end has no address; NCCL treats it as a switch, too.
void add_link(topology::NvLinks& links, topology::NvLinks::Gpu& to, const NvmlLink& link) {
  for (const Fact<bool>* fact : {&link.is_active, &link.can_p2p}) {
    if (fact->is_unknown()) refuse(links, fact->reason);
    if (!fact->is_found() || !fact->value) return;
  }
  if (!link.remote_kind.is_found()) return refuse(links, link.remote_kind.reason);
  if (link.remote_kind.value == "cpu") return;
  const auto remote = platform::parse_pci_address(link.remote.value);
  if (link.remote_kind.value == "gpu" && remote.has_value()) {
    ++to.to_gpus[*remote];
  } else {
    ++to.to_switches;
  }
}

std::vector<bool> usable(const std::vector<AdapterPorts>& ports) {
  std::vector<bool> is_usable;
  for (const AdapterPorts& adapter : ports) is_usable.push_back(adapter.usable != Usable::no);
  return is_usable;
}

}  // namespace

const char* name_of(Viewer viewer) {
  constexpr const char* names[] = {"smi", "nccl", "nvshmem", "ucx"};
  return names[static_cast<std::size_t>(viewer)];
}

TopologyFacts::TopologyFacts(std::string from, topology::PciTree read_tree, topology::NvLinks read_links,
                             std::vector<AdapterPorts> read_ports)
    : source(std::move(from)),
      tree(std::move(read_tree)),
      links(std::move(read_links)),
      ports(std::move(read_ports)),
      graph(topology::make_nccl_graph(tree, links)),
      nccl(graph),
      matching(topology::match_adapters(tree, nccl, usable(ports))) {}

Distance TopologyFacts::distance(Viewer viewer, std::size_t from, std::size_t to) const {
  switch (viewer) {
    case Viewer::smi: return topology::smi_distance(tree, links, device(from), device(to));
    case Viewer::nccl: return nccl.at(from, to);
    case Viewer::nvshmem: return topology::nvshmem_distance(device(from), device(to));
    default: return topology::ucx_distance(device(from), device(to));
  }
}

bool TopologyFacts::lacks_nvlink(Viewer viewer, std::size_t from, std::size_t to) const {
  if (links.is_known || from == to || viewer == Viewer::nvshmem || viewer == Viewer::ucx) return false;
  const std::size_t gpus = tree.gpus.size();
  if (from < gpus && to < gpus) return true;
  // NCCL may reach an adapter over NVLink and another GPU, or over C2C, if the PCIe path leads through a CPU.
  return viewer == Viewer::nccl && (from < gpus || to < gpus) && nccl.at(from, to).value >= PathClass::phb;
}

std::vector<Viewer> TopologyFacts::viewers() const {
  if (is_from_nccl) return {Viewer::nccl};
  return {std::begin(all_viewers), std::end(all_viewers)};
}

topology::NvLinks links_of(const topology::Fact<NvmlFacts>& nvml) {
  topology::NvLinks links;
  links.is_known = nvml.is_found();
  links.why_not = nvml.reason;
  for (const NvmlGpu& gpu : nvml.value.gpus) {
    const auto address = platform::parse_pci_address(gpu.address.value);
    if (!gpu.address.is_found() || !address.has_value()) {
      refuse(links, gpu.address.is_found() ? "'" + gpu.address.value + "' is not a PCI address" : gpu.address.reason);
      continue;
    }
    if (gpu.c2c_links.is_unknown()) refuse(links, gpu.c2c_links.reason);
    topology::NvLinks::Gpu& to = links.gpus[*address];
    to.c2c_count = static_cast<unsigned>(std::clamp<std::int64_t>(gpu.c2c_links.value, 0, most_c2c_links));
    for (const NvmlLink& link : gpu.links) add_link(links, to, link);
  }
  return links;
}

TopologyFacts read_topology(const MachineView& view, const std::string& source, const topology::Fact<NvmlFacts>& nvml) {
  topology::PciTree tree = topology::read_pci_tree(view);
  std::vector<AdapterPorts> ports = read_adapter_ports(view, tree.adapters);
  return {source, std::move(tree), links_of(nvml), std::move(ports)};
}

const TopologyFacts& topology_of(const Machine& machine) {
  if (machine.topology == nullptr) {
    machine.topology = std::make_shared<const TopologyFacts>(read_topology(machine.view, "", machine.probe.nvml));
  }
  return *machine.topology;
}

}  // namespace gdrkit::diag
