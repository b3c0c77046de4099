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

/// A quantity that is measured on each pair.
struct NumaQuantity {
  std::string title;      ///< "to device, 131072 bytes"
  std::string direction;  ///< "to_device" or "from_device"
  std::size_t size_bytes = 0;
  std::string unit;  ///< "GB/s" or "us"
  bool is_lower_better = true;
  std::size_t operations_per_round = 1;
  std::string id = {};  ///< "": derived from direction and size
  std::string method = "mapping";
};

struct NumaSweep {
  std::vector<Series> series;                ///< one per quantity: x is the CPU node, y the memory node
  std::vector<std::string> left_out;         ///< one line for each pair that is not available
  std::vector<int> cpu_nodes, memory_nodes;  ///< those with CPUs, with memory
};

inline constexpr int numa_rounds = 5;

/// Each round visits all pairs, so that temporary disturbances affect all. `measure` runs on the pair and must allocate
/// its host memory then. Throws Failure(cannot_run) if no pair is available.
[[nodiscard]] NumaSweep sweep_nodes(platform::Placement* placement, const std::vector<NumaQuantity>& quantities,
                                    const std::function<std::vector<double>()>& measure);

/// A matrix per quantity: rows are CPU nodes, columns memory nodes; then the omitted pairs and the GPU's node.
void print_sweep(const NumaSweep& sweep, int gpu_node);

}  // namespace gdrkit::measure
