// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/size.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace gdrkit::cli {
namespace {

constexpr std::size_t kib = 1024;

TEST(SizeText, RoundTripsExactSizes) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1000), "1000 B");
  EXPECT_EQ(size_text(64 * kib), "64 KiB");
  EXPECT_EQ(size_text(1536 * kib), "1536 KiB");
  EXPECT_EQ(size_text(kib * kib * kib), "1 GiB");
  EXPECT_EQ(rough_size_text(kib - 1), "1023 B");
  EXPECT_EQ(rough_size_text(1536 * kib), "1.5 MiB");
  EXPECT_EQ(rough_size_text(std::size_t{150} << 30), "150 GiB");
  for (const std::size_t size : {std::size_t{0}, std::size_t{1000}, 64 * kib, 1536 * kib, std::size_t{3} << 40}) {
    EXPECT_EQ(to_size(size_word(size)), size) << size_word(size);
  }
}

}  // namespace
}  // namespace gdrkit::cli
