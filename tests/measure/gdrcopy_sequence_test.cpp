// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GDRCopy's sequence must copy the right bytes, for every size and alignment, to be a valid baseline.
#include "measure/baseline/gdrcopy_sequence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace gdrkit::measure {
namespace {

constexpr std::size_t area_bytes = 2048;

struct Free {
  void operator()(unsigned char* memory) const { std::free(memory); }
};
using Area = std::unique_ptr<unsigned char, Free>;

/// 64-byte aligned, and zero.
Area make_area() {
  Area area(static_cast<unsigned char*>(std::aligned_alloc(64, area_bytes)));
  std::memset(area.get(), 0, area_bytes);
  return area;
}

std::vector<unsigned char> pattern() {
  std::vector<unsigned char> bytes(area_bytes);
  for (std::size_t at = 0; at < area_bytes; ++at) bytes[at] = static_cast<unsigned char>(at * 131 + (at >> 8) * 29 + 1);
  return bytes;
}

/// Whether the area has `size` bytes of the pattern at `start`, and zeros elsewhere.
bool holds(const unsigned char* area, std::size_t start, std::size_t size, const unsigned char* bytes) {
  std::vector<unsigned char> expected(area_bytes);
  std::copy_n(bytes, size, expected.begin() + static_cast<std::ptrdiff_t>(start));
  return std::memcmp(area, expected.data(), area_bytes) == 0;
}

TEST(GdrcopySequence, CopiesExactlyTheRangeInBothDirections) {
  if (!gdrcopy_sequence_runs_here()) GTEST_SKIP() << "this CPU lacks SSE4.1";
  const std::vector<unsigned char> bytes = pattern();
  const Area device = make_area();
  const Area host = make_area();
  for (const std::size_t size : {0U,  1U,  2U,  3U,  5U,  8U,   15U,  16U,  17U,  31U,  32U,
                                 33U, 48U, 63U, 64U, 65U, 100U, 128U, 255U, 256U, 500U, 1024U}) {
    for (std::size_t device_offset = 64; device_offset < 128; ++device_offset) {
      for (const std::size_t host_offset : {0U, 1U, 8U, 63U}) {
        std::memset(device.get(), 0, area_bytes);
        gdrcopy_store(device.get() + device_offset, bytes.data() + host_offset, size);
        ASSERT_TRUE(holds(device.get(), device_offset, size, bytes.data() + host_offset))
            << size << " at " << device_offset;
        std::memset(host.get(), 0, area_bytes);
        gdrcopy_load(host.get() + host_offset, device.get() + device_offset, size);
        ASSERT_TRUE(holds(host.get(), host_offset, size, bytes.data() + host_offset))
            << size << " at " << device_offset;
      }
    }
  }
}

}  // namespace
}  // namespace gdrkit::measure
