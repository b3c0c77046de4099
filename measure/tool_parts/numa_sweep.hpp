// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NumaSweep: one measurement on every pair of CPU node and memory node.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "measure/result/result.hpp"
#include "platform/host/placement.hpp"

namespace gdrkit::measure {

/// What is measured on each pair: one value for each quantity.
struct NumaQuantity {
  std::string title;      ///< "to device, 131072 bytes"
  std::string direction;  ///< "to_device" or "from_device"
  std::size_t size_bytes = 0;
  std::string unit;  ///< "GB/s" or "us"
  bool is_lower_better = true;
  std::size_t operations_per_round = 1;
  std::string id = {};  ///< "": made of direction and size
  std::string method = "mapping";
};

struct NumaSweep {
  std::vector<Series> series;                ///< one a quantity: x is the CPU node, y the memory node
  std::vector<std::string> left_out;         ///< one line for each pair that is not available
  std::vector<int> cpu_nodes, memory_nodes;  ///< that have CPUs, memory
};

inline constexpr int numa_rounds = 5;

/// Each round visits all pairs, so that what disturbs the machine for a while disturbs all. `measure` runs on the pair
/// and must take its host memory then. Throws Failure(cannot_run) when no pair can be had.
[[nodiscard]] NumaSweep sweep_nodes(platform::Placement* placement, const std::vector<NumaQuantity>& quantities,
                                    const std::function<std::vector<double>()>& measure);

/// A matrix a quantity: rows are CPU nodes, columns memory nodes; then what was left out, and the GPU's node.
void print_sweep(const NumaSweep& sweep, int gpu_node);

}  // namespace gdrkit::measure
