// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/numa_options.hpp"

#include <cstdio>

#include "base/number.hpp"
#include "base/result.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "platform/facts/number_list.hpp"

namespace gdrkit::cli {
namespace {

bool read_node(const std::string& text, int* node) { return base::parse_number(text, node) && *node >= 0; }

template <class Has>
std::string list_nodes(const std::vector<platform::NumaNode>& nodes, Has&& has) {
  std::vector<int> numbers;
  for (const auto& node : nodes) {
    if (has(node)) numbers.push_back(node.number);
  }
  return platform::to_list_text(numbers);
}

platform::NodePair read_pair(const std::string& text) {
  platform::NodePair pair;
  const auto colon = text.find(':');
  const bool is_pair = colon != std::string::npos;
  if (!read_node(text.substr(0, colon), &pair.cpu_node) ||
      (is_pair && !read_node(text.substr(colon + 1), &pair.memory_node))) {
    reject("--numa: '" + text + "' is invalid; use auto, all or CPU_NODE[:MEMORY_NODE], for example 0:1");
  }
  if (!is_pair) pair.memory_node = pair.cpu_node;
  return pair;
}

void check_pair(const platform::NodePair& pair, const std::string& sysfs_root) {
  const auto nodes = platform::read_numa_nodes(sysfs_root);
  if (!nodes.has_value()) {
    reject(std::string("--numa: cannot read the NUMA nodes (") + nodes.error().text() + "); use --numa auto");
  }
  const auto has_cpus = [](const auto& node) { return !node.cpus.empty(); };
  const auto has_memory = [](const auto& node) { return node.memory_bytes != 0; };
  const auto* cpu_node = platform::find_node(*nodes, pair.cpu_node);
  if (cpu_node == nullptr || !has_cpus(*cpu_node)) {
    reject(format("--numa: NUMA node %d has no CPUs or does not exist; nodes with CPUs: %s", pair.cpu_node,
                  list_nodes(*nodes, has_cpus).c_str()));
  }
  const auto* memory_node = platform::find_node(*nodes, pair.memory_node);
  if (memory_node == nullptr || !has_memory(*memory_node)) {
    reject(format("--numa: NUMA node %d has no memory or does not exist; nodes with memory: %s", pair.memory_node,
                  list_nodes(*nodes, has_memory).c_str()));
  }
}

void add(CommandLine* line, NumaOptions* options, const char* numa_help) {
  line->options.push_back({'\0', "numa", "NODES", &options->numa, numa_help, false});
  line->options.push_back(
      {'\0', "no-bind", "", &options->no_bind, "do not bind the thread and its memory to a NUMA node", false});
}

}  // namespace

void add_numa_options(CommandLine* line, NumaOptions* options) {
  add(line, options, "auto (the GPU's), all (matrix) or CPU_NODE[:MEMORY_NODE]");
}

void add_place_options(CommandLine* line, NumaOptions* options) {
  add(line, options, "auto (the GPU's node) or CPU_NODE[:MEMORY_NODE]");
}

NumaChoice choose_one_place(const NumaOptions& options) {
  if (options.numa == "all") {
    reject("--numa all is not supported by this tool; use auto or CPU_NODE[:MEMORY_NODE]");
  }
  return choose_nodes(options);
}

NumaChoice choose_nodes(const NumaOptions& options, const std::string& sysfs_root) {
  using Kind = NumaChoice::Kind;
  if (options.no_bind) {
    if (options.numa != "auto") reject("cannot combine --numa with --no-bind; omit one");
    return {Kind::keep, {}};
  }
  if (options.numa == "auto") return {Kind::automatic, {}};
  if (options.numa == "all") {
    const auto nodes = platform::read_numa_nodes(sysfs_root);
    if (nodes.has_value()) return {Kind::all, {}};
    reject(std::string("--numa all: cannot read the NUMA nodes (") + nodes.error().text() + "); use --numa auto");
  }
  const platform::NodePair pair = read_pair(options.numa);
  check_pair(pair, sysfs_root);
  return {Kind::pair, pair};
}

platform::Placement placement_for(const platform::Device& device) {
  // The emulated device's address is fictitious; a real device may have the same.
  return platform::Placement("/sys", device.is_emulated() ? "" : device.identity().pci_bus_id);
}

platform::Placed place(const NumaChoice& choice, platform::Placement* placement) {
  if (choice.kind == NumaChoice::Kind::keep) return placement->keep();
  if (choice.kind != NumaChoice::Kind::pair) return placement->automatic();
  platform::Placed placed = placement->on(choice.pair);
  if (!placed.is_as_requested()) {
    const std::string cause = placed.notes.empty() ? placed.line() : joined(placed.notes, "; ");
    cannot_run(format("--numa %d:%d: cannot bind to these nodes: %s; use --numa auto or --no-bind",
                      choice.pair.cpu_node, choice.pair.memory_node, cause.c_str()));
  }
  return placed;
}

void print_place(const platform::Placed& placed) {
  std::printf("%s\n", fitted(placed.line(), 2).c_str());
  if (!placed.place.advice.empty()) std::printf("%s\n", fitted("ADVICE: " + placed.place.advice, 2).c_str());
}

}  // namespace gdrkit::cli
