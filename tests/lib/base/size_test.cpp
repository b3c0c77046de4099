// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "base/size.hpp"

#include <gtest/gtest.h>

namespace gdrkit::base {
namespace {

constexpr std::size_t kib = 1024;

struct Accepted {
  const char* text;
  std::size_t size_bytes;
};

class Size : public testing::TestWithParam<Accepted> {};

TEST_P(Size, AcceptsEveryForm) { EXPECT_EQ(to_size(GetParam().text), GetParam().size_bytes); }

INSTANTIATE_TEST_SUITE_P(
    Texts, Size,
    testing::Values(Accepted{"0", 0}, Accepted{"1", 1}, Accepted{"4096", 4096}, Accepted{"0x1000", 4096},
                    Accepted{"0X1b", 27}, Accepted{"4K", 4 * kib}, Accepted{"4k", 4 * kib}, Accepted{"4KiB", 4 * kib},
                    Accepted{"4kiB", 4 * kib}, Accepted{"0x10K", 16 * kib}, Accepted{"1M", kib* kib},
                    Accepted{"3MiB", 3 * kib* kib}, Accepted{"1G", kib* kib* kib},
                    Accepted{"2T", 2 * kib* kib* kib* kib}, Accepted{"64m", 64 * kib* kib},
                    Accepted{"64MiB", 64 * kib* kib}, Accepted{"1.5G", 1536 * kib* kib}, Accepted{".5M", 512 * kib},
                    Accepted{"1.5KiB", 1536}, Accepted{"0.00390625M", 4096}, Accepted{"3.1M", 3250586},
                    Accepted{"0.1K", 103}, Accepted{"1.50000000000000000000000G", 1536 * kib* kib},
                    Accepted{"18446744073709551615", SIZE_MAX}, Accepted{"16777215T", std::size_t{16777215} << 40}));

class InvalidSize : public testing::TestWithParam<const char*> {};

TEST_P(InvalidSize, IsRejected) { EXPECT_EQ(to_size(GetParam()), std::nullopt); }

INSTANTIATE_TEST_SUITE_P(Texts, InvalidSize,
                         testing::Values("", "K", "M1", "-1", "+1", " 1", "1 ", "1 K", "1.5", "1.", "1.G", ".", ".K",
                                         "1.5.5K", "0x1.8K", "1,5K", "1_000", "1e6", "many", "0x", "0xg", "1KB", "1MB",
                                         "1B", "1Ki", "1KIB", "1iB", "1KK", "1P", "1K\n", "18446744073709551616",
                                         "16777216T", "17179869184G", "16777215.9999999999999T"));

TEST(SizeUnit, AppliesToAPlainNumber) {
  EXPECT_EQ(to_size("64", kib * kib), 64 * kib * kib);
  EXPECT_EQ(to_size("64K", kib * kib), 64 * kib);
  EXPECT_EQ(to_size("17592186044416", kib * kib), std::nullopt) << "2^64 bytes";
}

TEST(NvshmemSize, FollowsTheGrammarOfNvshmem) {
  EXPECT_EQ(to_nvshmem_size("1073741824"), kib * kib * kib);
  EXPECT_EQ(to_nvshmem_size("20m"), 20971520u);
  EXPECT_EQ(to_nvshmem_size("3.1M"), 3250586u) << "rounded up, as the OpenSHMEM specification requires";
  EXPECT_EQ(to_nvshmem_size(".5m"), kib * kib / 2);
  EXPECT_EQ(to_nvshmem_size("20kk"), 20 * kib) << "text after the unit is ignored";
  EXPECT_EQ(to_nvshmem_size("1GB"), kib * kib * kib);
  EXPECT_EQ(to_nvshmem_size("2t"), 2 * kib * kib * kib * kib);
  for (const char* text : {"", "m", "-1", "many", "0x10", "0x10k", "1P", "16777216T", "1 g"}) {
    EXPECT_EQ(to_nvshmem_size(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace gdrkit::base
