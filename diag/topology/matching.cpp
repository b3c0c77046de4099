// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/matching.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace gdrkit::diag::topology {
namespace {

using Costs = std::vector<std::vector<std::optional<std::int64_t>>>;

constexpr std::int64_t far_away = std::numeric_limits<std::int64_t>::max() / 4;

// A unit of load costs ten, a NUMA mismatch a hundred, a step of class a thousand. Bus distances (below 2^12 after the
// cap) and order (below 2^20) must not outweigh a unit of load even when summed over all GPUs.
constexpr std::int64_t order_bits = 20;
constexpr std::int64_t bus_bits = 20;
constexpr std::int64_t unit = std::int64_t{1} << (order_bits + bus_bits);
constexpr std::int64_t most_bus_distance = 4095;

/// Successive shortest paths: each row in turn takes the cheapest chain of moves that frees a place for it. Loads make
/// the columns' costs convex, for which this is optimal.
class Assignment {
 public:
  Assignment(const Costs& cost, std::int64_t load_cost)
      : cost_(cost), load_cost_(load_cost), columns_(cost.empty() ? 0 : cost.front().size()), rows_of_(columns_) {
    column_of_.resize(cost.size());
  }

  std::vector<std::optional<std::size_t>> solve() {
    for (std::size_t row = 0; row < cost_.size(); ++row) place(row);
    return column_of_;
  }

 private:
  struct Step {
    std::int64_t cost = far_away;
    std::size_t from = 0;  ///< the column from which a row moves here
    std::optional<std::size_t> mover;
  };

  void place(std::size_t row) {
    std::vector<Step> steps(columns_);
    for (std::size_t column = 0; column < columns_; ++column) {
      if (cost_[row][column].has_value()) steps[column].cost = *cost_[row][column];
    }
    // There is no cycle of negative cost, so as many rounds as columns in use are enough.
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (std::size_t from = 0; from < columns_; ++from) {
        if (steps[from].cost >= far_away) continue;
        for (const std::size_t mover : rows_of_[from]) has_changed = relax(steps, from, mover) || has_changed;
      }
    }
    std::optional<std::size_t> best;
    std::int64_t least = far_away;
    for (std::size_t column = 0; column < columns_; ++column) {
      if (steps[column].cost >= far_away) continue;
      const std::int64_t total = steps[column].cost + load_cost_ * static_cast<std::int64_t>(rows_of_[column].size());
      if (!best.has_value() || total < least) {
        best = column;
        least = total;
      }
    }
    if (best.has_value()) apply(steps, row, *best);
  }

  bool relax(std::vector<Step>& steps, std::size_t from, std::size_t mover) const {
    bool has_changed = false;
    for (std::size_t to = 0; to < columns_; ++to) {
      if (to == from || !cost_[mover][to].has_value()) continue;
      const std::int64_t through = steps[from].cost + *cost_[mover][to] - *cost_[mover][from];
      if (through >= steps[to].cost) continue;
      steps[to] = {through, from, mover};
      has_changed = true;
    }
    return has_changed;
  }

  void apply(const std::vector<Step>& steps, std::size_t row, std::size_t column) {
    while (steps[column].mover.has_value()) {
      const std::size_t mover = *steps[column].mover;
      const std::size_t from = steps[column].from;
      rows_of_[from].erase(std::ranges::find(rows_of_[from], mover));
      rows_of_[column].push_back(mover);
      column_of_[mover] = column;
      column = from;
    }
    rows_of_[column].push_back(row);
    column_of_[row] = column;
  }

  const Costs& cost_;
  std::int64_t load_cost_;
  std::size_t columns_;
  std::vector<std::vector<std::size_t>> rows_of_;
  std::vector<std::optional<std::size_t>> column_of_;
};

std::int64_t rank_of(PathClass value) {
  constexpr PathClass order[] = {PathClass::pix, PathClass::pxb,  PathClass::chip_host,
                                 PathClass::phb, PathClass::node, PathClass::sys};
  return std::ranges::find(order, value) - std::begin(order);
}

std::int64_t cost_of(const TreeDevice& gpu, const TreeDevice& adapter, PathClass nearness, std::int64_t places_apart) {
  const auto& node_a = gpu.function.numa_node;
  const auto& node_b = adapter.function.numa_node;
  const bool is_mismatch = node_a.is_found() && node_b.is_found() && node_a.value != node_b.value;
  const platform::PciAddress& a = gpu.function.address;
  const platform::PciAddress& b = adapter.function.address;
  const std::int64_t buses = a.domain == b.domain ? std::abs(int{a.bus} - int{b.bus}) : most_bus_distance;
  return (rank_of(nearness) * 1000 + (is_mismatch ? 100 : 0)) * unit + (buses << order_bits) +
         std::min(places_apart * places_apart, (std::int64_t{1} << order_bits) / 256);
}

/// FNV-1a, 64 bits: short, and the same on all platforms.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

std::vector<std::optional<std::size_t>> minimum_cost_assignment(const Costs& cost, std::int64_t load_cost) {
  return Assignment(cost, load_cost).solve();
}

Distance transfer_distance(const PciTree& tree, const NcclDistances& nccl, std::size_t gpu, std::size_t adapter) {
  const Distance& seen = nccl.gpu_adapter(gpu, adapter);
  if (seen.value == PathClass::pix || seen.value == PathClass::chip_host) return seen;
  return smi_distance(tree, NvLinks{}, tree.gpus[gpu], tree.adapters[adapter]);
}

Matching match_adapters(const PciTree& tree, const NcclDistances& nccl, const std::vector<bool>& is_usable) {
  std::vector<std::vector<Distance>> distances(tree.gpus.size());
  Costs costs(tree.gpus.size(), std::vector<std::optional<std::int64_t>>(tree.adapters.size()));
  std::vector<std::string> why_none(tree.gpus.size(), "no usable adapter");
  for (std::size_t gpu = 0; gpu < tree.gpus.size(); ++gpu) {
    for (std::size_t i = 0; i < tree.adapters.size(); ++i) {
      distances[gpu].push_back(transfer_distance(tree, nccl, gpu, i));
      if (!is_usable[i]) continue;
      const Distance& distance = distances[gpu].back();
      if (distance.value == PathClass::unknown) {
        why_none[gpu] = distance.why;
      } else {
        const auto apart = static_cast<std::int64_t>(gpu) - static_cast<std::int64_t>(i);
        costs[gpu][i] = cost_of(tree.gpus[gpu], tree.adapters[i], distance.value, apart);
      }
    }
  }
  Matching matching;
  const auto chosen = minimum_cost_assignment(costs, 10 * unit);
  std::string shape = std::to_string(tree.gpus.size()) + " GPUs " + std::to_string(tree.adapters.size()) + " adapters";
  for (std::size_t gpu = 0; gpu < tree.gpus.size(); ++gpu) {
    BestAdapter best;
    best.adapter = chosen[gpu];
    best.nearness = best.adapter.has_value() ? distances[gpu][*best.adapter].value : PathClass::unknown;
    best.why = best.adapter.has_value() ? distances[gpu][*best.adapter].why : why_none[gpu];
    shape += " " + (best.adapter.has_value() ? std::to_string(*best.adapter) : "-") + ":" + name_of(best.nearness);
    matching.gpus.push_back(std::move(best));
  }
  matching.hash = hash_of(shape);
  return matching;
}

}  // namespace gdrkit::diag::topology
