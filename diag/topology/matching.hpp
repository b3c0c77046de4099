// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Matching: the best adapter of each GPU, for all GPUs together, so that none takes what another needs more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diag/topology/nccl_graph.hpp"
#include "diag/topology/path_class.hpp"
#include "diag/topology/pci_tree.hpp"

namespace gdrkit::diag::topology {

/// cost[row][column] of giving a row (GPU) a column (adapter); none: never. A column may serve several rows: its n-th
/// row costs n * load_cost more, from n = 0. Returns the column of each row with the least sum; none for a row that has
/// no column. Every row that can have one gets one.
[[nodiscard]] std::vector<std::optional<std::size_t>> minimum_cost_assignment(
    const std::vector<std::vector<std::optional<std::int64_t>>>& cost, std::int64_t load_cost);

struct BestAdapter {
  std::optional<std::size_t> adapter;       ///< position in PciTree::adapters
  PathClass nearness = PathClass::unknown;  ///< pix, pxb, chip_host, phb, node or sys
  std::string why;                          ///< what decides the class; without an adapter: why there is none
};

struct Matching {
  std::vector<BestAdapter> gpus;
  /// Of the shape alone: which adapter in PCI order each GPU has, and how near. Machines of one kind have one hash,
  /// whatever their bus numbers and names.
  std::uint64_t hash = 0;
};

/// The class of a GPU and an adapter that counts for transfers between them: nvidia-smi's, but PIX where NCCL sees one
/// switch (Broadcom's two levels) and P2C where a C2C link leads there.
[[nodiscard]] Distance transfer_distance(const PciTree& tree, const NcclDistances& nccl, std::size_t gpu,
                                         std::size_t adapter);

/// `is_usable` by position in PciTree::adapters. The class decides first, then NUMA nodes, then even load, then the
/// distance of the bus numbers, then order: of equal adapters the first GPU has the first one.
[[nodiscard]] Matching match_adapters(const PciTree& tree, const NcclDistances& nccl,
                                      const std::vector<bool>& is_usable);

}  // namespace gdrkit::diag::topology
