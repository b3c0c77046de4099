// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// copies: every size in both directions, with all methods in the same interleaved rounds.
#include "measure/bench/measure/copy_station.hpp"

namespace gdrkit::measure::bench {
namespace {

constexpr std::size_t largest_bytes = std::size_t{256} << 20;
const std::vector<std::size_t> quick_sizes = {1, 8, 64, 512, 4096, 32768, 262144, 2097152, 16777216};

std::vector<std::size_t> every_power_of_two() {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 1; size <= largest_bytes; size *= 2) sizes.push_back(size);
  return sizes;
}

}  // namespace

std::vector<Cell> copies_cells(Session* session) {
  CopyScene scene;
  scene.section = "copies";
  scene.methods = all_copy_methods();
  std::vector<Cell> cells;
  for (const Direction direction : {Direction::to_device, Direction::from_device}) {
    for (const std::size_t size : session->sizes_or(session->options().is_quick ? quick_sizes : every_power_of_two())) {
      cells.push_back(copy_cell(session, scene, direction, size));
    }
  }
  return cells;
}

}  // namespace gdrkit::measure::bench
