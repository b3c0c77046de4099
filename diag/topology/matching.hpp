// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Matching: the best adapter of each GPU, chosen for all GPUs together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diag/topology/nccl_graph.hpp"
#include "diag/topology/path_class.hpp"
#include "diag/topology/pci_tree.hpp"

namespace gdrkit::diag::topology {

/// cost[row][column] of giving a column (adapter) to a row (GPU); none: impossible. A column may serve several rows:
/// its n-th row costs n * load_cost more, from n = 0. Returns the column of each row with the smallest sum. Every row
/// that can have a column gets one, and the others get none.
[[nodiscard]] std::vector<std::optional<std::size_t>> minimum_cost_assignment(
    const std::vector<std::vector<std::optional<std::int64_t>>>& cost, std::int64_t load_cost);

struct BestAdapter {
  std::optional<std::size_t> adapter;       ///< position in PciTree::adapters
  PathClass nearness = PathClass::unknown;  ///< the deciding bridge or node; without an adapter: the reason
  std::string why;                          ///< what decides the class; without an adapter: why there is none
};

struct Matching {
  std::vector<BestAdapter> gpus;
  /// Hash of the structure: which adapter in PCI order each GPU has, and how near. Machines of one kind have one hash,
  /// independent of bus numbers and names.
  std::uint64_t hash = 0;
};

/// The class of a GPU and an adapter for transfers between them: nvidia-smi's, except PIX if NCCL sees one switch
/// (Broadcom's two levels), and P2C if a C2C link leads there.
[[nodiscard]] Distance transfer_distance(const PciTree& tree, const NcclDistances& nccl, std::size_t gpu,
                                         std::size_t adapter);

/// `is_usable` by position in PciTree::adapters. Compares the class first, then NUMA nodes, load balance, distance of
/// the bus numbers, and order: of equal adapters the first GPU gets the first one.
[[nodiscard]] Matching match_adapters(const PciTree& tree, const NcclDistances& nccl,
                                      const std::vector<bool>& is_usable);

}  // namespace gdrkit::diag::topology
