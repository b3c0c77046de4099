// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collective: one line of collectives.def, and what follows from it: counts, the place of the data, bandwidths, and
// what each rank must hold at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gdrkit::transfer::engines {

enum class CollectiveKind : std::uint8_t {
#define GDRKIT_COLLECTIVE(name, ...) name,
#include "transfer/engines/collectives.def"
#undef GDRKIT_COLLECTIVE
};

/// Of a buffer: one part, or one for each rank.
enum class Parts : std::uint8_t { one, all };
/// The share of each byte that a link carries with the best possible algorithm and n ranks: (n-1)/n, twice that, or 1;
/// or (n-1)/n, which the algorithm's bandwidth counts too.
enum class BusFactor : std::uint8_t { others, twice_others, whole, only_others };

/// Elements of the output that come from one rank, or from all ranks combined.
struct Piece {
  std::size_t offset = 0;  ///< in the output, in elements, as all here
  std::size_t count = 0;
  int source = 0;         ///< the rank; -1: all ranks, combined
  std::size_t first = 0;  ///< of the source's elements
};

struct Collective {
  CollectiveKind kind;
  const char* name;
  Parts sends;
  Parts receives;
  BusFactor bus_factor;
  bool is_reducing;
  bool has_root;
  bool is_checked_in_place;  ///< its result in place is defined

  /// Elements of a part in a test of `size_bytes`, as nccl-tests counts: parts of one buffer are multiples of 16 bytes.
  [[nodiscard]] std::size_t part_count(std::size_t size_bytes, std::size_t element_bytes, int ranks) const noexcept;
  [[nodiscard]] std::size_t send_count(std::size_t part, int ranks) const noexcept;
  [[nodiscard]] std::size_t receive_count(std::size_t part, int ranks) const noexcept;
  /// The larger of both, which bandwidths and the table's column `size` count.
  [[nodiscard]] std::size_t table_count(std::size_t part, int ranks) const noexcept;
  /// In place: where a rank's input begins in the one buffer, and its output.
  [[nodiscard]] std::size_t input_offset(std::size_t part, int rank) const noexcept;
  [[nodiscard]] std::size_t output_offset(std::size_t part, int rank) const noexcept;
  /// The share of the larger count that the algorithm's bandwidth counts.
  [[nodiscard]] double algorithm_share(int ranks) const noexcept;
  /// Factor from the algorithm's bandwidth to the bus bandwidth.
  [[nodiscard]] double bus_share(int ranks) const noexcept;
  /// The calls of an operation, each of which needs the result of the one before. Hypercube: the copy of the own part,
  /// and an exchange with each neighbour.
  [[nodiscard]] int steps(int ranks) const noexcept;
  /// Whether the operation runs with this number of ranks: hypercube needs a power of two.
  [[nodiscard]] bool runs_with(int ranks) const noexcept;
  /// Of the output of `rank`; nothing where its output is not defined.
  [[nodiscard]] std::vector<Piece> pieces(std::size_t part, int rank, int ranks, int root) const;
};

/// In the order of collectives.def.
[[nodiscard]] const std::vector<Collective>& all_collectives();

}  // namespace gdrkit::transfer::engines
