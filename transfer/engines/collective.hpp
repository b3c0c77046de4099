// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collective: one line of collectives.def, and what follows from it: counts, the place of the data, bandwidths, and the
// expected data of each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/gpu_code/gpu_kernels.hpp"
#include "platform/gpu_code/pattern_params.hpp"
#include "platform/vendor/nccl_library.hpp"

namespace gdrkit::transfer::engines {

/// A value of -d.
struct ElementType {
  const char* name;
  platform::NcclType nccl;
  std::uint32_t size_bytes;
  std::uint32_t mantissa_bits;  ///< 0: an integer type
  std::uint32_t exponent_bias;
  std::uint32_t largest;  ///< integers from 0 to this are exact
};

/// A value of -o.
struct Reduction {
  const char* name;
  platform::NcclReduction nccl;
  platform::PatternKind pattern;
};

[[nodiscard]] const std::vector<ElementType>& all_element_types();
[[nodiscard]] const ElementType& element_type_of(platform::NcclType type);
[[nodiscard]] const std::vector<Reduction>& all_reductions();
/// For a collective that does not reduce.
[[nodiscard]] const Reduction& no_reduction();

enum class CollectiveKind : std::uint8_t {
#define GDRKIT_COLLECTIVE(name, ...) name,
#include "transfer/engines/collectives.def"
#undef GDRKIT_COLLECTIVE
};

/// Size of a buffer: one part, or one for each rank.
enum class Parts : std::uint8_t { one, all };
/// The number of times that a link carries each byte with the best possible algorithm and n ranks: (n-1)/n, twice that,
/// or 1; or (n-1)/n, which the algorithm's bandwidth counts too.
enum class BusFactor : std::uint8_t { others, twice_others, whole, only_others };

/// Elements of the output that come from one rank, or from all ranks combined.
struct Piece {
  std::size_t offset = 0;  ///< in the output, in elements, like all fields here
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

  /// Elements of a part in a test of `size_bytes`, computed like nccl-tests: parts of one buffer are multiples of 16
  /// bytes.
  [[nodiscard]] std::size_t part_count(std::size_t size_bytes, std::size_t element_bytes, int ranks) const noexcept;
  [[nodiscard]] std::size_t send_count(std::size_t part, int ranks) const noexcept;
  [[nodiscard]] std::size_t receive_count(std::size_t part, int ranks) const noexcept;
  /// The larger of both. Bandwidths and the table's column `size` are based on it.
  [[nodiscard]] std::size_t table_count(std::size_t part, int ranks) const noexcept;
  /// In place: the offsets of a rank's input and output in the one buffer.
  [[nodiscard]] std::size_t input_offset(std::size_t part, int rank) const noexcept;
  [[nodiscard]] std::size_t output_offset(std::size_t part, int rank) const noexcept;
  /// The part of the larger count on which the algorithm's bandwidth is based.
  [[nodiscard]] double algorithm_share(int ranks) const noexcept;
  /// Factor from the algorithm's bandwidth to the bus bandwidth.
  [[nodiscard]] double bus_share(int ranks) const noexcept;
  /// The calls of an operation, each of which needs the result of the previous one. Hypercube: the copy of the rank's
  /// own part, and an exchange with each neighbour.
  [[nodiscard]] int steps(int ranks) const noexcept;
  /// Whether the operation supports this number of ranks: hypercube requires a power of two.
  [[nodiscard]] bool runs_with(int ranks) const noexcept;
  /// The pieces of the output of `rank`; empty if its output is undefined.
  [[nodiscard]] std::vector<Piece> pieces(std::size_t part, int rank, int ranks, int root) const;
};

/// In the order of collectives.def.
[[nodiscard]] const std::vector<Collective>& all_collectives();

}  // namespace gdrkit::transfer::engines
