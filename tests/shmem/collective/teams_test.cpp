// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <tuple>

#include "collective_side.hpp"

namespace gdrkit::shmem_impl::collective {
namespace {

using tests::CollectiveSide;
using tests::failed;
using tests::run_shmem_job;
using tests::succeeded;
using tests::Way;
using tests::world;

constexpr Team invalid = GDRKIT_SHMEM_TEAM_INVALID;

Team split(core::Pe& pe, Team parent, int start, int stride, int size) {
  auto made = pe.collectives().split_strided(parent, start, stride, size);
  EXPECT_TRUE(made) << made.error().text();
  return made ? *made : invalid;
}

/// The numbers of its PEs in the job, gathered by the team itself, both ways.
std::vector<int> members_by_fcollect(core::Pe& pe, CollectiveSide& side, Team team, Way way) {
  const auto n_pes = static_cast<std::size_t>(*pe.collectives().n_pes(team));
  const int own = pe.pe();
  side.write(side.source, &own, sizeof own);
  EXPECT_TRUE(succeeded(side.call({CollectiveOperation::fcollect, team, side.target, side.source, sizeof own}, way)));
  const auto bytes = side.read(side.target, n_pes * sizeof own);
  std::vector<int> members(n_pes);
  std::memcpy(members.data(), bytes.data(), bytes.size());
  return members;
}

TEST(ShmemTeams, PredefinedTeamsContainAllPes) {
  run_shmem_job({.n_pes = 3}, [](core::Pe& pe) {
    for (const Team team : {GDRKIT_SHMEM_TEAM_WORLD, GDRKIT_SHMEM_TEAM_SHARED, GDRKIT_SHMEM_TEAM_NODE}) {
      EXPECT_EQ(*pe.collectives().my_pe(team), pe.pe());
      EXPECT_EQ(*pe.collectives().n_pes(team), 3);
      EXPECT_EQ(*pe.collectives().translate(team, 2, world), 2);
      EXPECT_TRUE(failed(pe.collectives().destroy(team), EINVAL));
    }
  });
}

TEST(ShmemTeams, StridedTeamsNumberTheirPes) {
  run_shmem_job({.n_pes = 6}, [](core::Pe& pe) {
    CollectiveSide side(pe, 4096);
    const Team even = split(pe, world, 0, 2, 3);
    const Team backwards = split(pe, world, 5, -1, 4);
    const Team single = split(pe, world, 4, 1, 1);
    EXPECT_EQ(even != invalid, pe.pe() % 2 == 0);
    EXPECT_EQ(backwards != invalid, pe.pe() >= 2);
    EXPECT_EQ(single != invalid, pe.pe() == 4);
    for (const Way way : {Way::host, Way::stream}) {
      if (even != invalid) {
        EXPECT_EQ(*pe.collectives().my_pe(even), pe.pe() / 2);
        EXPECT_THAT(members_by_fcollect(pe, side, even, way), ::testing::ElementsAre(0, 2, 4));
      }
      if (backwards != invalid) {
        EXPECT_EQ(*pe.collectives().my_pe(backwards), 5 - pe.pe());
        EXPECT_THAT(members_by_fcollect(pe, side, backwards, way), ::testing::ElementsAre(5, 4, 3, 2));
        EXPECT_EQ(*pe.collectives().translate(backwards, 0, world), 5);
      }
      if (single != invalid) {
        EXPECT_THAT(members_by_fcollect(pe, side, single, way), ::testing::ElementsAre(4));
      }
    }
    if (even != invalid && backwards != invalid) {
      EXPECT_EQ(*pe.collectives().translate(even, 2, backwards), 1);
      EXPECT_TRUE(failed(pe.collectives().translate(even, 0, backwards), ENOENT));
    }
    // A team of a team.
    if (backwards != invalid) {
      const Team inner = split(pe, backwards, 1, 2, 2);
      EXPECT_EQ(inner != invalid, pe.pe() == 4 || pe.pe() == 2);
      if (inner != invalid) {
        EXPECT_THAT(members_by_fcollect(pe, side, inner, Way::stream), ::testing::ElementsAre(4, 2));
      }
      EXPECT_TRUE(succeeded(pe.collectives().destroy(inner)));
    }
    for (const Team team : {even, backwards, single}) EXPECT_TRUE(succeeded(pe.collectives().destroy(team)));
    EXPECT_TRUE(succeeded(pe.barrier_all()));
  });
}

TEST(ShmemTeams, SplitsAnUnevenGridIntoRowsAndColumns) {
  run_shmem_job({.n_pes = 7}, [](core::Pe& pe) {
    CollectiveSide side(pe, 4096);
    auto teams = pe.collectives().split_2d(world, 3);
    ASSERT_TRUE(teams) << teams.error().text();
    const std::vector<std::vector<int>> rows = {{0, 1, 2}, {3, 4, 5}, {6}};
    const std::vector<std::vector<int>> columns = {{0, 3, 6}, {1, 4}, {2, 5}};
    const auto row = static_cast<std::size_t>(pe.pe() / 3), column = static_cast<std::size_t>(pe.pe() % 3);
    for (const Way way : {Way::host, Way::stream}) {
      EXPECT_EQ(members_by_fcollect(pe, side, teams->x, way), rows[row]);
      EXPECT_EQ(members_by_fcollect(pe, side, teams->y, way), columns[column]);
    }
    EXPECT_TRUE(succeeded(pe.barrier_all()));
  });
}

/// Teams that have used a place leave nothing that disturbs the next, whose PEs are others.
TEST(ShmemTeams, ReusesSlotsOfDestroyedTeams) {
  run_shmem_job({.n_pes = 4}, [](core::Pe& pe) {
    CollectiveSide side(pe, 4096);
    Team last = invalid;
    for (int round = 0; round < 40; ++round) {
      const int start = round % 3, size = 2 + round % 2;
      const int stride = start + size > 4 ? 0 : 1;
      const Team team = stride == 0 ? split(pe, world, start, 1, 2) : split(pe, world, start, 1, size);
      if (team == invalid) continue;
      EXPECT_NE(team, last) << "a handle came back";
      EXPECT_FALSE(pe.collectives().my_pe(last)) << "a handle of a destroyed team";
      // Different numbers of calls, so that leftover counts would not match.
      for (int call = 0; call <= round % 4; ++call) {
        const auto members = members_by_fcollect(pe, side, team, round % 2 == 0 ? Way::stream : Way::host);
        EXPECT_EQ(members.front(), start);
      }
      EXPECT_TRUE(succeeded(pe.collectives().destroy(team)));
      last = team;
    }
    EXPECT_TRUE(succeeded(pe.barrier_all()));
  });
}

TEST(ShmemTeams, LimitsTheNumberOfTeams) {
  run_shmem_job({.n_pes = 2}, [](core::Pe& pe) {
    std::vector<Team> teams;
    for (int i = 3; i < GDRKIT_SHMEM_TEAMS_MAX; ++i) teams.push_back(split(pe, world, 0, 1, 2));
    EXPECT_TRUE(failed(pe.collectives().split_strided(world, 0, 1, 2), ENOSPC));
    EXPECT_TRUE(succeeded(pe.collectives().destroy(teams.back())));
    EXPECT_NE(split(pe, world, 0, 1, 2), invalid);
    EXPECT_TRUE(succeeded(pe.barrier_all()));
  });
}

TEST(ShmemTeams, RejectsDifferentAndInvalidArguments) {
  run_shmem_job({.n_pes = 3}, [](core::Pe& pe) {
    EXPECT_TRUE(failed(pe.collectives().split_strided(world, 0, 1, pe.pe() == 1 ? 3 : 2), EPROTO,
                       testing::HasSubstr("size is 2 on PE 0 and 3 on PE 1")));
    for (const auto& [start, stride, size] : {std::tuple{0, 1, 0}, {-1, 1, 2}, {0, 0, 2}, {1, 1, 3}, {0, 2, 3}}) {
      EXPECT_TRUE(failed(pe.collectives().split_strided(world, start, stride, size), EINVAL));
    }
    EXPECT_TRUE(failed(pe.collectives().split_2d(world, 0), EINVAL));
    for (const Team foreign : {invalid, Team{3}, Team{0x103}, Team{40}, Team{-7}}) {
      EXPECT_TRUE(failed(pe.collectives().n_pes(foreign), EINVAL)) << foreign;
      EXPECT_TRUE(failed(pe.collectives().run({CollectiveOperation::sync, foreign}), EINVAL)) << foreign;
      EXPECT_TRUE(failed(pe.collectives().launch({CollectiveOperation::sync, foreign}, {}), EINVAL));
    }
    EXPECT_TRUE(succeeded(pe.collectives().destroy(invalid)));
    EXPECT_TRUE(succeeded(pe.barrier_all()));
  });
}

/// No PE leaves a sync or barrier, by either way, before all have reached it.
TEST(ShmemTeams, SyncsAndBarriersWaitForAll) {
  constexpr int n_pes = 5, rounds = 60;
  std::atomic<int> arrived[rounds] = {};
  run_shmem_job({.n_pes = n_pes}, [&](core::Pe& pe) {
    CollectiveSide side(pe, 64);
    for (int round = 0; round < rounds; ++round) {
      const Way way = round % 2 == 0 ? Way::host : Way::stream;
      const auto operation = round % 4 < 2 ? CollectiveOperation::sync : CollectiveOperation::barrier;
      if ((round + pe.pe()) % 7 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ++arrived[round];
      EXPECT_TRUE(succeeded(side.call({operation, world}, way)));
      EXPECT_EQ(arrived[round].load(), n_pes);
    }
  });
}

}  // namespace
}  // namespace gdrkit::shmem_impl::collective
