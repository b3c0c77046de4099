// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How many blocks of each PE run at once if several PEs share a GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace gdrkit::shmem_impl::parts {

/// A PE's GPU.
struct PeGpu {
  unsigned char uuid[16] = {};
  std::int32_t multiprocessors = 0;  ///< 0: unknown, as of the emulated device
};

/// Returns how many blocks each PE may launch so that the blocks of all PEs run at the same time on idle GPUs, with one
/// block per multiprocessor. Blocks of different PEs wait for each other, so a block that cannot start stops the others
/// until their limit. PEs in different processes share a GPU in time slices, unless MPS runs them together.
[[nodiscard]] inline int blocks_at_once(const std::vector<PeGpu>& gpus) noexcept {
  int blocks = std::numeric_limits<int>::max();
  for (const PeGpu& gpu : gpus) {
    if (gpu.multiprocessors <= 0) continue;
    const auto sharing = std::count_if(gpus.begin(), gpus.end(), [&](const PeGpu& other) {
      return std::memcmp(other.uuid, gpu.uuid, sizeof gpu.uuid) == 0;
    });
    blocks = std::min(blocks, std::max(1, gpu.multiprocessors / static_cast<int>(sharing)));
  }
  return blocks;
}

}  // namespace gdrkit::shmem_impl::parts
