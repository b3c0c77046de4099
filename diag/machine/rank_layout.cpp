// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/rank_layout.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "diag/machine/machine.hpp"
#include "platform/facts/number_list.hpp"

namespace gdrkit::diag {
namespace {

using topology::MachineView;
using topology::PciTree;

constexpr std::size_t cores_recommended = 2;  // one for the program, one for the library's progress thread

std::vector<int> common(const std::vector<int>& one, const std::vector<int>& other) {
  std::vector<int> both;
  std::ranges::set_intersection(one, other, std::back_inserter(both));
  return both;
}

std::vector<int> online_cpus(const MachineView& view) {
  const auto line = view.line("/sys/devices/system/cpu/online");
  const auto list = platform::parse_number_list(line.value);
  return line.is_found() && list.has_value() ? *list : std::vector<int>{};
}

/// CPUs near a GPU: those of its device, otherwise those of its node, otherwise all.
std::vector<int> near_cpus(const MachineView& view, const topology::TreeDevice& gpu, std::vector<std::string>* notes) {
  if (gpu.cpus.is_found() && !gpu.cpus.value.empty()) return gpu.cpus.value;
  const auto node = gpu.function.numa_node;
  if (node.is_found() && node.value >= 0) {
    const auto line = view.line("/sys/devices/system/node/node" + std::to_string(node.value) + "/cpulist");
    const auto list = platform::parse_number_list(line.value);
    if (line.is_found() && list.has_value() && !list->empty()) return *list;
  }
  notes->push_back("the machine does not report which CPUs are near the GPU, so all CPUs are used");
  return online_cpus(view);
}

bool is_only_near(const RankLayout& layout, const topology::NcclDistances& nccl, const std::vector<bool>& usable,
                  std::size_t gpu) {
  const auto& best = layout.matching.gpus[gpu];
  for (std::size_t other = 0; best.adapter && other < usable.size(); ++other) {
    if (other == *best.adapter || !usable[other]) continue;
    if (topology::transfer_distance(layout.tree, nccl, gpu, other).value <= best.nearness) return false;
  }
  return best.adapter.has_value();
}

/// Divides the CPUs among the GPUs that are near the same CPUs.
void divide(const MachineView& view, const std::vector<std::vector<int>>& near,
            const std::optional<std::vector<int>>& allowed, bool reserves, RankLayout* layout) {
  for (std::size_t rank = 0; rank < layout->ranks.size(); ++rank) {
    RankPlace& place = layout->ranks[rank];
    const auto before = static_cast<std::size_t>(
        std::count(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(rank), near[rank]));
    const auto sharers = static_cast<std::size_t>(std::ranges::count(near, near[rank]));
    const auto usable = allowed ? common(near[rank], *allowed) : near[rank];
    if (usable.empty()) {
      place.notes.push_back(near[rank].empty() ? "cannot read the list of CPUs in /sys/devices/system/cpu/online"
                                               : "this process may not use any of the CPUs near the GPU (" +
                                                     platform::to_list_text(near[rank]) + ")");
      continue;
    }
    const auto cores = cores_of(view, usable);
    auto slice = slice_of(cores, before, sharers);
    if (cores.size() < sharers)
      place.notes.push_back(std::to_string(sharers) + " GPUs share " + std::to_string(cores.size()) + " core(s)");
    if (reserves && slice.size() > 1) {
      place.reserved = slice.front();
      slice.erase(slice.begin());
    } else if (reserves) {
      place.notes.push_back("the process gets one core, so no core is kept free");
    }
    if (slice.size() < cores_recommended)
      place.notes.push_back("the process gets " + std::to_string(slice.size()) +
                            " core, which progress threads share with the program");
    place.cpus = cpus_of(slice);
  }
}

}  // namespace

std::vector<Core> cores_of(const MachineView& view, const std::vector<int>& cpus) {
  std::vector<Core> cores;
  std::set<int> taken;
  for (const int cpu : cpus) {
    if (taken.count(cpu) != 0) continue;
    const auto line = view.line("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    const auto siblings = platform::parse_number_list(line.value);
    Core core = line.is_found() && siblings.has_value() ? common(*siblings, cpus) : Core{};
    // A list that omits the CPU itself, or contains one of another core, is invalid.
    const bool is_sound = std::ranges::find(core, cpu) != core.end() &&
                          std::ranges::none_of(core, [&](int other) { return taken.count(other) != 0; });
    if (!is_sound) core = {cpu};
    taken.insert(core.begin(), core.end());
    cores.push_back(std::move(core));
  }
  return cores;
}

std::vector<Core> slice_of(const std::vector<Core>& cores, std::size_t index, std::size_t parts) {
  if (cores.empty() || parts == 0 || index >= parts) return {};
  if (cores.size() < parts) return {cores[index % cores.size()]};
  const auto begin = static_cast<std::ptrdiff_t>(index * cores.size() / parts);
  const auto end = static_cast<std::ptrdiff_t>((index + 1) * cores.size() / parts);
  return {cores.begin() + begin, cores.begin() + end};
}

std::vector<int> cpus_of(const std::vector<Core>& cores) {
  std::vector<int> cpus;
  for (const Core& core : cores) cpus.insert(cpus.end(), core.begin(), core.end());
  std::ranges::sort(cpus);
  return cpus;
}

RankLayout lay_out(const MachineView& view, const topology::NvLinks& links,
                   const std::optional<std::vector<int>>& allowed, bool reserves) {
  RankLayout layout;
  layout.tree = topology::read_pci_tree(view);
  layout.adapters = judge_adapters(view, layout.tree);
  std::vector<bool> usable;
  for (const AdapterUse& use : layout.adapters) usable.push_back(use.is_usable);
  const topology::NcclDistances nccl(topology::make_nccl_graph(layout.tree, links));
  layout.matching = topology::match_adapters(layout.tree, nccl, usable);
  std::vector<std::vector<int>> near;
  for (const std::size_t gpu : visible_gpus(view, layout.tree)) {
    RankPlace place;
    place.gpu = gpu;
    const auto& node = layout.tree.gpus[gpu].function.numa_node;
    place.node = node.is_found() ? static_cast<int>(node.value) : -1;
    place.adapter = layout.matching.gpus[gpu].adapter;
    place.nearness = layout.matching.gpus[gpu].nearness;
    place.is_only_near = is_only_near(layout, nccl, usable, gpu);
    near.push_back(near_cpus(view, layout.tree.gpus[gpu], &place.notes));
    layout.ranks.push_back(std::move(place));
  }
  divide(view, near, allowed, reserves, &layout);
  return layout;
}

std::optional<std::vector<int>> recorded_cpus(const MachineView& view) {
  const auto line = labelled(view.text("/proc/self/status"), "Cpus_allowed_list");
  const auto list = platform::parse_number_list(line.value);
  if (!line.is_found() || !list.has_value()) return std::nullopt;
  return *list;
}

}  // namespace gdrkit::diag
