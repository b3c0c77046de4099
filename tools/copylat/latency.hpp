// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Latency: the measuring core of copylat; prints nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tools/common/mapped_buffer.hpp"
#include "tools/copylat/direction.hpp"

namespace gdrkit::tools {

/// Of the means of up to most_buckets equal parts of the iterations, as the predecessor counts.
struct LatencyRow {
  std::size_t size_bytes = 0;
  double median_us = 0;
  double minimum_us = 0;
};
inline constexpr int most_buckets = 100;

/// `iterations` raised so that the buckets are equal.
[[nodiscard]] int whole_buckets(int iterations);

/// Host memory of a benchmark: page aligned, touched.
class HostBuffer {
 public:
  explicit HostBuffer(std::size_t size_bytes);
  ~HostBuffer();
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  [[nodiscard]] std::uint8_t* data() const noexcept { return data_; }

 private:
  std::uint8_t* data_ = nullptr;
};

/// One direction through the mapping. `is_cold` flushes both sides from the CPU's caches before each copy.
[[nodiscard]] LatencyRow measure_mapping(const MappedBuffer& buffer, const HostBuffer& host, Direction direction,
                                         std::size_t size_bytes, int iterations, bool is_cold);

/// The driver's synchronous copy, for comparison.
[[nodiscard]] LatencyRow measure_driver(shim::Device* device, std::uint64_t address, const HostBuffer& host,
                                        Direction direction, std::size_t size_bytes, int iterations);

}  // namespace gdrkit::tools
