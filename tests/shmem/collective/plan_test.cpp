// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The routes of collectives by size and number of PEs.
#include "shmem/collective/plan.hpp"

#include <gtest/gtest.h>
#include <gdrkit/shmem_collectives.cuh>

#include "collective_side.hpp"
#include "shmem/parts/team_memory.hpp"

namespace gdrkit::shmem_impl::collective {
namespace {

using platform::CollectiveRoute;

constexpr std::uint64_t kib = 1024, mib = 1024 * kib;

/// The world team of so many PEs.
shmem::TeamState team_of(int n_pes, std::uint64_t heap_max_bytes = std::uint64_t{80} << 30) {
  const parts::TeamMemory memory(n_pes, heap_max_bytes);
  shmem::TeamState team{};
  team.n_pes = n_pes;
  team.lanes = 127;
  team.scratch_bytes = memory.scratch_bytes(GDRKIT_SHMEM_TEAM_WORLD);
  return team;
}
CollectiveRoute route_of(CollectiveOperation operation, std::uint64_t size_bytes, int n_pes) {
  return plan_collective(operation, size_bytes, team_of(n_pes)).route;
}

TEST(ShmemPlan, SizesOfTheTestsInSharesGoInShares) {
  for (const tests::InShares& one : tests::broadcasts_in_shares) {
    const auto team = team_of(one.n_pes, one.options().heap_max_bytes);
    EXPECT_EQ(plan_collective(CollectiveOperation::broadcast, one.size_bytes, team).route, CollectiveRoute::shares)
        << one.n_pes;
  }
  for (const tests::InShares& one : tests::reductions_in_shares) {
    const auto team = team_of(one.n_pes, one.options().heap_max_bytes);
    EXPECT_EQ(plan_collective(CollectiveOperation::reduce, one.size_bytes, team).route, CollectiveRoute::shares)
        << one.n_pes;
  }
}

TEST(ShmemPlan, TwoPesHaveNoShares) {
  for (std::uint64_t size = 8; size <= 256 * mib; size *= 2) {
    EXPECT_NE(route_of(CollectiveOperation::reduce, size, 2), CollectiveRoute::shares);
    EXPECT_NE(route_of(CollectiveOperation::broadcast, size, 2), CollectiveRoute::shares);
  }
}

TEST(ShmemPlan, ScratchMemoryOfTheWorldTakesHalfAMebibyteOfTwoPes) {
  for (const CollectiveOperation operation :
       {CollectiveOperation::broadcast, CollectiveOperation::reduce, CollectiveOperation::reducescatter}) {
    EXPECT_EQ(route_of(operation, 512 * kib, 2), CollectiveRoute::small);
  }
}

TEST(ShmemPlan, BroadcastsOfFourPesBySize) {
  EXPECT_EQ(route_of(CollectiveOperation::broadcast, 8, 4), CollectiveRoute::small);
  EXPECT_EQ(route_of(CollectiveOperation::broadcast, 256 * kib, 4), CollectiveRoute::shares);
  EXPECT_EQ(route_of(CollectiveOperation::broadcast, 16 * mib, 4), CollectiveRoute::parts);
}

TEST(ShmemPlan, SharesFitIntoHalfOfTheScratchMemory) {
  for (const int n_pes : {3, 4, 5, 8, 64}) {
    const auto n = static_cast<unsigned>(n_pes);
    for (std::uint64_t size = 8; size <= 8 * mib; size += 1000 + size / 8) {
      for (const bool is_broadcast : {false, true}) {
        const std::uint64_t share = shmem::detail::share_values(size, is_broadcast ? n - 1 : n);
        const std::uint64_t cells = (is_broadcast ? 1 : 2) * (n - 1) * share;
        EXPECT_EQ(shmem::detail::shares_fit(4 * mib, size, n, is_broadcast), cells * 16 <= 2 * mib) << size;
        EXPECT_GE(share * (is_broadcast ? n - 1 : n) * 8, size);
      }
    }
  }
}

}  // namespace
}  // namespace gdrkit::shmem_impl::collective
