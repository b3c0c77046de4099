// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The routes of collectives by size and number of PEs.
#include "shmem/collective/plan.hpp"

#include <gtest/gtest.h>
#include <gdrkit/shmem_collectives.cuh>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "collective_side.hpp"
#include "shmem/parts/connections.hpp"
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

TEST(ShmemPlan, SelectsSharesForTheSizesOfTheirTests) {
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

TEST(ShmemPlan, NeverSelectsSharesForTwoPes) {
  for (std::uint64_t size = 8; size <= 256 * mib; size *= 2) {
    EXPECT_NE(route_of(CollectiveOperation::reduce, size, 2), CollectiveRoute::shares);
    EXPECT_NE(route_of(CollectiveOperation::broadcast, size, 2), CollectiveRoute::shares);
  }
}

/// The largest power of two of each route, in the order small, shares, parts or large. 0: none.
struct Largest {
  std::uint64_t small, shares;
};
Largest largest_of(CollectiveOperation operation, int n_pes) {
  Largest found{};
  for (std::uint64_t size = 8; size <= 256 * mib; size *= 2) {
    const CollectiveRoute route = route_of(operation, size, n_pes);
    if (route == CollectiveRoute::small) found.small = size;
    if (route == CollectiveRoute::shares) found.shares = size;
  }
  return found;
}

TEST(ShmemPlan, RoutesOfTwoPesBySize) {
  for (const CollectiveOperation operation :
       {CollectiveOperation::broadcast, CollectiveOperation::reduce, CollectiveOperation::reducescatter}) {
    EXPECT_EQ(largest_of(operation, 2).small, mib);
    EXPECT_EQ(route_of(operation, 2 * mib, 2), CollectiveRoute::large);
  }
  for (const CollectiveOperation operation : {CollectiveOperation::fcollect, CollectiveOperation::alltoall}) {
    EXPECT_EQ(largest_of(operation, 2).small, 512 * kib);
  }
}

TEST(ShmemPlan, RoutesOfFourPesBySize) {
  EXPECT_EQ(largest_of(CollectiveOperation::broadcast, 4).small, 64 * kib);
  EXPECT_EQ(largest_of(CollectiveOperation::broadcast, 4).shares, 2 * mib);
  EXPECT_EQ(route_of(CollectiveOperation::broadcast, 4 * mib, 4), CollectiveRoute::parts);
  EXPECT_EQ(largest_of(CollectiveOperation::reduce, 4).small, 128 * kib);
  EXPECT_EQ(largest_of(CollectiveOperation::reduce, 4).shares, 512 * kib);
  EXPECT_EQ(largest_of(CollectiveOperation::reducescatter, 4).small, 256 * kib);
  EXPECT_EQ(largest_of(CollectiveOperation::fcollect, 4).small, 128 * kib);
  EXPECT_EQ(route_of(CollectiveOperation::reduce, mib, 4), CollectiveRoute::large);
}

TEST(ShmemPlan, PartsHalveTheThreadsOnlyAbove64Blocks) {
  const auto shape_of = [](std::uint64_t size_bytes, int lanes) {
    shmem::TeamState team = team_of(4);
    team.lanes = lanes;
    const Plan plan = plan_collective(CollectiveOperation::broadcast, size_bytes, team);
    EXPECT_EQ(plan.route, CollectiveRoute::parts);
    return std::pair{plan.shape.blocks, plan.shape.threads};
  };
  EXPECT_EQ(shape_of(16 * mib, 127), (std::pair{127U, 256U}));
  EXPECT_EQ(shape_of(16 * mib, 33), (std::pair{33U, 512U})) << "PEs share a GPU";
}

TEST(ShmemPlan, SmallDataFitsIntoHalfOfTheScratchMemory) {
  for (const std::uint64_t scratch : {16 * kib, 512 * kib, 8 * mib}) {
    for (int n_pes = 1; n_pes <= 64; ++n_pes) {
      const auto senders = static_cast<std::uint64_t>(std::max(n_pes - 1, 1));
      const shmem::GroupLimits limits = group_limits(n_pes, scratch);
      EXPECT_LE(shmem::detail::small_cells(limits.broadcast) * 16, scratch / 2);
      EXPECT_LE(senders * shmem::detail::small_cells(limits.exchange) * 16, scratch / 2);
      EXPECT_LE(senders * shmem::detail::small_cells(limits.reduce) * 16, scratch / 2);
      EXPECT_GE(limits.exchange, 64U);
      const std::uint64_t most = shmem::detail::small_bytes(scratch, static_cast<unsigned>(senders));
      EXPECT_LE(senders * shmem::detail::small_cells(most) * 16, scratch / 2);
    }
  }
}

TEST(ShmemPlan, GroupsOfFourPesSendLessThroughScratchMemory) {
  const shmem::GroupLimits of_two = group_limits(2, 8 * mib), of_four = group_limits(4, 8 * mib);
  EXPECT_EQ(of_two.broadcast, 96 * kib);
  EXPECT_EQ(of_two.exchange, 32 * kib);
  EXPECT_EQ(of_two.reduce, 64 * kib);
  EXPECT_EQ(of_four.broadcast, 32 * kib);
  EXPECT_EQ(of_four.exchange, 32 * kib / 3);
  EXPECT_EQ(of_four.reduce, 64 * kib / 3);
}

TEST(ShmemPlan, PesThatShareAGpuLaunchFewerBlocks) {
  const auto of = [](int pes, int gpus) {
    std::vector<parts::PeGpu> all(static_cast<std::size_t>(pes));
    for (int pe = 0; pe < pes; ++pe) {
      all[static_cast<std::size_t>(pe)].uuid[15] = static_cast<unsigned char>(pe % gpus);
      all[static_cast<std::size_t>(pe)].multiprocessors = 132;
    }
    return parts::blocks_at_once(all);
  };
  EXPECT_EQ(of(4, 4), 132);
  EXPECT_EQ(of(8, 4), 66);
  EXPECT_EQ(of(5, 2), 44);
  EXPECT_EQ(of(8, 2), 33);
  EXPECT_EQ(of(200, 1), 1);
  EXPECT_EQ(parts::blocks_at_once({{}, {}}), std::numeric_limits<int>::max()) << "unknown";
  shmem::TeamState team = team_of(8);
  team.lanes = of(8, 2);
  for (const CollectiveOperation operation :
       {CollectiveOperation::broadcast, CollectiveOperation::alltoall, CollectiveOperation::reduce}) {
    for (std::uint64_t size = 8; size <= 256 * mib; size *= 2) {
      EXPECT_LE(plan_collective(operation, size, team).shape.blocks, 33U);
    }
  }
}

TEST(ShmemPlan, SharesFitIntoHalfOfTheScratchMemory) {
  for (const int n_pes : {3, 4, 5, 8, 64}) {
    const auto n = static_cast<unsigned>(n_pes);
    for (std::uint64_t size = 8; size <= 8 * mib; size += 1000 + size / 8) {
      for (const bool is_broadcast : {false, true}) {
        const std::uint64_t share = shmem::detail::share_values(size, is_broadcast ? n - 1 : n);
        const std::uint64_t cells = is_broadcast ? (size + 7) / 8 : 2 * (n - 1) * share;
        EXPECT_EQ(shmem::detail::shares_fit(4 * mib, size, n, is_broadcast), cells * 16 <= 2 * mib) << size;
        EXPECT_GE(share * (is_broadcast ? n - 1 : n) * 8, size);
      }
    }
  }
}

}  // namespace
}  // namespace gdrkit::shmem_impl::collective
