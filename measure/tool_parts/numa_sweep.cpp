// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/tool_parts/numa_sweep.hpp"

#include <cstdio>
#include <map>

#include "cli/interface/exit_code.hpp"
#include "cli/interface/wrapped_text.hpp"

namespace gdrkit::measure {
namespace {

using Pair = std::pair<int, int>;

Series series_of(const NumaQuantity& quantity) {
  Series series;
  series.id = quantity.id.empty() ? "numa_copy_" + quantity.direction + "_" + std::to_string(quantity.size_bytes)
                                  : "numa_" + quantity.id;
  series.group = "numa";
  series.title = quantity.title;
  series.operation = "copy";
  series.direction = quantity.direction;
  series.method = quantity.method;
  series.conditions = {{"size_bytes", std::to_string(quantity.size_bytes)}};
  series.x_name = "cpu_node";
  series.y_name = "memory_node";
  series.unit = quantity.unit;
  series.is_lower_better = quantity.is_lower_better;
  return series;
}

/// Every pair with its values, a vector of rounds for each quantity.
using Values = std::map<Pair, std::vector<std::vector<double>>>;

void measure_pair(const Pair& pair, platform::Placement* placement, std::map<Pair, std::string>* refused,
                  Values* values, const std::function<std::vector<double>()>& measure) {
  if (refused->count(pair) != 0) return;
  const platform::Placed placed = placement->on({pair.first, pair.second});
  if (!placed.is_as_requested()) {
    values->erase(pair);
    (*refused)[pair] = placed.line();
    return;
  }
  auto& rounds = (*values)[pair];
  const std::vector<double> measured = measure();
  rounds.resize(measured.size());
  for (std::size_t index = 0; index < measured.size(); ++index) rounds[index].push_back(measured[index]);
}

}  // namespace

NumaSweep sweep_nodes(platform::Placement* placement, const std::vector<NumaQuantity>& quantities,
                      const std::function<std::vector<double>()>& measure) {
  NumaSweep sweep;
  for (const auto& node : placement->nodes()) {
    if (!node.cpus.empty()) sweep.cpu_nodes.push_back(node.number);
    if (node.memory_bytes != 0) sweep.memory_nodes.push_back(node.number);
  }
  std::map<Pair, std::string> refused;
  Values values;
  for (int round = 0; round < numa_rounds; ++round) {
    for (const int cpu_node : sweep.cpu_nodes) {
      for (const int memory_node : sweep.memory_nodes) {
        measure_pair({cpu_node, memory_node}, placement, &refused, &values, measure);
      }
    }
  }
  for (const auto& [pair, reason] : refused) {
    sweep.left_out.push_back(cli::format("CPU node %d, memory node %d is left out: ", pair.first, pair.second) +
                             reason);
  }
  if (values.empty()) {
    cli::cannot_run("cannot run --numa all: no pair of a CPU node and a memory node can be used\n" +
                    (sweep.left_out.empty() ? std::string() : sweep.left_out.front()));
  }
  for (std::size_t index = 0; index < quantities.size(); ++index) {
    Series series = series_of(quantities[index]);
    for (const auto& [pair, rounds] : values) {
      series.points.push_back(make_point(pair.first, rounds.at(index), quantities[index].operations_per_round));
      series.points.back().y = pair.second;
    }
    sweep.series.push_back(std::move(series));
  }
  return sweep;
}

void print_sweep(const NumaSweep& sweep, int gpu_node) {
  for (const Series& series : sweep.series) {
    std::printf("\n%s, %s, median of %d rounds\n%18s", series.title.c_str(), series.unit.c_str(), numa_rounds,
                "CPU \\ memory node");
    for (const int memory_node : sweep.memory_nodes) std::printf(" %10d", memory_node);
    std::printf("\n");
    for (const int cpu_node : sweep.cpu_nodes) {
      std::printf("%18d", cpu_node);
      for (const int memory_node : sweep.memory_nodes) {
        const Point* point = find_point(series, cpu_node, memory_node);
        std::printf(" %10s", point == nullptr ? "N/A" : cli::format("%.4g", point->value).c_str());
      }
      std::printf("\n");
    }
  }
  for (const std::string& line : sweep.left_out) std::printf("%s\n", cli::fitted(line, 2).c_str());
  std::printf("%s\n",
              gpu_node >= 0 ? cli::format("the GPU is on node %d", gpu_node).c_str() : "the GPU's node is unknown");
}

}  // namespace gdrkit::measure
