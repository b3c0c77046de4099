// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <set>

#include "measure/copybw/copybw.hpp"
#include "measure/copylat/copylat.hpp"

namespace gdrkit::measure {
namespace {

TEST(Copylat, IterationsAreRaisedToWholeBuckets) {
  EXPECT_EQ(copylat::whole_buckets(1), 1);
  EXPECT_EQ(copylat::whole_buckets(100), 100);
  EXPECT_EQ(copylat::whole_buckets(101), 200);
  EXPECT_EQ(copylat::whole_buckets(10000), 10000);
}

TEST(Rotation, SmallLoadsRotateOverMoreLinesThanACpuCaches) {
  for (std::size_t size = 1; size <= largest_rotated_bytes; size *= 2) {
    const Rotation rotation(Direction::from_device, size);
    std::set<std::size_t> places;
    for (std::size_t number = 0; number < rotation_bytes / line_bytes; ++number) {
      const std::size_t offset = rotation.offset(number);
      EXPECT_EQ(offset % line_bytes, 0u);
      EXPECT_LE(offset + size, rotation_bytes);
      places.insert(offset / line_bytes);
      if (number > 0) {
        EXPECT_NE(offset, rotation.offset(number - 1)) << size;
      }
    }
    EXPECT_GT(places.size() * std::max(size, line_bytes), largest_rotated_bytes) << size;
  }
}

TEST(Rotation, StoresAndLargeLoadsUseOneOffset) {
  EXPECT_FALSE(Rotation(Direction::to_device, 8).is_rotating());
  EXPECT_EQ(Rotation(Direction::to_device, 8).offset(5), 0u);
  EXPECT_EQ(Rotation(Direction::from_device, 2 * largest_rotated_bytes).offset(5), 0u);
}

copylat::RawRow row(double library_ns, double raw_ns) {
  copylat::RawRow made;
  made.library_median_ns = library_ns;
  made.raw_median_ns = raw_ns;
  return made;
}

TEST(RawRow, LimitIsTheLargerOfFivePercentAndTenNanoseconds) {
  EXPECT_DOUBLE_EQ(row(0, 100).limit_ns(), 110);
  EXPECT_DOUBLE_EQ(row(0, 1000).limit_ns(), 1050);
  EXPECT_TRUE(row(110, 100).is_within_limit());
  EXPECT_FALSE(row(110.5, 100).is_within_limit());
  EXPECT_TRUE(row(1050, 1000).is_within_limit());
  EXPECT_FALSE(row(1051, 1000).is_within_limit());
  EXPECT_DOUBLE_EQ(row(210, 200).ratio(), 1.05);
  EXPECT_DOUBLE_EQ(row(210, 200).difference_ns(), 10);
}

TEST(RawRow, LimitAppliesToSingleCopiesIfLoopsOverlap) {
  copylat::RawRow made = row(1000, 400);
  made.library_single_ns = {1040, 1050, 1060};
  made.raw_single_ns = {990, 1000, 1010};
  EXPECT_FALSE(made.is_within_limit());
  made.is_judged_by_singles = true;
  EXPECT_DOUBLE_EQ(made.limit_ns(), 1050);
  EXPECT_TRUE(made.is_within_limit());
  made.library_single_ns[1] = 1051;
  EXPECT_FALSE(made.is_within_limit());
  EXPECT_DOUBLE_EQ(made.ratio(), 2.5) << "of the loops";
}

TEST(CopylatReport, CountsRowsAboveTheLimit) {
  copylat::CopylatReport report;
  report.raw = {row(110, 100), row(120, 100), row(1051, 1000)};
  EXPECT_EQ(report.raw_rows_over_limit(), 2u);
}

TEST(Copybw, ReportsWrongWordsUpToTheLimit) {
  std::vector<std::uint8_t> expected(64, 1);
  std::vector<std::uint8_t> content = expected;
  EXPECT_TRUE(copybw::compare_words(content.data(), expected.data(), 64).empty());
  content[9] = 2;
  const auto wrong = copybw::compare_words(content.data(), expected.data(), 64);
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong[0].index, 2u);
  EXPECT_EQ(wrong[0].content, 0x01010201u);
  EXPECT_EQ(wrong[0].expected, 0x01010101u);
  std::fill(content.begin(), content.end(), std::uint8_t{3});
  EXPECT_EQ(copybw::compare_words(content.data(), expected.data(), 64).size(), copybw::most_wrong_words);
}

TEST(Copybw, ComparesTheLastBytesOfAnOddSize) {
  const std::uint8_t content[] = {1, 2, 3, 4, 5, 6, 7};
  const std::uint8_t expected[] = {1, 2, 3, 4, 5, 6, 8};
  EXPECT_EQ(copybw::compare_words(content, expected, 7).size(), 1u);
  EXPECT_TRUE(copybw::compare_words(content, expected, 6).empty());
}

TEST(Copybw, SweepsStopBelowThePowerOfTwoThatFits) {
  copybw::CopybwOptions options;
  options.size_bytes = 100;
  EXPECT_EQ(copybw::copy_sizes(options), (std::vector<std::size_t>{100}));
  options.is_sweep = true;
  EXPECT_EQ(copybw::copy_sizes(options), (std::vector<std::size_t>{1, 2, 4, 8, 16, 32}));
  options.copy_size_bytes = 16;
  EXPECT_EQ(copybw::copy_sizes(options), (std::vector<std::size_t>{1, 2, 4, 8}));
}

TEST(Copybw, RangesPastTheBufferAreRejectedWithoutOverflow) {
  copybw::CopybwOptions options;
  options.size_bytes = 4096;
  for (const auto& [offset, size] : std::vector<std::pair<std::size_t, std::size_t>>{
           {2, 4}, {4, 4096}, {8192, 4}, {0, 4097}, {4, SIZE_MAX}, {SIZE_MAX - 3, 8}, {SIZE_MAX - 3, 0}}) {
    options.offset_bytes = offset;
    options.copy_size_bytes = size;
    EXPECT_THROW((void)copybw::copy_sizes(options), cli::Failure) << offset << " + " << size;
  }
  options.offset_bytes = 4;
  options.copy_size_bytes = 4092;
  EXPECT_EQ(copybw::copy_sizes(options), (std::vector<std::size_t>{4092}));
}

}  // namespace
}  // namespace gdrkit::measure
