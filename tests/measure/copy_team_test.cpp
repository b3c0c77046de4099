// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/measure/copy_team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace gdrkit::measure::bench {
namespace {

using Batches = std::vector<std::function<double(std::size_t)>>;

TEST(CopyTeam, EachMemberRunsItsBatchOncePerTurn) {
  constexpr std::size_t members = 3;
  constexpr int turns = 200;
  CopyTeam team(members, {});
  // Ordinary variables: a member writes; the caller reads and changes them between turns.
  std::vector<int> runs(members, 0);
  std::size_t seen_count = 0;
  Batches batches;
  for (std::size_t member = 0; member < members; ++member) {
    batches.emplace_back([&, member](std::size_t count) {
      ++runs[member];
      if (member == 1) seen_count = count;
      return 2.0;
    });
  }
  for (int turn = 1; turn <= turns; ++turn) {
    EXPECT_DOUBLE_EQ(team.run(batches, static_cast<std::size_t>(turn)), 2.0);
    ASSERT_EQ(runs, std::vector<int>(members, turn));
    ASSERT_EQ(seen_count, static_cast<std::size_t>(turn));
  }
}

TEST(CopyTeam, MembersRunConcurrently) {
  CopyTeam team(2, {});
  std::atomic<int> inside{0};
  std::vector<int> completed(2, 0);
  Batches batches;
  for (std::size_t member = 0; member < 2; ++member) {
    batches.emplace_back([&, member](std::size_t) {
      ++inside;
      while (inside.load() < 2)
        std::this_thread::yield();  // would block forever if the other came only after this one's end
      completed[member] = 1;
      return 1.0;
    });
  }
  (void)team.run(batches, 1);
  EXPECT_EQ(completed, (std::vector<int>{1, 1}));
}

TEST(CopyTeam, ReturnsTheHarmonicMeanOfMembersWithABatch) {
  CopyTeam team(3, {});
  const Batches batches{[](std::size_t) { return 1.0; }, [](std::size_t) { return 3.0; }};
  EXPECT_DOUBLE_EQ(team.run(batches, 1), 1.5);
  EXPECT_DOUBLE_EQ(team.run({batches[1]}, 1), 3.0);
}

TEST(CopyTeam, RethrowsABatchsExceptionAndContinuesAfterwards) {
  CopyTeam team(2, {});
  bool is_failing = true;
  const Batches batches{[](std::size_t) { return 1.0; },
                        [&](std::size_t) {
                          if (is_failing) throw std::runtime_error("the second member's copy failed");
                          return 1.0;
                        }};
  EXPECT_THROW((void)team.run(batches, 1), std::runtime_error);
  is_failing = false;
  EXPECT_DOUBLE_EQ(team.run(batches, 1), 1.0);
}

}  // namespace
}  // namespace gdrkit::measure::bench
