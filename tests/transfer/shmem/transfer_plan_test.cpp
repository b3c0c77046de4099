// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/check/transfer_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace gdrkit::transfer::shmem {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t largest = 70000;

TEST(ShmemTransferPlan, TransfersAreDisjointAndInsideTheRegion) {
  const TransferPlan plan = plan_transfers(largest);
  std::size_t local_end = 0;
  std::size_t remote_end = 0;
  for (const PlannedTransfer& one : plan.transfers) {
    // At least one byte that nobody may touch before each.
    EXPECT_GT(one.local_offset, local_end);
    EXPECT_GT(one.remote_offset, remote_end);
    local_end = one.local_offset + one.size_bytes;
    remote_end = one.remote_offset + one.size_bytes;
  }
  EXPECT_LT(local_end, plan.region_bytes);
  EXPECT_LT(remote_end, plan.region_bytes);
}

TEST(ShmemTransferPlan, HasEverySmallAlignmentWithinTheSizeLimit) {
  const TransferPlan plan = plan_transfers(largest);
  std::set<std::size_t> sizes;
  std::set<std::pair<std::size_t, std::size_t>> alignments;
  for (const PlannedTransfer& one : plan.transfers) {
    sizes.insert(one.size_bytes);
    if (one.size_bytes == 9) alignments.insert({one.local_offset % 16, one.remote_offset % 16});
  }
  EXPECT_EQ(*sizes.begin(), 1U);
  EXPECT_EQ(*sizes.rbegin(), 65537U);
  EXPECT_EQ(alignments.size(), 42U);
  EXPECT_EQ(plan_transfers(1).transfers.size(), 42U);
}

TEST(ShmemTransferPlan, ReportsTheTransferOfAWrongByte) {
  const TransferPlan plan = plan_transfers(largest);
  const std::vector<std::uint8_t> expected = region_image(plan, Side::remote, 7, 0x5a);
  std::vector<std::uint8_t> got = expected;
  EXPECT_FALSE(first_difference(plan, Side::remote, got, expected));
  const PlannedTransfer& one = plan.transfers.back();
  const auto text_with = [&](std::size_t offset) {
    got = expected;
    got[offset] ^= 0xff;
    return first_difference(plan, Side::remote, got, expected).value_or("");
  };
  EXPECT_THAT(text_with(one.remote_offset + 17),
              AllOf(StartsWith("65537 bytes (local + "), HasSubstr("): byte 17 is 0x")));
  EXPECT_THAT(text_with(one.remote_offset - 1),
              HasSubstr(": 1 bytes before its target: byte 0 is 0xa5, expected 0x5a"));
  EXPECT_THAT(text_with(one.remote_offset + one.size_bytes), HasSubstr(": 1 bytes after its target: byte 0 is 0xa5"));
}

TEST(ShmemTransferPlan, SeedAndSideChangeTheBytes) {
  const TransferPlan plan = plan_transfers(largest);
  EXPECT_NE(region_image(plan, Side::remote, 7, 0), region_image(plan, Side::remote, 8, 0));
  EXPECT_NE(region_image(plan, Side::remote, 7, 0), region_image(plan, Side::local, 7, 0));
}

}  // namespace
}  // namespace gdrkit::transfer::shmem
