// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The matrices and the best adapters as text.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "cli/interface/wrapped_text.hpp"
#include "diag/topo/topo_outputs.hpp"
#include "gdrkit/gdrkit.h"
#include "platform/facts/number_list.hpp"

namespace gdrkit::diag::topo {
namespace {

using topology::Distance;
using topology::PathClass;
using topology::TreeDevice;

/// "0-55,112-167", "N/A", "?".
std::string cpus_of(const TreeDevice& device) {
  if (!device.cpus.is_found()) return device.cpus.is_absent() ? "N/A" : "?";
  return device.cpus.value.empty() ? "N/A" : platform::to_list_text(device.cpus.value);
}

/// As in nvidia-smi: on a machine with one node it prints that node, regardless of the devices' files.
std::string numa_of(const topology::PciTree& tree, const TreeDevice& device) {
  const auto& node = device.function.numa_node;
  if (!node.is_found()) return node.is_absent() ? "N/A" : "?";
  if (node.value < 0) return tree.only_node.has_value() ? std::to_string(*tree.only_node) : "N/A";
  return std::to_string(node.value);
}

constexpr std::size_t most_reasons = 12;

void print_wrapped(const std::string& text) {
  std::fputs(cli::wrapped("", "  ", cli::printable(text)).c_str(), stdout);
}

const char* title_of(Viewer viewer) {
  constexpr const char* titles[] = {"as nvidia-smi topo -m prints them", "for NCCL", "for NVSHMEM (from row to column)",
                                    "for UCX"};
  return titles[static_cast<std::size_t>(viewer)];
}

using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t column_gap = 2;  ///< between two columns

/// Columns are as wide as their widest cell.
std::vector<std::size_t> widths_of(const Rows& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  return widths;
}

std::string padded(const std::string& cell, std::size_t width) {
  return cell + std::string(width - std::min(width, cell.size()) + column_gap, ' ');
}

/// The last column is text. It wraps below its start.
void print_list(const Rows& rows) {
  const std::vector<std::size_t> widths = widths_of(rows);
  for (const auto& row : rows) {
    std::string head;
    for (std::size_t i = 0; i + 1 < row.size(); ++i) head += padded(row[i], widths[i]);
    std::fputs(cli::wrapped(cli::printable(head), std::string(head.size(), ' '), cli::printable(row.back())).c_str(),
               stdout);
  }
}

/// Columns that do not fit follow in further blocks, each with the first column.
void print_blocks(const Rows& rows) {
  const std::vector<std::size_t> widths = widths_of(rows);
  for (std::size_t from = 1; from < widths.size();) {
    std::size_t columns = widths[0];
    std::size_t to = from;
    while (to < widths.size() && (to == from || columns + column_gap + widths[to] <= cli::output_columns)) {
      columns += column_gap + widths[to++];
    }
    if (from > 1) std::printf("\n");
    for (const auto& row : rows) {
      std::string line = padded(row[0], widths[0]);
      for (std::size_t i = from; i < to; ++i) line += i + 1 < to ? padded(row[i], widths[i]) : row[i];
      std::printf("%s\n", cli::printable(line).c_str());
    }
    from = to;
  }
}

std::string short_name(const TopologyFacts& facts, std::size_t i) {
  const std::size_t gpus = facts.tree.gpus.size();
  return i < gpus ? facts.tree.gpus[i].name : "NIC" + std::to_string(i - gpus);
}

/// Prints the reasons of unknown cells once each.
void print_matrix(const TopologyFacts& facts, Viewer viewer) {
  std::printf("\nDistances %s:\n", title_of(viewer));
  Rows rows(1, {""});
  for (std::size_t i = 0; i < facts.count(); ++i) rows[0].push_back(short_name(facts, i));
  rows[0].insert(rows[0].end(), {"CPU Affinity", "NUMA Affinity"});
  bool has_star = false;
  std::set<std::string> reasons;
  for (std::size_t from = 0; from < facts.count(); ++from) {
    std::vector<std::string> row = {short_name(facts, from)};
    for (std::size_t to = 0; to < facts.count(); ++to) {
      const Distance distance = facts.distance(viewer, from, to);
      const bool is_open = facts.lacks_nvlink(viewer, from, to);
      has_star = has_star || is_open;
      row.push_back(cell_of(viewer, distance) + (is_open ? "*" : ""));
      if (distance.value == PathClass::unknown && !distance.why.empty()) reasons.insert(distance.why);
    }
    row.push_back(cpus_of(facts.device(from)));
    row.push_back(numa_of(facts.tree, facts.device(from)));
    rows.push_back(std::move(row));
  }
  print_blocks(rows);
  if (has_star) {
    print_wrapped("* over PCIe only; connections by NVLink are unknown: " + facts.links.why_not);
  }
  std::size_t printed = 0;
  for (const std::string& reason : reasons) {
    if (printed++ == most_reasons) break;
    print_wrapped("? unknown: " + reason);
  }
  if (reasons.size() > most_reasons) std::printf("? and %zu more reasons\n", reasons.size() - most_reasons);
}

std::string ports_of(const AdapterPorts& adapter) {
  std::string text;
  for (const AdapterPort& port : adapter.ports) {
    if (!port.is_active() || !port.rate_gbit_per_s.is_found()) continue;
    text += (text.empty() ? "" : ", ") + cli::format("%.0f Gb/s", port.rate_gbit_per_s.value) +
            (port.link_layer.is_found() ? " " + port.link_layer.value : "");
  }
  if (adapter.usable == Usable::yes) return text;
  const std::string state = adapter.usable == Usable::no ? "left out: " : "ports unknown: ";
  return text + (text.empty() ? "" : "; ") + state + adapter.why;
}

void print_devices(const TopologyFacts& facts) {
  if (!facts.tree.gpus.empty()) std::printf("\nGPUs:\n");
  Rows rows;
  for (const TreeDevice& gpu : facts.tree.gpus) rows.push_back({"  " + gpu.name, gpu.function.name});
  print_list(rows);
  if (!facts.tree.adapters.empty()) std::printf("\nAdapters:\n");
  rows.clear();
  for (std::size_t i = 0; i < facts.tree.adapters.size(); ++i) {
    const TreeDevice& adapter = facts.tree.adapters[i];
    rows.push_back({"  NIC" + std::to_string(i), adapter.name, adapter.function.name, ports_of(facts.ports[i])});
  }
  print_list(rows);
}

void print_best(const TopologyFacts& facts) {
  std::printf("\nBest adapter of each GPU (matching %s; the same on all machines of this kind):\n",
              hash_text(facts).c_str());
  Rows rows;
  for (std::size_t gpu = 0; gpu < facts.tree.gpus.size(); ++gpu) {
    const topology::BestAdapter& best = facts.matching.gpus[gpu];
    if (!best.adapter.has_value()) {
      rows.push_back({"  " + facts.tree.gpus[gpu].name, "none", "", best.why});
      continue;
    }
    const AdapterPorts& ports = facts.ports[*best.adapter];
    const std::string open = ports.usable == Usable::unknown ? "; unknown whether its ports can be used" : "";
    rows.push_back({"  " + facts.tree.gpus[gpu].name, facts.tree.adapters[*best.adapter].name,
                    topology::name_of(best.nearness), best.why + open});
  }
  print_list(rows);
}

void print_legend(const TopologyFacts& facts) {
  std::printf("\n");
  print_wrapped(
      "Legend: X itself; NV# number of NVLinks; PIX at most one switch; PXB several switches; PHB a host bridge (CPU); "
      "NODE two host bridges of one NUMA node; SYS between NUMA nodes" +
      std::string(facts.is_from_nccl ? "." : "; ? unknown."));
  print_wrapped(
      "NCCL: NVL NVLink; NVB through another GPU; C2C NVLink-C2C; P2C C2C and PCIe; PXN NVLink to the adapter's GPU; "
      "LOC "
      "one adapter for NCCL. UCX: near: no host bridge between.");
}

}  // namespace

std::string cell_of(Viewer viewer, const Distance& distance) {
  if (distance.value == PathClass::unknown) return "?";
  if (viewer == Viewer::smi && distance.value == PathClass::nvlink) return "NV" + std::to_string(distance.nvlinks);
  return topology::name_of(distance.value);
}

std::string hash_text(const TopologyFacts& facts) {
  return cli::format("%016llx", static_cast<unsigned long long>(facts.matching.hash));
}

std::string what_is_missing(const TopologyFacts& facts) {
  std::string text;
  const auto add = [&](const std::string& sentence) { text += sentence + "\n"; };
  const topology::PciTree& tree = facts.tree;
  if (facts.is_from_nccl) {
    if (tree.gpus.empty()) add("No GPU: no element gpu and no class 0x03 in " + facts.source + ".");
    if (tree.adapters.empty()) add("No adapter: no element net and no class 0x02 in " + facts.source + ".");
    return text;
  }
  if (tree.pci_outcome != Outcome::found) {
    add("Cannot read PCI devices: " + tree.pci_reason);
  } else if (tree.gpus.empty()) {
    add(cli::format("No NVIDIA GPU: no function of %zu in /sys/bus/pci/devices has vendor 0x10de and class 0x03.",
                    tree.pci_count));
  }
  if (tree.adapter_outcome != Outcome::found) {
    add("No RDMA adapter: " + tree.adapter_reason);
  } else if (tree.adapters.empty()) {
    add("No RDMA adapter: no device in /sys/class/infiniband is a PCI function.");
  }
  for (const std::string& name : tree.unplaced)
    add(name + " is not a PCI device (for example, software RDMA), so it has no distances.");
  for (const std::string& reason : tree.unread) add("Not read: " + reason);
  if (tree.left_out > 0)
    add(cli::format("%zu devices are left out: the number of devices exceeds the limit.", tree.left_out));
  return text;
}

void print_text(const TopologyFacts& facts, const std::vector<Viewer>& libraries) {
  print_wrapped(cli::format("gdrkit topo %s, from %s: %s, %s, %zu NVSwitches", gdrkit_version(), facts.source.c_str(),
                            cli::counted(facts.tree.gpus.size(), "NVIDIA GPU").c_str(),
                            cli::counted(facts.tree.adapters.size(), "RDMA adapter").c_str(),
                            facts.tree.nvswitches.size()));
  std::istringstream missing(what_is_missing(facts));
  for (std::string sentence; std::getline(missing, sentence);) print_wrapped(sentence);
  if (facts.count() == 0) return;
  for (const Viewer viewer : libraries) print_matrix(facts, viewer);
  print_devices(facts);
  if (!facts.tree.gpus.empty() && !facts.tree.adapters.empty()) print_best(facts);
  print_legend(facts);
}

}  // namespace gdrkit::diag::topo
