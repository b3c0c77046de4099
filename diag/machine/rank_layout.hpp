// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RankLayout: for one process a GPU, its cores, its memory and its adapter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/machine/adapter_use.hpp"
#include "diag/topology/nccl_graph.hpp"

namespace gdrkit::diag {

/// The CPUs of one core: SMT siblings belong together. Ascending.
using Core = std::vector<int>;

/// `cpus` as cores, by their first CPU. A CPU whose siblings are not known is a core of its own.
[[nodiscard]] std::vector<Core> cores_of(const topology::MachineView& view, const std::vector<int>& cpus);

/// The part `index` of `parts` of the cores, even to one core; with fewer cores than parts, one that several share.
[[nodiscard]] std::vector<Core> slice_of(const std::vector<Core>& cores, std::size_t index, std::size_t parts);

/// All CPUs of cores, ascending.
[[nodiscard]] std::vector<int> cpus_of(const std::vector<Core>& cores);

struct RankPlace {
  std::size_t gpu = 0;  ///< position in PciTree::gpus
  std::vector<int> cpus;
  std::vector<int> reserved;  ///< CPUs of the slice that were left to interrupts and the library's threads
  int node = -1;              ///< of the memory; -1: the machine does not say
  std::optional<std::size_t> adapter;
  topology::PathClass nearness = topology::PathClass::unknown;
  bool is_only_near = false;       ///< no other usable adapter is as near to the GPU
  std::vector<std::string> notes;  ///< sentences on what is not as one would wish
};

struct RankLayout {
  topology::PciTree tree;
  std::vector<AdapterUse> adapters;
  topology::Matching matching;
  std::vector<RankPlace> ranks;  ///< one for each GPU that can be used, in PCI order
};

/// `allowed`: CPUs that the process may use; nothing: all. `reserves`: the first core of each slice is kept free.
/// `links` may be unknown: then adapters are as near as PCIe has them.
[[nodiscard]] RankLayout lay_out(const topology::MachineView& view, const topology::NvLinks& links,
                                 const std::optional<std::vector<int>>& allowed, bool reserves);

/// Of /proc/self/status; nothing when it does not tell.
[[nodiscard]] std::optional<std::vector<int>> recorded_cpus(const topology::MachineView& view);

}  // namespace gdrkit::diag
