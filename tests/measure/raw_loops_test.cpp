// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The raw loops must copy the right bytes to be a valid baseline.
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

}  // namespace
}  // namespace gdrkit::measure
