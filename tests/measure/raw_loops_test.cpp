// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The raw loops and GDRCopy's sequence must copy the right bytes to be a valid baseline; the sequence for every size
// and alignment.
#include "measure/baseline/raw_loops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace gdrkit::measure {
namespace {

constexpr std::size_t largest = 64 * 1024;
constexpr std::size_t redzone = 64;

class RawLoops : public ::testing::TestWithParam<RawKind> {
 protected:
  void SetUp() override {
    if (!raw_runs_here(GetParam())) GTEST_SKIP() << "this CPU cannot run " << raw_kind_name(GetParam());
    std::mt19937 random(3);
    std::generate(pattern_.begin(), pattern_.end(), [&] { return static_cast<unsigned char>(random()); });
  }

  static std::vector<unsigned char> zeros() { return std::vector<unsigned char>(largest + 2 * redzone); }

  /// Exactly `size` bytes of the pattern at `start`, surrounded by zeros.
  static bool holds(const unsigned char* area, std::size_t area_bytes, std::size_t start, std::size_t size,
                    const unsigned char* pattern) {
    std::vector<unsigned char> expected(area_bytes);
    std::copy_n(pattern, size, expected.begin() + static_cast<std::ptrdiff_t>(start));
    return std::memcmp(area, expected.data(), area_bytes) == 0;
  }

  std::vector<unsigned char> pattern_ = zeros();
  struct Free {
    void operator()(unsigned char* memory) const { std::free(memory); }
  };
  std::unique_ptr<unsigned char, Free> device_{
      static_cast<unsigned char*>(std::aligned_alloc(64, largest + 2 * redzone))};
};

TEST_P(RawLoops, CopyEveryPowerOfTwoInBothDirections) {
  for (std::size_t size = 1; size <= largest; size *= 2) {
    for (const std::size_t iterations : {1u, 3u}) {
      for (const std::size_t host_offset : {0u, 1u, 63u}) {
        std::memset(device_.get(), 0, largest + 2 * redzone);
        ASSERT_TRUE(raw_store(GetParam(), device_.get() + redzone, pattern_.data() + host_offset, size, iterations));
        ASSERT_TRUE(holds(device_.get(), largest + 2 * redzone, redzone, size, pattern_.data() + host_offset)) << size;
        std::vector<unsigned char> host = zeros();
        ASSERT_TRUE(raw_load(GetParam(), host.data() + host_offset, device_.get() + redzone, size, iterations));
        ASSERT_TRUE(holds(host.data(), host.size(), host_offset, size, pattern_.data() + host_offset)) << size;
      }
    }
  }
}

TEST_P(RawLoops, RejectUnsupportedArgumentsAndCopyNothing) {
  std::memset(device_.get(), 0, largest + 2 * redzone);
  for (const std::size_t size : {0u, 3u, 48u, 100u}) {
    EXPECT_FALSE(raw_store(GetParam(), device_.get(), pattern_.data(), size));
    EXPECT_FALSE(raw_load(GetParam(), pattern_.data(), device_.get(), size));
  }
  EXPECT_FALSE(raw_store(GetParam(), device_.get() + 4, pattern_.data(), 8));
  EXPECT_FALSE(raw_store(GetParam(), device_.get() + 32, pattern_.data(), 128));
  EXPECT_TRUE(holds(device_.get(), largest + 2 * redzone, 0, 0, pattern_.data()));
}

TEST_P(RawLoops, TheWidestSupportedKindIsAtLeastAsWideAsThis) {
  RawKind widest = RawKind::sse41;
  ASSERT_TRUE(widest_raw_kind(&widest));
  EXPECT_TRUE(raw_runs_here(widest));
  EXPECT_LE(widest, GetParam());
}

INSTANTIATE_TEST_SUITE_P(AllKinds, RawLoops,
                         ::testing::Values(RawKind::avx512, RawKind::avx2, RawKind::sse41, RawKind::gdrcopy),
                         [](const auto& chosen) { return raw_kind_name(chosen.param); });

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
