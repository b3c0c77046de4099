// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Bandwidth: the measuring core of copybw; prints nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "measure/tool_parts/mapped_buffer.hpp"

namespace gdrkit::measure::copybw {

/// A 4-byte word that differs from the written one.
struct WrongWord {
  std::size_t index = 0;
  std::uint32_t content = 0;
  std::uint32_t expected = 0;
};
inline constexpr std::size_t most_wrong_words = 10;  ///< stored per test

struct BandwidthResult {
  std::size_t size_bytes = 0;
  std::size_t offset_bytes = 0;
  double write_mib_per_s = 0;
  double read_mib_per_s = 0;
  std::vector<WrongWord> wrong_in_device;  ///< after writing, according to the device's own copy
  std::vector<WrongWord> wrong_in_host;    ///< after reading back through the mapping
  [[nodiscard]] bool is_verified() const { return wrong_in_device.empty() && wrong_in_host.empty(); }
};

struct BandwidthRequest {
  std::vector<std::size_t> sizes_bytes;
  std::size_t offset_bytes = 0;
  std::size_t write_iterations = 0;  ///< not 0
  std::size_t read_iterations = 0;   ///< not 0
};

/// Called for each step: a test of large buffers takes seconds. The base class prints nothing.
class BandwidthListener {
 public:
  virtual ~BandwidthListener() = default;
  virtual void before_write(std::size_t /*size_bytes*/) {}
  virtual void after_write(double /*mib_per_s*/) {}
  virtual void before_read(std::size_t /*size_bytes*/) {}
  virtual void after_read(double /*mib_per_s*/) {}
  virtual void after_size(const BandwidthResult& /*result*/) {}
};

/// For each size: writes, reads back, and compares both with the written data. Throws Failure.
[[nodiscard]] std::vector<BandwidthResult> measure_bandwidth(platform::Device* device, const MappedBuffer& buffer,
                                                             std::uint64_t device_address,
                                                             const BandwidthRequest& request,
                                                             BandwidthListener* listener);

/// Words in which the first `size_bytes` differ, at most most_wrong_words; bytes past the end count as 0.
[[nodiscard]] std::vector<WrongWord> compare_words(const std::uint8_t* content, const std::uint8_t* expected,
                                                   std::size_t size_bytes);

}  // namespace gdrkit::measure::copybw
