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

/// Memory, aligned like a device's; zero at first.
class Area {
 public:
  explicit Area(std::size_t size_bytes)
      : size_bytes_(size_bytes), memory_(static_cast<unsigned char*>(std::aligned_alloc(64, size_bytes))) {
    clear();
  }
  void clear() { std::memset(memory_.get(), 0, size_bytes_); }
  [[nodiscard]] unsigned char* at(std::size_t offset) const { return memory_.get() + offset; }
  /// Returns whether the area contains these bytes at `start`, and zeros elsewhere.
  [[nodiscard]] bool holds(const unsigned char* bytes, std::size_t size, std::size_t start) const {
    std::vector<unsigned char> expected(size_bytes_);
    std::copy_n(bytes, size, expected.begin() + static_cast<std::ptrdiff_t>(start));
    return std::memcmp(memory_.get(), expected.data(), size_bytes_) == 0;
  }

 private:
  struct Free {
    void operator()(unsigned char* memory) const { std::free(memory); }
  };
  std::size_t size_bytes_;
  std::unique_ptr<unsigned char, Free> memory_;
};

/// Without zeros, which an area contains before a copy.
std::vector<unsigned char> random_bytes(std::size_t size) {
  std::mt19937 random(3);
  std::vector<unsigned char> bytes(size);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<unsigned char>(random() | 1); });
  return bytes;
}

class RawLoops : public ::testing::TestWithParam<RawKind> {
 protected:
  void SetUp() override {
    if (!raw_runs_here(GetParam())) GTEST_SKIP() << "this CPU cannot run " << raw_kind_name(GetParam());
  }

  std::vector<unsigned char> pattern_ = random_bytes(largest + redzone);
  Area device_{largest + 2 * redzone};
  Area host_{largest + 2 * redzone};
};

TEST_P(RawLoops, CopyEveryPowerOfTwoInBothDirections) {
  for (std::size_t size = 1; size <= largest; size *= 2) {
    for (const std::size_t iterations : {1u, 3u}) {
      for (const std::size_t host_offset : {0u, 1u, 63u}) {
        const unsigned char* const bytes = pattern_.data() + host_offset;
        device_.clear();
        ASSERT_TRUE(raw_store(GetParam(), device_.at(redzone), bytes, size, iterations));
        ASSERT_TRUE(device_.holds(bytes, size, redzone)) << size;
        host_.clear();
        ASSERT_TRUE(raw_load(GetParam(), host_.at(host_offset), device_.at(redzone), size, iterations));
        ASSERT_TRUE(host_.holds(bytes, size, host_offset)) << size;
      }
    }
  }
}

TEST_P(RawLoops, RejectUnsupportedArgumentsAndCopyNothing) {
  for (const std::size_t size : {0u, 3u, 48u, 100u}) {
    EXPECT_FALSE(raw_store(GetParam(), device_.at(0), pattern_.data(), size));
    EXPECT_FALSE(raw_load(GetParam(), host_.at(0), device_.at(0), size));
  }
  EXPECT_FALSE(raw_store(GetParam(), device_.at(4), pattern_.data(), 8));
  EXPECT_FALSE(raw_store(GetParam(), device_.at(32), pattern_.data(), 128));
  EXPECT_TRUE(device_.holds(pattern_.data(), 0, 0));
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

TEST(GdrcopySequence, CopiesExactlyTheRangeInBothDirections) {
  if (!gdrcopy_sequence_runs_here()) GTEST_SKIP() << "this CPU lacks SSE4.1";
  const std::vector<unsigned char> pattern = random_bytes(2048);
  Area device(2048);
  Area host(2048);
  for (const std::size_t size : {0U,  1U,  2U,  3U,  5U,  8U,   15U,  16U,  17U,  31U,  32U,
                                 33U, 48U, 63U, 64U, 65U, 100U, 128U, 255U, 256U, 500U, 1024U}) {
    for (std::size_t device_offset = 64; device_offset < 128; ++device_offset) {
      for (const std::size_t host_offset : {0U, 1U, 8U, 63U}) {
        const unsigned char* const bytes = pattern.data() + host_offset;
        device.clear();
        gdrcopy_store(device.at(device_offset), bytes, size);
        ASSERT_TRUE(device.holds(bytes, size, device_offset)) << size << " at " << device_offset;
        host.clear();
        gdrcopy_load(host.at(host_offset), device.at(device_offset), size);
        ASSERT_TRUE(host.holds(bytes, size, host_offset)) << size << " at " << device_offset;
      }
    }
  }
}

}  // namespace

}  // namespace gdrkit::measure
