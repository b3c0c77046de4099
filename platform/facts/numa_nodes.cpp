// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/numa_nodes.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "driver/system.hpp"
#include "platform/facts/number_list.hpp"

namespace gdrkit::platform {
namespace {

constexpr std::uint64_t kib = 1024;

/// "Node 1 MemTotal:       65841516 kB"
base::Result<std::uint64_t> read_memory(const std::string& path) {
  char text[4096];
  const ssize_t length = driver::real_system().read_text(path.c_str(), text, sizeof(text));
  if (length < 0) {
    const int error = static_cast<int>(-length);
    return base::fail(error, "cannot read %s: %s", path.c_str(), std::strerror(error));
  }
  constexpr char label[] = "MemTotal:";
  const char* found = std::strstr(text, label);
  char* end = nullptr;
  const std::uint64_t size_kib = found == nullptr ? 0 : std::strtoull(found + sizeof(label) - 1, &end, 10);
  if (found == nullptr || end == found + sizeof(label) - 1 || std::strncmp(end, " kB", 3) != 0) {
    return base::fail(EINVAL, "%s has no line 'MemTotal: <number> kB'", path.c_str());
  }
  return size_kib * kib;
}

}  // namespace

base::Result<std::vector<NumaNode>> read_numa_nodes(const std::string& sysfs_root) {
  const std::string directory = sysfs_root + "/devices/system/node";
  const auto numbers = read_number_list(directory + "/online");
  if (!numbers.has_value()) return base::pass(numbers);
  // A node's own list may contain CPUs that are offline. Without a list of online CPUs, all count as online.
  const auto online = read_number_list(sysfs_root + "/devices/system/cpu/online");
  if (!online.has_value() && online.error().errno_value != ENOENT) return base::pass(online);
  std::vector<NumaNode> nodes;
  for (const int number : *numbers) {
    const std::string path = directory + "/node" + std::to_string(number);
    const auto cpus = read_number_list(path + "/cpulist");
    if (!cpus.has_value()) return base::pass(cpus);
    const auto memory = read_memory(path + "/meminfo");
    if (!memory.has_value()) return base::pass(memory);
    NumaNode node{number, {}, *memory};
    if (online.has_value()) {
      std::set_intersection(cpus->begin(), cpus->end(), online->begin(), online->end(), std::back_inserter(node.cpus));
    } else {
      node.cpus = *cpus;
    }
    nodes.push_back(std::move(node));
  }
  if (nodes.empty()) return base::fail(EINVAL, "%s/online lists no node", directory.c_str());
  return nodes;
}

int pci_numa_node(const std::string& sysfs_root, const PciAddress& address) {
  const std::string path = sysfs_root + "/bus/pci/devices/" + to_string(address) + "/numa_node";
  char text[32];
  if (driver::real_system().read_text(path.c_str(), text, sizeof(text)) <= 0) return -1;
  char* end = nullptr;
  const long node = std::strtol(text, &end, 10);
  return end == text || node < 0 || node > largest_listed_number ? -1 : static_cast<int>(node);
}

const NumaNode* find_node(const std::vector<NumaNode>& nodes, int number) {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [=](const NumaNode& node) { return node.number == number; });
  return found == nodes.end() ? nullptr : &*found;
}

int node_of_cpu(const std::vector<NumaNode>& nodes, int cpu) {
  for (const NumaNode& node : nodes) {
    if (std::binary_search(node.cpus.begin(), node.cpus.end(), cpu)) return node.number;
  }
  return -1;
}

}  // namespace gdrkit::platform
