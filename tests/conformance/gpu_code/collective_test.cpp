// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A team of one PE, and one of two whose other PE never arrives. tests/shmem/collective tests complete teams.
#include <cstddef>
#include <cstring>

#include "gpu_kernels_conformance.hpp"
#include "platform/gpu_code/collective_params.hpp"
#include "platform/gpu_code/shmem_params.hpp"
#include "platform/gpu_code/team_params.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

GDRKIT_COVERS(collective, CollectiveParameters);
GDRKIT_COVERS(team, TeamParameters);

using shmem::TeamEntry;
using shmem::TeamProgress;
using shmem::TeamReport;

constexpr std::size_t size = 40'000;

class CollectiveConformance : public GpuKernelConformance {
 protected:
  /// Makes this PE member 1 of two; member 0 never arrives.
  static void add_absent(CollectiveParameters* made) {
    made->team.n_pes = 2;
    made->team.pe = 1;
    made->team.first_bytes = -made->team.stride_bytes;
  }
  CollectiveParameters parameters(CollectiveOperation operation) {
    CollectiveParameters made{};
    made.state.n_pes = 1;
    made.state.limit_ns = long_ns;
    made.team.n_pes = 1;
    made.team.lanes = 16;
    // Two heaps; the second is that of this PE.
    made.state.teams_address = device_memory(4 * sizeof(TeamEntry));
    made.team.team = 0x103;  // the fourth entry of the table
    constexpr std::uint64_t words_bytes = 17 * shmem::team_row_bytes(2);
    made.team.scratch_bytes = 4096;
    made.team.group_limits = {1024, 1024, 1024, 0};
    const std::uint64_t heap_bytes = words_bytes + made.team.scratch_bytes;
    made.team.words_address = device_memory(2 * heap_bytes) + heap_bytes;
    made.team.scratch_address = made.team.words_address + words_bytes;
    made.team.stride_bytes = static_cast<std::int64_t>(heap_bytes);
    report_ = static_cast<TeamReport*>(host_memory(sizeof(TeamReport)));
    made.team.report_address = to_device(report_);
    made.target = device_memory(size);
    made.source = device_memory(size);
    made.size_bytes = size;
    made.operation = operation;
    made.route = CollectiveRoute::large;
    made.type = GDRKIT_SHMEM_TYPE_UINT32;
    made.ticket = 9;
    return made;
  }
  static std::uint64_t entry_address(const shmem::State& state) { return state.teams_address + 3 * sizeof(TeamEntry); }
  TeamProgress progress(const shmem::State& state) {
    return read<TeamProgress>(entry_address(state) + offsetof(TeamEntry, progress));
  }
  std::uint64_t finished() { return std::atomic_ref(report_->finished).load(std::memory_order_acquire); }
  std::uint64_t fault() { return std::atomic_ref(report_->fault).load(std::memory_order_acquire); }

  TeamReport* report_ = nullptr;
};

TEST_F(CollectiveConformance, OnePeReceivesItsOwnData) {
  for (const CollectiveOperation operation :
       {CollectiveOperation::broadcast, CollectiveOperation::fcollect, CollectiveOperation::alltoall,
        CollectiveOperation::reduce, CollectiveOperation::reducescatter}) {
    for (const CollectiveRoute route : {CollectiveRoute::small, CollectiveRoute::large}) {
      auto made = parameters(operation);
      made.route = route;
      if (route == CollectiveRoute::small) made.size_bytes = 1001;
      ASSERT_TRUE(device_->fill(made.source, 0x5c, size));
      run(made, {3, 128});
      std::vector<std::uint8_t> expected(size, 0);
      std::memset(expected.data(), 0x5c, made.size_bytes);
      EXPECT_EQ(read_bytes(made.target, size), expected) << static_cast<int>(operation);
      EXPECT_EQ(finished(), 9U);
      EXPECT_EQ(progress(made.state).turns, 1U);
    }
  }
}

TEST_F(CollectiveConformance, TimesOutAndReportsTheMissingPe) {
  for (const CollectiveRoute route : {CollectiveRoute::small, CollectiveRoute::large}) {
    auto made = parameters(CollectiveOperation::reduce);
    add_absent(&made);
    made.state.limit_ns = short_ns;
    made.route = route;
    if (route == CollectiveRoute::small) made.size_bytes = 64;
    ASSERT_TRUE(device_->fill(made.source, 0x5c, size));
    run(made, {2, 64});
    EXPECT_EQ(fault(), 1U) << "member 0";
    EXPECT_EQ(finished(), 0U);
    EXPECT_EQ(progress(made.state).is_broken, 1U);
    EXPECT_EQ(read<std::uint64_t>(made.target), 0U);
    // From now on it ends immediately.
    made.state.limit_ns = long_ns;
    run(made, {2, 64});
    EXPECT_EQ(finished(), 0U);
  }
}

TEST_F(CollectiveConformance, CpuStopsTheGpuKernel) {
  auto made = parameters(CollectiveOperation::barrier);
  add_absent(&made);
  std::atomic_ref(report_->stop).store(1);
  run(made, {1, 64});
  EXPECT_EQ(fault(), 1U);
}

TEST_F(CollectiveConformance, RejectsInvalidParameters) {
  const auto good = parameters(CollectiveOperation::reduce);
  EXPECT_TRUE(rejects(good, {1, 64}, [](auto& made) { made.operation = static_cast<CollectiveOperation>(7); }));
  EXPECT_TRUE(rejects(good, {1, 64}, [](auto& made) { made.route = static_cast<CollectiveRoute>(4); }));
  EXPECT_TRUE(rejects(good, {1, 64}, [](auto& made) { made.route = CollectiveRoute::small; }));
  EXPECT_TRUE(rejects(good, {1, 64}, [](auto& made) { made.route = CollectiveRoute::parts; }));
  EXPECT_TRUE(rejects(good, {1, 64}, [](auto& made) { made.team.n_pes = 0; }));
  EXPECT_TRUE(rejects(good, {1, 64}, [](auto& made) { made.team.pe = 1; }));
  EXPECT_TRUE(rejects(good, {1, 64}, [](auto& made) { made.root = 1; }));
  EXPECT_TRUE(rejects(good, {17, 64}));
  EXPECT_TRUE(rejects(good, {1, 1024}));
}

class TeamConformance : public CollectiveConformance {
 protected:
  TeamParameters team_parameters(CollectiveOperation operation) {
    const CollectiveParameters of_team = parameters(operation);
    TeamParameters made{};
    made.state = of_team.state;
    EXPECT_TRUE(device_->copy_to_device(entry_address(made.state) + offsetof(TeamEntry, state), &of_team.team,
                                        sizeof of_team.team));
    made.team = of_team.team.team;
    made.target = of_team.target;
    made.source = of_team.source;
    made.size_bytes = size;
    made.result = device_memory(sizeof(TeamResult));
    made.operation = operation;
    made.scope = ShmemScope::block;
    made.rounds = 2;
    made.untimed_rounds = 1;
    return made;
  }
};

TEST_F(TeamConformance, OnePeReceivesItsOwnData) {
  for (const ShmemScope scope : {ShmemScope::thread, ShmemScope::warp, ShmemScope::block}) {
    for (const std::uint64_t bytes : {64U, 4096U}) {
      auto made = team_parameters(CollectiveOperation::fcollect);
      made.scope = scope;
      made.size_bytes = bytes;
      ASSERT_TRUE(device_->fill(made.source, 0x5c, size));
      run(made, {1, 64});
      EXPECT_EQ(read<std::uint64_t>(made.target + bytes - 8), 0x5c5c5c5c5c5c5c5cU);
      EXPECT_EQ(read<std::uint64_t>(made.target + bytes), 0U);
      EXPECT_EQ(read<TeamResult>(made.result).has_failed, 0U);
      EXPECT_GT(read<TeamResult>(made.result).elapsed_ns, 0U);
      EXPECT_EQ(progress(made.state).turns, 3U);
    }
  }
}

TEST_F(TeamConformance, RejectsInvalidParameters) {
  const auto good = team_parameters(CollectiveOperation::reduce);
  EXPECT_TRUE(rejects(good, {1, 64}, [](auto& made) { made.operation = static_cast<CollectiveOperation>(7); }));
  EXPECT_TRUE(rejects(good, {1, 64}, [](auto& made) { made.scope = static_cast<ShmemScope>(3); }));
  EXPECT_TRUE(rejects(good, {1, 64}, [](auto& made) { made.size_bytes = 6; }));
  EXPECT_TRUE(rejects(good, {1, 64}, [](auto& made) { made.result = 0; }));
  EXPECT_TRUE(rejects(good, {2, 64}));
  EXPECT_TRUE(rejects(good, {1, 16}, [](auto& made) { made.scope = ShmemScope::warp; }));
}

}  // namespace
}  // namespace gdrkit::platform
