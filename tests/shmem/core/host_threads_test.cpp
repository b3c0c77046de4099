// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Several host threads of each PE at once: puts and gets, updates, signals, and collectives of different teams.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/results.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem_impl::core {
namespace {

using tests::run_shmem_job;
using tests::succeeded;

constexpr int thread_rounds = 50;
constexpr int thread_teams = 2;

/// What the threads of one PE share: symmetric objects, and a team for each of those that call collectives.
struct ThreadObjects {
  char* data = nullptr;  ///< for each thread that transfers: `thread_piece` bytes
  std::uint64_t* words = nullptr;
  collective::Team team[thread_teams] = {};
  std::int32_t* numbers[thread_teams] = {};
};
constexpr std::size_t thread_piece = 40'000;  // by the CPU and by copies

/// To and from a place at the other PE that is this thread's alone.
void run_transfers(Pe& pe, const ThreadObjects& objects, int thread) {
  const int other = pe.n_pes() - 1 - pe.pe();
  char* const place = objects.data + static_cast<std::size_t>(2 * thread + pe.pe()) * thread_piece;
  for (int round = 0; round < thread_rounds; ++round) {
    const std::size_t size = round % 2 == 0 ? 64 : thread_piece;
    const std::vector<char> mine(size, static_cast<char>(16 * thread + round));
    ASSERT_TRUE(succeeded(pe.transfers().put(place, mine.data(), size, other, round % 3 == 0)));
    if (round % 5 == 0) pe.transfers().fence();
    ASSERT_TRUE(succeeded(pe.quiet()));
    std::vector<char> seen(size);
    ASSERT_TRUE(succeeded(pe.transfers().get(seen.data(), place, size, other, false)));
    ASSERT_EQ(seen, mine) << "round " << round;
  }
}

void run_updates(Pe& pe, const ThreadObjects& objects) {
  for (int round = 0; round < thread_rounds; ++round) {
    std::uint64_t before = 0;
    ASSERT_TRUE(
        succeeded(pe.transfers().atomic(objects.words, 8, GDRKIT_SHMEM_ATOMIC_ADD, 1, 0, &before, round % pe.n_pes())));
  }
}

/// Back and forth with the same thread of the other PE.
void run_signals(Pe& pe, const ThreadObjects& objects) {
  const int other = pe.n_pes() - 1 - pe.pe();
  for (std::uint64_t round = 1; round <= thread_rounds; ++round) {
    if (pe.pe() == 0) {
      ASSERT_TRUE(succeeded(pe.transfers().put_signal(objects.words + 2, &round, 8, objects.words + 1, round,
                                                      GDRKIT_SHMEM_SIGNAL_SET, other, false)));
    }
    auto seen = pe.waits().wait_until({objects.words + 1, 8, false}, GDRKIT_SHMEM_GE, round);
    ASSERT_TRUE(seen) << seen.error().text();
    std::uint64_t data = 0;
    ASSERT_TRUE(succeeded(pe.transfers().get(&data, objects.words + 2, 8, pe.pe(), false)));
    ASSERT_EQ(data, round);
    if (pe.pe() != 0) {
      ASSERT_TRUE(succeeded(pe.transfers().put_signal(objects.words + 2, &round, 8, objects.words + 1, round,
                                                      GDRKIT_SHMEM_SIGNAL_SET, other, false)));
    }
  }
}

void run_reductions(Pe& pe, const ThreadObjects& objects, int index) {
  constexpr std::size_t count = 5000;  // by the GPU; every second time fewer, by the CPU
  for (int round = 0; round < thread_rounds; ++round) {
    const std::size_t used = round % 2 == 0 ? count : 4;
    const std::vector<std::int32_t> mine(used, round + pe.pe());
    std::int32_t* const source = objects.numbers[index];
    ASSERT_TRUE(succeeded(pe.transfers().put(source, mine.data(), used * 4, pe.pe(), false)));
    ASSERT_TRUE(succeeded(pe.quiet()));
    collective::CollectiveCall call{collective::CollectiveOperation::reduce, objects.team[index], source + count,
                                    source, used * 4};
    call.type = GDRKIT_SHMEM_TYPE_INT32;
    ASSERT_TRUE(succeeded(pe.collectives().run(call)));
    std::int32_t sum = 0;
    ASSERT_TRUE(succeeded(pe.transfers().get(&sum, source + count + used - 1, 4, pe.pe(), false)));
    ASSERT_EQ(sum, pe.n_pes() * round + (pe.n_pes() - 1) * pe.n_pes() / 2) << "round " << round;
  }
}

TEST(HostThreads, CallAllFunctionsConcurrently) {
  run_shmem_job({.n_pes = tests::pes_with_own_device(2)}, [](Pe& pe) {
    if (pe.n_pes() < 2) return;
    ThreadObjects objects;
    objects.data = tests::zeroed<char>(pe, 4 * thread_piece);
    objects.words = tests::zeroed<std::uint64_t>(pe, 8);
    for (int i = 0; i < thread_teams; ++i) {
      auto team = pe.collectives().split_strided(GDRKIT_SHMEM_TEAM_WORLD, 0, 1, pe.n_pes());
      ASSERT_TRUE(team) << team.error().text();
      objects.team[i] = *team;
      objects.numbers[i] = tests::zeroed<std::int32_t>(pe, 10'000);
    }
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 2; ++thread) {
      threads.emplace_back([&, thread] { run_transfers(pe, objects, thread); });
    }
    threads.emplace_back([&] { run_updates(pe, objects); });
    threads.emplace_back([&] { run_signals(pe, objects); });
    for (int team = 0; team < thread_teams; ++team) {
      threads.emplace_back([&, team] { run_reductions(pe, objects, team); });
    }
    for (auto& thread : threads) thread.join();
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    std::uint64_t counted = 0;
    ASSERT_TRUE(succeeded(pe.transfers().get(&counted, objects.words, 8, pe.pe(), false)));
    EXPECT_EQ(counted, static_cast<std::uint64_t>(thread_rounds)) << "half of the rounds of both PEs";
    ASSERT_TRUE(succeeded(pe.barrier_all()));
  });
}

}  // namespace
}  // namespace gdrkit::shmem_impl::core
