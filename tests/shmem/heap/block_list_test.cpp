// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/heap/block_list.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>
#include <vector>

namespace gdrkit::shmem_impl::heap {
namespace {

constexpr std::uint64_t unit = BlockList::unit_bytes;

TEST(BlockList, AllocatesTheFirstFit) {
  BlockList list;
  list.extend(16 * unit);
  EXPECT_EQ(list.take(1, unit), 0U);
  EXPECT_EQ(list.take(2 * unit, unit), unit);
  EXPECT_EQ(list.take(unit, unit), 3 * unit);
  EXPECT_TRUE(list.release(unit));
  EXPECT_EQ(list.take(unit + 1, unit), unit);
  EXPECT_EQ(list.taken_bytes(), 4 * unit);
}

TEST(BlockList, AlignsBlocksAndReusesTheGapBefore) {
  BlockList list;
  list.extend(16 * unit);
  EXPECT_EQ(list.take(1, unit), 0U);
  EXPECT_EQ(list.take(unit, 8 * unit), 8 * unit);
  EXPECT_EQ(list.take(7 * unit, unit), unit);
  EXPECT_EQ(list.take(7 * unit, unit), 9 * unit);
  EXPECT_EQ(list.take(1, unit), std::nullopt);
}

TEST(BlockList, FindsABlockFromAnyOfItsBytes) {
  BlockList list;
  list.extend(8 * unit);
  ASSERT_EQ(list.take(unit + 3, unit), 0U);
  for (const std::uint64_t offset : {std::uint64_t{0}, unit, 2 * unit - 1}) {
    const auto block = list.find(offset);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->offset, 0U);
    EXPECT_EQ(block->size_bytes, unit + 3);
  }
  EXPECT_FALSE(list.find(2 * unit));
}

TEST(BlockList, RejectsOffsetsThatDoNotStartABlock) {
  BlockList list;
  list.extend(8 * unit);
  ASSERT_TRUE(list.take(2 * unit, unit));
  EXPECT_FALSE(list.release(unit));
  EXPECT_TRUE(list.release(0));
  EXPECT_FALSE(list.release(0));
}

TEST(BlockList, ReportsTheBytesItMustGrowBy) {
  BlockList list;
  list.extend(8 * unit);
  ASSERT_TRUE(list.take(5 * unit, unit));
  EXPECT_EQ(list.missing_bytes(3 * unit, unit), 0U);
  EXPECT_EQ(list.missing_bytes(4 * unit, unit), unit);
  // From the next multiple of the alignment on.
  EXPECT_EQ(list.missing_bytes(unit, 16 * unit), 9 * unit);
  list.extend(9 * unit);
  EXPECT_EQ(list.take(unit, 16 * unit), 16 * unit);
}

TEST(BlockList, ShrinkUndoesExtend) {
  BlockList list;
  list.extend(4 * unit);
  ASSERT_TRUE(list.take(3 * unit, unit));
  list.extend(8 * unit);
  list.shrink(8 * unit);
  EXPECT_EQ(list.end(), 4 * unit);
  EXPECT_FALSE(list.take(2 * unit, unit));
  EXPECT_EQ(list.take(unit, unit), 3 * unit);
  list.extend(unit);
  list.shrink(unit);
  EXPECT_FALSE(list.take(1, unit));
}

/// Compared with a map of bytes: blocks never overlap, all free bytes can be taken again, and equal calls give equal
/// results.
TEST(BlockList, StaysConsistentAfterManyRandomCalls) {
  BlockList list, twin;
  std::mt19937 random(7);
  std::map<std::uint64_t, std::uint64_t> taken;
  list.extend(64 * unit);
  twin.extend(64 * unit);
  for (int step = 0; step < 5000; ++step) {
    if (random() % 2 == 0 && !taken.empty()) {
      const auto victim = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      ASSERT_TRUE(list.release(victim->first));
      ASSERT_TRUE(twin.release(victim->first));
      taken.erase(victim);
      continue;
    }
    const std::uint64_t size = 1 + random() % (9 * unit);
    const std::uint64_t alignment = unit << (random() % 4);
    const auto offset = list.take(size, alignment);
    ASSERT_EQ(twin.take(size, alignment), offset);
    if (!offset) continue;
    ASSERT_EQ(*offset % alignment, 0U);
    const auto after = taken.lower_bound(*offset);
    if (after != taken.end()) {
      ASSERT_GE(after->first, *offset + size);
    }
    if (after != taken.begin()) {
      ASSERT_LE(std::prev(after)->first + std::prev(after)->second, *offset);
    }
    taken.emplace(*offset, size);
  }
  for (const auto& [offset, size] : taken) ASSERT_TRUE(list.release(offset));
  EXPECT_EQ(list.taken_bytes(), 0U);
  EXPECT_EQ(list.take(64 * unit, unit), 0U);
}

}  // namespace
}  // namespace gdrkit::shmem_impl::heap
