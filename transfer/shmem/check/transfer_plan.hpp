// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// TransferPlan: many transfers of all sizes and alignments between two regions of equal layout, the local one and the
// remote one, with bytes between them that no transfer may touch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gdrkit::transfer::shmem {

struct PlannedTransfer {
  std::size_t size_bytes = 0;
  std::size_t local_offset = 0;   ///< in the region
  std::size_t remote_offset = 0;  ///< in the region
  std::size_t begin = 0;          ///< of the part of the region that belongs to this transfer, a multiple of 64
};

struct TransferPlan {
  std::vector<PlannedTransfer> transfers;
  std::size_t region_bytes = 0;
};

enum class Side { local, remote };

constexpr std::size_t largest_planned_bytes = std::size_t{8} << 20;

/// Sizes from 1 byte to `largest_bytes`, and to largest_planned_bytes at most.
[[nodiscard]] TransferPlan plan_transfers(std::size_t largest_bytes);
/// The region with every transfer's data, made from `seed`, on that side, and `filler` in all other bytes.
[[nodiscard]] std::vector<std::uint8_t> region_image(const TransferPlan& plan, Side side, std::uint64_t seed,
                                                     std::uint8_t filler);
/// The first difference: "4097 bytes (local + 1, remote + 3): byte 17 is 0x3a, expected 0x91". Empty if there is none.
[[nodiscard]] std::optional<std::string> first_difference(const TransferPlan& plan, Side side,
                                                          const std::vector<std::uint8_t>& got,
                                                          const std::vector<std::uint8_t>& expected);

}  // namespace gdrkit::transfer::shmem
