// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RankLayout: the GPU, cores, memory and adapter of one process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/machine/adapter_ports.hpp"
#include "diag/topology/nccl_graph.hpp"

namespace gdrkit::diag {

/// The CPUs of one core: SMT siblings belong together. Ascending.
using Core = std::vector<int>;

/// `cpus` grouped into cores, sorted by their first CPU. A CPU with unknown siblings is its own core.
[[nodiscard]] std::vector<Core> cores_of(const topology::MachineView& view, const std::vector<int>& cpus);

/// The part `index` of `parts` of the cores; sizes differ by at most one core. If there are fewer cores than parts,
/// several parts share a core.
[[nodiscard]] std::vector<Core> slice_of(const std::vector<Core>& cores, std::size_t index, std::size_t parts);

/// All CPUs of cores, ascending.
[[nodiscard]] std::vector<int> cpus_of(const std::vector<Core>& cores);

struct RankPlace {
  std::size_t gpu = 0;  ///< position in PciTree::gpus
  std::vector<int> cpus;
  std::vector<int> reserved;  ///< CPUs of the slice that are reserved for interrupts and the library's threads
  int node = -1;              ///< of the memory; -1: the machine does not report it
  std::optional<std::size_t> adapter;
  topology::PathClass nearness = topology::PathClass::unknown;
  bool is_only_near = false;       ///< no other usable adapter is as near to the GPU
  std::vector<std::string> notes;  ///< sentences on deficiencies of the layout
};

struct RankLayout {
  topology::PciTree tree;
  std::vector<AdapterUse> adapters;
  topology::Matching matching;
  std::vector<RankPlace> ranks;  ///< one for each GPU that can be used, in PCI order
};

/// `allowed`: CPUs that the process may use; empty: all. `reserves`: the first core of each slice is kept free. If
/// `links` is unknown, only PCIe determines which adapters are near.
[[nodiscard]] RankLayout lay_out(const topology::MachineView& view, const topology::NvLinks& links,
                                 const std::optional<std::vector<int>>& allowed, bool reserves);

/// Of /proc/self/status; empty if the file does not contain it.
[[nodiscard]] std::optional<std::vector<int>> recorded_cpus(const topology::MachineView& view);

}  // namespace gdrkit::diag
