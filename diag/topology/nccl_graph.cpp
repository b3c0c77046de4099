// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/nccl_graph.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace gdrkit::diag::topology {
namespace {

std::string hex(const Fact<std::int64_t>& number, int digits) {
  if (!number.is_found() || number.value < 0 || number.value > 0xffffff) return "";
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%0*x", digits, static_cast<unsigned>(number.value));
  return text.data();
}

/// The slower of the function and the port above it, as in NCCL. NCCL treats an unknown width as 0, the minimum here;
/// its graph then counts 16 lanes.
NcclFunction describe(const PciFunction& function, const PciFunction* port) {
  NcclFunction described;
  described.class_code = hex(function.class_code, 6);
  described.vendor = hex(function.vendor, 4);
  described.device = hex(function.device, 4);
  described.subsystem_vendor = hex(function.subsystem_vendor, 4);
  described.subsystem_device = hex(function.subsystem_device, 4);
  const Fact<double>* speed = &function.most.speed_gts;
  std::int64_t width = function.most.width.is_found() ? function.most.width.value : 0;
  if (port != nullptr) {
    const Fact<double>& above = port->most.speed_gts;
    if (above.is_found() && (!speed->is_found() || above.value < speed->value)) speed = &above;
  }
  width = std::min(width, port != nullptr && port->most.width.is_found() ? port->most.width.value : 0);
  if (speed->is_found()) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f GT/s PCIe", speed->value);
    described.link_speed = text.data();
  }
  described.link_width = static_cast<unsigned>(width);
  return described;
}

class Builder {
 public:
  Builder(const PciTree& tree, const NvLinks& links) : tree_(tree) { graph_.links = links; }

  NcclGraph build() {
    for (const TreeDevice& gpu : tree_.gpus) {
      graph_.gpus.push_back(add_device(gpu, NcclKind::gpu, gpu.function.name));
      graph_.nodes.back().name = gpu.name;
    }
    for (const TreeDevice& adapter : tree_.adapters) {
      platform::PciAddress whole = adapter.function.address;
      whole.device = 0;
      whole.function = 0;
      const std::string id = platform::to_string(whole);
      // Only below one bus: a forged tree may use an address twice.
      const std::string key = adapter.real_path.value.substr(0, adapter.real_path.value.rfind('/') + 1) + id;
      auto known = adapters_.find(key);
      if (known == adapters_.end() || !adapter.real_path.is_found()) {
        known = adapters_.insert_or_assign(key, add_device(adapter, NcclKind::nic, id)).first;
        graph_.nodes.back().name = adapter.name;
      }
      graph_.adapters.push_back(known->second);
      graph_.adapter_names.push_back(adapter.name);
    }
    return std::move(graph_);
  }

 private:
  std::size_t add_device(const TreeDevice& device, NcclKind kind, const std::string& id) {
    NcclNode node;
    node.kind = kind;
    node.id = id;
    const bool has_port = !device.bridges.empty();
    node.function = describe(device.function, has_port ? &tree_.bridges[device.bridges.back()] : nullptr);
    if (!device.real_path.is_found()) {
      node.reason = device.real_path.reason;
    } else {
      node.above = device.bridges.size() >= 2 ? add_switch(device, device.bridges.size() - 2)
                                              : add_cpu(device.function, device.function);
    }
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.size() - 1;
  }

  /// The node of the bridge at `position` of the device's path, with everything above it.
  std::size_t add_switch(const TreeDevice& device, std::size_t position) {
    const std::size_t bridge = device.bridges[position];
    if (const auto known = switches_.find(bridge); known != switches_.end()) return known->second;
    const PciFunction& function = tree_.bridges[bridge];
    NcclNode node;
    node.kind = NcclKind::pci;
    node.id = function.name;
    node.function = describe(function, position > 0 ? &tree_.bridges[device.bridges[position - 1]] : nullptr);
    node.above = position >= 2 ? add_switch(device, position - 2) : add_cpu(function, device.function);
    graph_.nodes.push_back(std::move(node));
    switches_[bridge] = graph_.nodes.size() - 1;
    return graph_.nodes.size() - 1;
  }

  /// The CPU node by the NUMA node of the topmost function that NCCL visits. A bridge has the node of the devices below
  /// it, so either can replace the other if a recording lacks a file.
  std::size_t add_cpu(const PciFunction& top, const PciFunction& device) {
    const Fact<std::int64_t>& numa = top.numa_node.is_absent() ? device.numa_node : top.numa_node;
    const std::string id = numa.is_found() ? std::to_string(numa.value) : "unknown above " + top.name;
    const auto [known, is_new] = cpus_.emplace(id, graph_.nodes.size());
    if (is_new) {
      NcclNode node;
      node.id = id;
      if (!numa.is_found()) node.reason = numa.reason;
      graph_.nodes.push_back(std::move(node));
    }
    return known->second;
  }

  const PciTree& tree_;
  NcclGraph graph_;
  std::map<std::size_t, std::size_t> switches_;  // bridge -> node
  std::map<std::string, std::size_t> cpus_;      // NUMA node -> node
  std::map<std::string, std::size_t> adapters_;  // path without device and function digits -> node
};

unsigned long number_of(const std::string& text) { return std::strtoul(text.c_str(), nullptr, 16); }

/// 4 or 5 for the generations that NCCL flattens, 0 for anything else. `level` 0: the upper switch.
int broadcom_generation(const NcclNode& node, unsigned long level) {
  const NcclFunction& function = node.function;
  if (node.kind != NcclKind::pci || number_of(function.vendor) != 0x1000 ||
      number_of(function.subsystem_vendor) != 0x1000) {
    return 0;
  }
  const unsigned long device = number_of(function.device);
  const unsigned long family = number_of(function.subsystem_device) & 0xf000;
  if (device == 0xc010 && family == 0xa000) return 4;
  if (device == 0xc030 && family == level * 0x1000) return 5;
  return 0;
}

/// The nodes above a device, nearest first. The last one is its CPU, unless its place is unknown.
std::vector<std::size_t> above(const NcclGraph& graph, std::size_t node) {
  std::vector<std::size_t> path;
  for (auto next = graph.nodes[node].above; next.has_value(); next = graph.nodes[*next].above) path.push_back(*next);
  return path;
}

std::string node_name(const NcclNode& node) {
  return node.kind == NcclKind::cpu ? "CPU node " + node.id : "switch " + node.id;
}

/// Over PCI and CPUs only.
Distance tree_distance(const NcclGraph& graph, std::size_t a, std::size_t b) {
  if (a == b) return {PathClass::local, 0, "one adapter for NCCL: " + graph.nodes[a].id};
  for (const std::size_t node : {a, b}) {
    if (!graph.nodes[node].above.has_value()) return {PathClass::unknown, 0, graph.nodes[node].reason};
  }
  const auto path_a = above(graph, a);
  const auto path_b = above(graph, b);
  for (std::size_t i = 0; i < path_a.size(); ++i) {
    const auto common = std::ranges::find(path_b, path_a[i]);
    if (common == path_b.end()) continue;
    const NcclNode& node = graph.nodes[path_a[i]];
    if (node.kind == NcclKind::cpu) return {PathClass::phb, 0, node_name(node)};
    return {i == 0 && common == path_b.begin() ? PathClass::pix : PathClass::pxb, 0, node_name(node)};
  }
  for (const std::size_t cpu : {path_a.back(), path_b.back()}) {
    if (!graph.nodes[cpu].reason.empty()) return {PathClass::unknown, 0, graph.nodes[cpu].reason};
  }
  return {PathClass::sys, 0, node_name(graph.nodes[path_a.back()]) + " and " + node_name(graph.nodes[path_b.back()])};
}

platform::PciAddress address_of(const NcclNode& node) {
  const auto address = platform::parse_pci_address(node.id);
  return address.has_value() ? *address : platform::PciAddress{};
}

bool has_c2c(const NcclGraph& graph, std::size_t gpu) {
  const auto found = graph.links.gpus.find(address_of(graph.nodes[graph.gpus[gpu]]));
  return found != graph.links.gpus.end() && found->second.c2c_count > 0;
}

/// NVL, or NVB through one GPU that both have links to; unknown if there is neither.
Distance nvlink_distance(const NcclGraph& graph, std::size_t a, std::size_t b) {
  const platform::PciAddress from = address_of(graph.nodes[graph.gpus[a]]);
  const platform::PciAddress to = address_of(graph.nodes[graph.gpus[b]]);
  if (const unsigned count = graph.links.between(from, to); count > 0) {
    return {PathClass::nvlink, count, std::to_string(count) + " NVLinks"};
  }
  for (const std::size_t other : graph.gpus) {
    const platform::PciAddress middle = address_of(graph.nodes[other]);
    if (graph.links.between(from, middle) > 0 && graph.links.between(middle, to) > 0) {
      return {PathClass::nvlink_by, 0, "NVLinks by " + graph.nodes[other].name};
    }
  }
  return {};
}

}  // namespace

NcclGraph make_nccl_graph(const PciTree& tree, const NvLinks& links) { return Builder(tree, links).build(); }

void flatten_broadcom_switches(NcclGraph& graph) {
  // From top to bottom: the upper switch takes the children of its sub-switches, and is not merged again.
  std::vector<bool> is_done(graph.nodes.size(), false);
  for (std::size_t top = 0; top < graph.nodes.size(); ++top) {
    const int generation = broadcom_generation(graph.nodes[top], 0);
    if (generation == 0 || is_done[top]) continue;
    is_done[top] = true;
    for (std::size_t sub = 0; sub < graph.nodes.size(); ++sub) {
      if (graph.nodes[sub].above != top || is_done[sub] || broadcom_generation(graph.nodes[sub], 1) != generation) {
        continue;
      }
      is_done[sub] = true;
      for (NcclNode& below : graph.nodes) {
        if (below.above == sub) below.above = top;
      }
      graph.nodes[sub].above.reset();
    }
  }
}

NcclDistances::NcclDistances(NcclGraph graph)
    : gpus_(graph.gpus.size()), count_(graph.gpus.size() + graph.adapters.size()) {
  flatten_broadcom_switches(graph);
  all_.resize(count_ * count_);
  const auto node = [&](std::size_t i) { return i < gpus_ ? graph.gpus[i] : graph.adapters[i - gpus_]; };
  for (std::size_t a = 0; a < count_; ++a) {
    for (std::size_t b = a; b < count_; ++b) {
      Distance distance = a == b ? Distance{PathClass::same, 0, ""} : Distance{};
      if (a != b && b < gpus_) distance = nvlink_distance(graph, a, b);
      if (distance.value == PathClass::unknown) distance = tree_distance(graph, node(a), node(b));
      if (a != b && b < gpus_ && distance.value == PathClass::phb && has_c2c(graph, a) && has_c2c(graph, b)) {
        distance.value = PathClass::chip;
      }
      all_[a * count_ + b] = all_[b * count_ + a] = distance;
    }
  }
  add_c2c(graph);
  add_pxn();
}

/// P2C: the adapters nearest to a GPU with C2C, if that means below the same CPU.
void NcclDistances::add_c2c(const NcclGraph& graph) {
  for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
    if (!has_c2c(graph, gpu)) continue;
    PathClass nearest = PathClass::apart;
    for (std::size_t i = gpus_; i < count_; ++i) {
      if (at(gpu, i).value != PathClass::unknown) nearest = std::min(nearest, at(gpu, i).value);
    }
    for (std::size_t i = gpus_; i < count_ && nearest == PathClass::phb; ++i) {
      if (at(gpu, i).value != PathClass::phb) continue;
      all_[gpu * count_ + i].value = all_[i * count_ + gpu].value = PathClass::chip_host;
      all_[gpu * count_ + i].why += ", then C2C";
    }
  }
}

void NcclDistances::add_pxn() {
  for (std::size_t adapter = gpus_; adapter < count_; ++adapter) {
    std::size_t peer = gpus_;
    for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
      const PathClass value = at(gpu, adapter).value;
      if (value == PathClass::unknown || value > PathClass::chip_host) continue;
      if (peer == gpus_ || value < at(peer, adapter).value) peer = gpu;
    }
    for (std::size_t gpu = 0; gpu < gpus_ && peer < gpus_; ++gpu) {
      if (gpu == peer || at(gpu, peer).value != PathClass::nvlink) continue;
      Distance& distance = all_[gpu * count_ + adapter];
      if (distance.value <= PathClass::nvlink_nic) continue;
      distance = {PathClass::nvlink_nic, 0, "NVLink to GPU" + std::to_string(peer) + ", near the adapter"};
      all_[adapter * count_ + gpu] = distance;
    }
  }
}

}  // namespace gdrkit::diag::topology
