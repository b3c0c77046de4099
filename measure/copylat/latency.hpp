// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Latency: the measuring core of copylat; prints nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "measure/harness/direction.hpp"
#include "measure/harness/host_buffer.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"

namespace gdrkit::measure::copylat {

/// Statistics of the means of up to most_buckets equal parts of the iterations, as in GDRCopy.
struct LatencyRow {
  std::size_t size_bytes = 0;
  double median_us = 0;
  double minimum_us = 0;
};
inline constexpr int most_buckets = 100;

/// `iterations` raised such that the buckets are equal.
[[nodiscard]] int whole_buckets(int iterations);

/// One direction through the mapping. `is_cold` flushes both sides from the CPU's caches before each copy.
[[nodiscard]] LatencyRow measure_mapping(const MappedBuffer& buffer, const HostBuffer& host, Direction direction,
                                         std::size_t size_bytes, int iterations, bool is_cold);

/// The driver's synchronous copy, for comparison.
[[nodiscard]] LatencyRow measure_driver(platform::Device* device, std::uint64_t address, const HostBuffer& host,
                                        Direction direction, std::size_t size_bytes, int iterations);

}  // namespace gdrkit::measure::copylat
