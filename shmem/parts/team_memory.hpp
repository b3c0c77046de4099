// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// TeamMemory: where teams have their words and scratch memory in each heap. Every heap has room for all teams from the
// start, as a team's PEs cannot grow the heaps of the others.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "gdrkit/shmem.h"

namespace gdrkit::shmem_impl::parts {

/// Offsets from the start of the teams' part of the heap.
class TeamMemory {
 public:
  TeamMemory() noexcept = default;
  /// The layout is the same on all PEs, because all PEs have the same n_pes and heap limit.
  TeamMemory(int n_pes, std::uint64_t heap_max_bytes) noexcept
      : words_bytes_(std::max<std::uint64_t>(smallest_words_bytes, 2 * row_bytes(n_pes))),
        scratch_bytes_(scratch_bytes_for(heap_max_bytes, largest_scratch_bytes)),
        world_scratch_bytes_(scratch_bytes_for(heap_max_bytes, largest_world_scratch_bytes)),
        kernel_scratch_bytes_(std::max(scratch_bytes_ / 8, smallest_scratch_bytes)),
        members_bytes_(2 * row_bytes(n_pes)),
        board_bytes_(board_header_bytes + static_cast<std::uint64_t>(n_pes) * board_entry_bytes) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return board(boards); }
  /// Returns the offset of entry 0 of the table. The entries of uneven teams are before it: the entries and words of
  /// other teams keep offsets from the heap's start that GPUs access faster (docs/design/0017).
  [[nodiscard]] static std::uint64_t table() noexcept { return table_bytes / 2; }
  [[nodiscard]] std::uint64_t words(int slot) const noexcept {
    const std::uint64_t others = slot > world_slot ? world_scratch_bytes_ - scratch_bytes_ : 0;
    return table_bytes + static_cast<std::uint64_t>(slot) * (words_bytes_ + scratch_bytes_) + others;
  }
  [[nodiscard]] std::uint64_t scratch(int slot) const noexcept { return words(slot) + words_bytes_; }
  [[nodiscard]] std::uint64_t words_bytes() const noexcept { return words_bytes_; }
  [[nodiscard]] std::uint64_t scratch_bytes(int slot) const noexcept {
    return slot == world_slot ? world_scratch_bytes_ : scratch_bytes_;
  }
  /// Returns the offset of the words that GPU kernels use if the team is uneven (gdrkit/detail/shmem_team.cuh).
  [[nodiscard]] std::uint64_t kernel_words(int slot) const noexcept {
    return words(GDRKIT_SHMEM_TEAMS_MAX) + static_cast<std::uint64_t>(slot) * kernel_bytes();
  }
  [[nodiscard]] std::uint64_t kernel_scratch(int slot) const noexcept { return kernel_words(slot) + words_bytes_; }
  [[nodiscard]] std::uint64_t kernel_scratch_bytes() const noexcept { return kernel_scratch_bytes_; }
  [[nodiscard]] std::uint64_t kernel_bytes() const noexcept { return words_bytes_ + kernel_scratch_bytes_; }
  /// Returns the offset of the team's TeamMembers.
  [[nodiscard]] std::uint64_t members(int slot) const noexcept {
    return kernel_words(GDRKIT_SHMEM_TEAMS_MAX) + static_cast<std::uint64_t>(slot) * members_bytes_;
  }
  /// Returns the offset of the words of a TeamBoard.
  [[nodiscard]] std::uint64_t board(int number) const noexcept {
    return members(GDRKIT_SHMEM_TEAMS_MAX) + static_cast<std::uint64_t>(number) * board_bytes_;
  }
  [[nodiscard]] std::uint64_t board_bytes() const noexcept { return board_bytes_; }
  [[nodiscard]] std::uint64_t team_bytes(int slot) const noexcept { return words_bytes_ + scratch_bytes(slot); }

  static constexpr std::uint64_t table_bytes = 16384;
  static constexpr int boards = 16;
  static constexpr std::uint64_t board_header_bytes = 32;
  static constexpr std::uint64_t board_entry_bytes = 32;

 private:
  static constexpr std::uint64_t smallest_words_bytes = 16384;
  static constexpr std::uint64_t smallest_scratch_bytes = 16384;
  static constexpr std::uint64_t largest_scratch_bytes = 524288;  // 64 KiB per pair of PEs without flow control
  // For the team that most programs use. A broadcast of 2 MiB in shares needs 8 MiB.
  static constexpr std::uint64_t largest_world_scratch_bytes = std::uint64_t{8} << 20;
  static constexpr int world_slot = GDRKIT_SHMEM_TEAM_WORLD;

  static std::uint64_t scratch_bytes_for(std::uint64_t heap_max_bytes, std::uint64_t largest) noexcept {
    return std::clamp(std::bit_floor(heap_max_bytes / 2048), smallest_scratch_bytes, largest);
  }
  static std::uint64_t row_bytes(int n_pes) noexcept {
    return (static_cast<std::uint64_t>(n_pes) * 8 + 127) / 128 * 128;
  }

  std::uint64_t words_bytes_ = 0;
  std::uint64_t scratch_bytes_ = 0;
  std::uint64_t world_scratch_bytes_ = 0;
  std::uint64_t kernel_scratch_bytes_ = 0;
  std::uint64_t members_bytes_ = 0;
  std::uint64_t board_bytes_ = 0;
};

}  // namespace gdrkit::shmem_impl::parts
