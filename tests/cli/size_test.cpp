// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/common/size.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace gdrkit::tools {
namespace {

constexpr std::size_t kib = 1024;

struct Accepted {
  const char* text;
  std::size_t size_bytes;
};

class Size : public testing::TestWithParam<Accepted> {};

TEST_P(Size, IsReadInEveryForm) { EXPECT_EQ(to_size(GetParam().text), GetParam().size_bytes); }

INSTANTIATE_TEST_SUITE_P(Texts, Size,
                         testing::Values(Accepted{"0", 0}, Accepted{"1", 1}, Accepted{"4096", 4096},
                                         Accepted{"0x1000", 4096}, Accepted{"0X1b", 27}, Accepted{"4K", 4 * kib},
                                         Accepted{"4k", 4 * kib}, Accepted{"4KiB", 4 * kib}, Accepted{"4kiB", 4 * kib},
                                         Accepted{"0x10K", 16 * kib}, Accepted{"1M", kib* kib},
                                         Accepted{"3MiB", 3 * kib* kib}, Accepted{"1G", kib* kib* kib},
                                         Accepted{"2T", 2 * kib* kib* kib* kib},
                                         Accepted{"18446744073709551615", SIZE_MAX},
                                         Accepted{"16777215T", std::size_t{16777215} << 40}));

class NoSize : public testing::TestWithParam<const char*> {};

TEST_P(NoSize, IsRefused) { EXPECT_EQ(to_size(GetParam()), std::nullopt); }

INSTANTIATE_TEST_SUITE_P(Texts, NoSize,
                         testing::Values("", "K", "M1", "-1", "+1", " 1", "1 ", "1 K", "1.5G", "1e6", "many", "0x",
                                         "0xg", "1KB", "1MB", "1B", "1Ki", "1KIB", "1iB", "1KK", "1P", "1K\n",
                                         "18446744073709551616", "16777216T", "17179869184G"));

TEST(SizeUnit, APlainNumberCountsTheUnitOfTheOption) {
  EXPECT_EQ(to_size("64", kib * kib), 64 * kib * kib);
  EXPECT_EQ(to_size("64K", kib * kib), 64 * kib);
  EXPECT_EQ(to_size("17592186044416", kib * kib), std::nullopt) << "2^64 bytes";
}

TEST(SizeText, IsExactAndReadBack) {
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
}  // namespace gdrkit::tools
