// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RawComparison: the library's copies compared with raw loops on the same mapping, in interleaved rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "measure/baseline/raw_loops.hpp"
#include "measure/copylat/latency.hpp"
#include "measure/harness/direction.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"

namespace gdrkit::measure::copylat {

/// Each round: one batch of the library's copies and one of the raw loop, alternating in order.
struct RawRow {
  Direction direction = Direction::to_device;
  std::size_t size_bytes = 0;
  std::size_t iterations = 0;      ///< in a batch
  std::vector<double> library_ns;  ///< of one copy, one value per round
  std::vector<double> raw_ns;
  std::vector<double> library_single_ns;  ///< of copies timed one by one, each after the end of the previous one
  std::vector<double> raw_single_ns;
  double library_median_ns = 0;
  double raw_median_ns = 0;
  /// The limit applies to the medians of single copies, not to those of the loops. True for GDRCopy's reads: in a loop
  /// they overlap, or the streaming-load buffer of an earlier call serves them.
  bool is_judged_by_singles = false;

  [[nodiscard]] double ratio() const { return library_median_ns / raw_median_ns; }
  /// Of the medians of single copies.
  [[nodiscard]] double single_ratio() const;
  [[nodiscard]] double difference_ns() const { return library_median_ns - raw_median_ns; }
  /// The library's documented limit: 5 % or 10 ns above the raw loop, whichever is more.
  [[nodiscard]] double limit_ns() const;
  [[nodiscard]] bool is_within_limit() const;
};

struct RawRequest {
  measure::RawKind kind = measure::RawKind::sse41;
  std::size_t largest_bytes = 0;
  int rounds = 0;
  double batch_ns = 0;  ///< target time of a batch, which has at least one copy
};

/// Both directions, powers of two up to largest_bytes. Calls `after_row` after each row. Every copy's content is
/// verified outside the timed part. Throws Failure.
[[nodiscard]] std::vector<RawRow> compare_with_raw(platform::Device* device, const MappedBuffer& buffer,
                                                   std::uint64_t device_address, const RawRequest& request,
                                                   const std::function<void(const RawRow&)>& after_row);

}  // namespace gdrkit::measure::copylat
