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

using testing::HasSubstr;
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

Team joined(core::Pe& pe, std::uint64_t id, int n_pes, int number) {
  auto made = pe.collectives().init_team(id, n_pes, number);
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
  });
}

/// Neither the distances of the PEs nor those of their heaps are equal, and the PE that issues the id is not a member.
TEST(ShmemTeams, UniqueIdsCreateTeamsOfAnyPesInAnyOrder) {
  run_shmem_job({.n_pes = 6}, [](core::Pe& pe) {
    CollectiveSide side(pe, 4096);
    const std::vector<int> members = {4, 0, 5, 1};
    const std::uint64_t id = tests::shared_team_id(pe, 3);
    const auto number = std::find(members.begin(), members.end(), pe.pe()) - members.begin();
    if (number < 4) {
      const Team team = joined(pe, id, 4, static_cast<int>(number));
      EXPECT_EQ(*pe.collectives().my_pe(team), number);
      EXPECT_EQ(*pe.collectives().n_pes(team), 4);
      EXPECT_EQ(*pe.collectives().translate(team, 2, world), 5);
      EXPECT_EQ(*pe.collectives().translate(world, 1, team), 3);
      EXPECT_TRUE(failed(pe.collectives().translate(world, 3, team), ENOENT));
      for (const Way way : {Way::host, Way::stream, Way::host}) {
        EXPECT_EQ(members_by_fcollect(pe, side, team, way), members);
      }
      const Team inner = split(pe, team, 2, -2, 2);
      if (number % 2 == 0) {
        EXPECT_THAT(members_by_fcollect(pe, side, inner, Way::stream), testing::ElementsAre(5, 4));
      }
      EXPECT_TRUE(succeeded(pe.collectives().destroy(inner)));
      EXPECT_TRUE(succeeded(pe.collectives().destroy(team)));
    }
  });
}

/// Every PE makes an id and one of them is used: programs often share the first PE's.
TEST(ShmemTeams, UnusedUniqueIdsDoNotUseUpTheOthers) {
  run_shmem_job({.n_pes = 4}, [](core::Pe& pe) {
    CollectiveSide side(pe, 4096);
    for (int round = 0; round < 40; ++round) {
      const std::uint64_t id = tests::shared_team_id(pe, round % 4);
      EXPECT_TRUE(pe.collectives().get_unique_id());
      const int n_pes = 1 + round % 4, number = (pe.pe() + round) % 4;
      if (number < n_pes) {
        const Team team = joined(pe, id, n_pes, number);
        EXPECT_EQ(members_by_fcollect(pe, side, team, Way::host)[static_cast<std::size_t>(number)], pe.pe());
        EXPECT_TRUE(succeeded(pe.collectives().destroy(team)));
      }
    }
  });
}

TEST(ShmemTeams, RejectsInvalidUniqueIds) {
  run_shmem_job({.n_pes = 2}, [](core::Pe& pe) {
    auto& teams = pe.collectives();
    const std::uint64_t old = tests::shared_team_id(pe), used = tests::shared_team_id(pe);
    EXPECT_NE(joined(pe, used, 2, pe.pe()), invalid);
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    for (const std::uint64_t id : {used, std::uint64_t{0}, UINT64_MAX, std::uint64_t{1} << 16 | 2, old + (1U << 24)}) {
      EXPECT_TRUE(failed(teams.init_team(id, 2, pe.pe()), EINVAL, HasSubstr("team_init: invalid unique id 0x"))) << id;
    }
    for (int newer = 0; newer < 16; ++newer) EXPECT_TRUE(teams.get_unique_id());
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    EXPECT_TRUE(failed(teams.init_team(old, 2, pe.pe()), EINVAL, HasSubstr("invalid unique id")));
    const std::uint64_t id = tests::shared_team_id(pe);
    for (const auto& [n_pes, number] : {std::pair{0, 0}, {3, 0}, {2, -1}, {2, 2}}) {
      EXPECT_TRUE(failed(teams.init_team(id, n_pes, number), EINVAL, HasSubstr("the job has 2 PEs")));
    }
    EXPECT_NE(joined(pe, id, 2, pe.pe()), invalid) << "rejected calls do not use the id";
  });
}

/// All PEs get an error, and the id's place serves further teams.
TEST(ShmemTeams, RejectsDifferentArgumentsForAUniqueId) {
  std::atomic<int> equal_numbers{0}, failed_others{0};
  run_shmem_job({.n_pes = 3, .limit = std::chrono::seconds(5)}, [&](core::Pe& pe) {
    auto& teams = pe.collectives();
    constexpr int rounds = 20;
    for (int round = 0; round < rounds; ++round) {
      const std::uint64_t first = tests::shared_team_id(pe), second = tests::shared_team_id(pe, 1);
      const int n_pes = pe.pe() == 1 ? 2 : 3;
      EXPECT_TRUE(failed(teams.init_team(first, n_pes, pe.pe()), EPROTO));
      if (pe.pe() == 2) continue;
      const auto made = teams.init_team(second, 2, 0);
      ASSERT_FALSE(made);
      ++(made.error().errno_value == EINVAL ? equal_numbers : failed_others);
      EXPECT_THAT(made.error().text(), testing::AnyOf(HasSubstr("another PE also passed number 0"),
                                                      HasSubstr("PE 0 of the new team failed")));
    }
    EXPECT_TRUE(succeeded(pe.barrier_all()));
    EXPECT_GE(equal_numbers.load(), rounds);
    EXPECT_EQ(equal_numbers + failed_others, 2 * rounds);
  });
}

TEST(ShmemTeams, NamesThePeThatDoesNotComeWithAUniqueId) {
  run_shmem_job({.n_pes = 2}, [](core::Pe& pe) {
    const std::uint64_t id = tests::shared_team_id(pe);
    if (pe.pe() == 0) {
      pe.set_limit(std::chrono::milliseconds(50));
      EXPECT_TRUE(failed(pe.collectives().init_team(id, 2, 0), ETIMEDOUT, HasSubstr("waits for PE 1 of the new team")));
      pe.set_limit(std::chrono::seconds(30));
    }
  });
}

/// Places of teams that are being created are not given to others.
TEST(ShmemTeams, LimitsTheTeamsThatAreBeingCreated) {
  run_shmem_job({.n_pes = 1, .limit = std::chrono::milliseconds(1)}, [](core::Pe& pe) {
    TeamBoard board(pe.connections(), pe.transfers());
    std::vector<std::unique_ptr<TeamBoard::Participant>> participants;
    for (int i = 0; i < parts::TeamMemory::boards; ++i) {
      auto id = board.issue();
      ASSERT_TRUE(id) << id.error().text();
      participants.push_back(std::make_unique<TeamBoard::Participant>(board, *id, 1, 0, "team_init"));
      EXPECT_TRUE(participants.back()->gather(7)) << "alone in its team";
    }
    EXPECT_TRUE(failed(board.issue(), EBUSY, HasSubstr("16 teams are being created with unique ids of PE 0")));
    participants[5].reset();
    EXPECT_TRUE(board.issue());
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
  });
}

TEST(ShmemTeams, LimitsTheNumberOfTeams) {
  run_shmem_job({.n_pes = 2}, [](core::Pe& pe) {
    std::vector<Team> teams;
    for (int i = 3; i < GDRKIT_SHMEM_TEAMS_MAX; ++i) teams.push_back(split(pe, world, 0, 1, 2));
    EXPECT_TRUE(failed(pe.collectives().split_strided(world, 0, 1, 2), ENOSPC));
    EXPECT_TRUE(succeeded(pe.collectives().destroy(teams.back())));
    EXPECT_NE(split(pe, world, 0, 1, 2), invalid);
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
