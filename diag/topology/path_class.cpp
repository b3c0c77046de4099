// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/path_class.hpp"

#include <algorithm>
#include <optional>

namespace gdrkit::diag::topology {
namespace {

/// The sentence on the unknown part of a device's place; empty if the place is known.
std::optional<Distance> unplaced(const TreeDevice& a, const TreeDevice& b) {
  for (const TreeDevice* device : {&a, &b}) {
    if (!device->real_path.is_found()) return Distance{PathClass::unknown, 0, device->real_path.reason};
  }
  return std::nullopt;
}

/// NODE or SYS, for devices below different host bridges.
Distance by_numa(const TreeDevice& a, const TreeDevice& b, bool minus_one_is_equal) {
  for (const TreeDevice* device : {&a, &b}) {
    const auto& node = device->function.numa_node;
    if (!node.is_found()) return {PathClass::unknown, 0, node.reason};
  }
  const std::int64_t node_a = a.function.numa_node.value;
  const std::int64_t node_b = b.function.numa_node.value;
  const std::string nodes = "NUMA nodes " + std::to_string(node_a) + " and " + std::to_string(node_b);
  if (node_a == node_b && (node_a >= 0 || minus_one_is_equal)) {
    return {PathClass::node, 0, "both in NUMA node " + std::to_string(node_a) + ", different host bridges"};
  }
  return {PathClass::sys, 0, nodes};
}

std::size_t shared_bridges(const TreeDevice& a, const TreeDevice& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a.bridges, b.bridges).in1 - a.bridges.begin());
}

bool is_one_slot(const TreeDevice& a, const TreeDevice& b) {
  const platform::PciAddress& x = a.function.address;
  const platform::PciAddress& y = b.function.address;
  return a.bridges == b.bridges && x.domain == y.domain && x.bus == y.bus && x.device == y.device;
}

/// Where the two paths diverge: the number of equal whole components.
std::string common_path(const std::string& a, const std::string& b) {
  const auto [end_a, end_b] = std::ranges::mismatch(a, b);
  const auto length = static_cast<std::size_t>(end_a - a.begin());
  if (length == a.size() && (end_b == b.end() || *end_b == '/')) return a;
  if (length == b.size() && a[length] == '/') return b;
  const auto slash = a.rfind('/', length == 0 ? 0 : length - 1);
  return a.substr(0, slash == std::string::npos ? 0 : slash);
}

}  // namespace

const char* name_of(PathClass value) {
  constexpr const char* names[] = {"unknown", "X",   "LOC", "NVL", "NVB",  "C2C", "near", "PIX",
                                   "PXB",     "P2C", "PXN", "PHB", "NODE", "SYS", "DIS"};
  return names[static_cast<std::size_t>(value)];
}

unsigned NvLinks::between(const platform::PciAddress& a, const platform::PciAddress& b) const {
  const auto from = gpus.find(a);
  const auto to = gpus.find(b);
  if (from == gpus.end() || to == gpus.end() || a == b) return 0;
  const auto direct = from->second.to_gpus.find(b);
  const auto back = to->second.to_gpus.find(a);
  // Both ends must report the link: a link that only one end reports is not in use.
  if (direct != from->second.to_gpus.end() && back != to->second.to_gpus.end()) {
    return std::min(direct->second, back->second);
  }
  return std::min(from->second.to_switches, to->second.to_switches);
}

Distance smi_distance(const PciTree& tree, const NvLinks& links, const TreeDevice& a, const TreeDevice& b) {
  if (a.kind == b.kind && a.name == b.name) return {PathClass::same, 0, ""};
  if (a.kind == DeviceKind::gpu && b.kind == DeviceKind::gpu) {
    if (const unsigned count = links.between(a.function.address, b.function.address); count > 0) {
      return {PathClass::nvlink, count, std::to_string(count) + " NVLinks"};
    }
  }
  if (auto missing = unplaced(a, b)) return *missing;
  if (a.root != b.root) return by_numa(a, b, false);
  if (is_one_slot(a, b)) return {PathClass::pix, 0, "two functions of one slot"};
  const std::size_t shared = shared_bridges(a, b);
  if (shared == 0) return {PathClass::phb, 0, "host bridge " + a.root};
  const std::string bridge = "bridge " + tree.bridges[a.bridges[shared - 1]].name;
  // With a single switch there is one port of it between each device and the common bridge.
  const bool is_single = a.bridges.size() - shared <= 1 && b.bridges.size() - shared <= 1;
  return {is_single ? PathClass::pix : PathClass::pxb, 0, bridge};
}

Distance nvshmem_distance(const TreeDevice& from, const TreeDevice& to) {
  if (from.kind == to.kind && from.name == to.name) return {PathClass::same, 0, ""};
  if (auto missing = unplaced(from, to)) return *missing;
  const std::string& path = from.real_path.value;
  const std::string& other = to.real_path.value;
  const auto parting = static_cast<std::size_t>(std::ranges::mismatch(path, other).in1 - path.begin());
  const auto depth = std::ranges::count(path, '/');
  const auto score = std::count(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(parting), '/');
  const std::string why = std::to_string(score) + " of " + std::to_string(depth) + " path components agree";
  if (score <= 3) return by_numa(from, to, true);
  if (score == 4) return {PathClass::phb, 0, why};
  return {score == depth - 1 ? PathClass::pix : PathClass::pxb, 0, why};
}

Distance ucx_distance(const TreeDevice& a, const TreeDevice& b) {
  if (a.kind == b.kind && a.name == b.name) return {PathClass::same, 0, ""};
  if (auto missing = unplaced(a, b)) return *missing;
  const std::string common = common_path(a.real_path.value, b.real_path.value);
  const std::string devices = "/sys/devices";
  if (common == devices) return by_numa(a, b, true);
  const bool is_host_bridge =
      common.starts_with(devices + "/pci") && common.find('/', devices.size() + 1) == std::string::npos;
  return {is_host_bridge ? PathClass::phb : PathClass::near, 0, "common path " + common};
}

}  // namespace gdrkit::diag::topology
