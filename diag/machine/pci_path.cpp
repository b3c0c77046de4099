// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/pci_path.hpp"

#include <algorithm>

#include "diag/machine/pci_config.hpp"
#include "diag/machine/topology_facts.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::diag {
namespace {

bool is_translation(const Fact<std::string>& type) { return type.is_found() && type.value.starts_with("DMA"); }

/// The worse of two types: translation, then unknown, then a group of another type.
const Fact<std::string>& worse_of(const Fact<std::string>& a, const Fact<std::string>& b) {
  if (is_translation(a) || is_translation(b)) return is_translation(a) ? a : b;
  if (a.is_unknown() || b.is_unknown()) return a.is_unknown() ? a : b;
  return a.is_found() ? a : b;
}

bool are_linked(const topology::NvLinks& links, const PciDevice& a, const PciDevice& b) {
  const auto first = platform::parse_pci_address(a.address);
  const auto second = platform::parse_pci_address(b.address);
  return first && second && links.between(*first, *second) > 0;
}

}  // namespace

Fact<std::string> iommu_type(const MachineView& view, const PciDevice& device) {
  const auto group = view.node(device.directory + "/iommu_group");
  if (!group.is_found()) return pass<std::string>(group);
  return required(view.line(device.directory + "/iommu_group/type"));
}

std::vector<GpuPath> read_gpu_paths(const Machine& machine) {
  const std::size_t count = std::min(machine.gpus.size(), topology::PciTree::most_gpus);
  const topology::NvLinks links = links_of(machine.probe.nvml);
  std::vector<Fact<std::string>> types;
  for (std::size_t i = 0; i < count; ++i) types.push_back(iommu_type(machine.view, machine.gpus[i]));
  std::vector<GpuPath> paths;
  for (std::size_t second = 0; second < count; ++second) {
    for (std::size_t first = 0; first < second; ++first) {
      const PciDevice& a = machine.gpus[first];
      const PciDevice& b = machine.gpus[second];
      GpuPath path{
          first, second, Route::processor, !links.is_known, ports_between(a, b), worse_of(types[first], types[second])};
      const bool share_bridge = !a.bridges.empty() && !b.bridges.empty() && a.bridges.front() == b.bridges.front();
      if (share_bridge) path.route = Route::bridge;
      if (are_linked(links, a, b)) {
        path.route = Route::nvlink;
        path.may_be_nvlink = false;
      }
      if (path.route == Route::processor) {
        path.ports.insert(a.bridges.begin(), a.bridges.end());
        path.ports.insert(b.bridges.begin(), b.bridges.end());
      }
      paths.push_back(std::move(path));
    }
  }
  return paths;
}

Fact<Acs> read_acs(const MachineView& view, const std::string& port) {
  const PciConfig config(view, "/sys/bus/pci/devices/" + port);
  const auto at = config.extended_capability(acs_capability);
  if (!at.is_found()) return pass<Acs>(at);
  const auto both = config.value(at.value + 4, 4);
  return {both.outcome, {both.value & 0x7f, both.value >> 16}, both.reason};
}

std::set<std::string> ports_between(const PciDevice& a, const PciDevice& b) {
  const auto [left, right] = std::ranges::mismatch(a.bridges, b.bridges);
  std::set<std::string> ports;
  if (left == a.bridges.begin()) return ports;
  ports.insert(left, a.bridges.end());
  ports.insert(right, b.bridges.end());
  return ports;
}

}  // namespace gdrkit::diag
