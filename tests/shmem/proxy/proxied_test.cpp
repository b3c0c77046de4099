// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit/shmem_device.cuh between PEs of two machines, and within each: two PEs of each machine, numbered in turn.
#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "gdrkit/shmem_collectives.cuh"
#include "gdrkit/shmem_device.cuh"
#include "support/results.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem {
namespace {

using ::testing::HasSubstr;
using tests::ShmemJobOptions;
using tests::succeeded;

constexpr std::size_t words = 64;

/// Host threads call what GPU kernels do; device_test does the same in GPU kernels.
void run_as_gpu_kernels(int n_pes, shmem_impl::transport::RemoteWay way,
                        const std::function<void(shmem_impl::core::Pe&, const State&, std::uint64_t*)>& body) {
  ShmemJobOptions job;
  job.n_pes = n_pes;
  job.is_p2p_disabled = true;
  job.remote_way = way;
  job.machine_of = [](int pe) { return pe % 2; };
  tests::run_shmem_job(job, [&](shmem_impl::core::Pe& pe) {
    ASSERT_TRUE(succeeded(pe.gpu_code().watch()));
    auto object = pe.allocate(words * 8, 1, true);
    ASSERT_TRUE(object) << object.error().text();
    body(pe, pe.gpu_code().state(), static_cast<std::uint64_t*>(*object));
  });
}

std::uint64_t word_at(shmem_impl::core::Pe& pe, const std::uint64_t* address) {
  std::uint64_t word = 0;
  const auto bytes = tests::device_bytes(pe, address, sizeof word);
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

class ShmemProxied : public ::testing::TestWithParam<shmem_impl::transport::RemoteWay> {};

TEST_P(ShmemProxied, EveryPeReachesEveryOther) {
  run_as_gpu_kernels(4, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    const auto own = static_cast<std::uint64_t>(pe.pe());
    EXPECT_EQ(pe.node_pes(), 2);
    for (int other = 0; other < pe.n_pes(); ++other) {
      EXPECT_EQ(ptr(state, object, other) != nullptr, other % 2 == pe.pe() % 2) << other;
      p(state, object + own, 100 + own, other);
      atomic_add<std::uint64_t>(state, object + 8, 1, other);
    }
    ASSERT_TRUE(barrier_all(state, thread()));
    for (int other = 0; other < pe.n_pes(); ++other) {
      EXPECT_EQ(word_at(pe, object + other), 100U + static_cast<unsigned>(other));
      EXPECT_EQ(g(state, object + other, other), 100U + static_cast<unsigned>(other));
      EXPECT_EQ(atomic_fetch(state, object + 8, other), 4U);
    }
    ASSERT_TRUE(barrier_all(state, thread()));
  });
}

/// Each update returns the old value, for words of either size.
TEST_P(ShmemProxied, UpdatesAnswerWhatWasThere) {
  run_as_gpu_kernels(2, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    const int other = 1 - pe.pe();
    EXPECT_EQ(atomic_swap<std::uint64_t>(state, object, 12, other), 0U);
    EXPECT_EQ(atomic_fetch_add<std::uint64_t>(state, object, 3, other), 12U);
    EXPECT_EQ(atomic_fetch_or<std::uint64_t>(state, object, 0xf0, other), 15U);
    EXPECT_EQ(atomic_fetch_and<std::uint64_t>(state, object, 0x3c, other), 0xffU);
    EXPECT_EQ(atomic_fetch_xor<std::uint64_t>(state, object, 0xff, other), 0x3cU);
    EXPECT_EQ(atomic_compare_swap<std::uint64_t>(state, object, 1, 2, other), 0xc3U);
    EXPECT_EQ(atomic_compare_swap<std::uint64_t>(state, object, 0xc3, 2, other), 0xc3U);
    EXPECT_EQ(atomic_fetch(state, object, other), 2U);
    atomic_set<std::uint64_t>(state, object, ~std::uint64_t{0}, other);
    EXPECT_EQ(atomic_fetch(state, object, other), ~std::uint64_t{0});
    auto* const narrow = reinterpret_cast<std::int32_t*>(object + 1);
    EXPECT_EQ(atomic_swap(state, narrow, -7, other), 0);
    EXPECT_EQ(atomic_fetch_add(state, narrow, -1, other), -7);
    EXPECT_EQ(g(state, narrow, other), -8);
    EXPECT_EQ(g(state, narrow + 1, other), 0) << "the next word";
    ASSERT_TRUE(barrier_all(state, thread()));
  });
}

/// Odd sizes: in the command, and from memory; blocking and not.
TEST_P(ShmemProxied, BytesArriveAndNoOthers) {
  run_as_gpu_kernels(2, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    const int other = 1 - pe.pe();
    auto* const bytes = reinterpret_cast<unsigned char*>(object);
    for (const std::size_t size : {1U, 3U, 8U, 9U, 100U}) {
      for (const bool is_blocking : {true, false}) {
        std::vector<unsigned char> source(size);
        for (std::size_t i = 0; i < size; ++i) source[i] = static_cast<unsigned char>(size + i + (is_blocking ? 1 : 0));
        if (is_blocking) {
          put(state, bytes + 5, source.data(), size, other, thread());
        } else {
          put_nbi(state, bytes + 5, source.data(), size, other, thread());
        }
        quiet(state);
        std::vector<unsigned char> seen(size + 2, 0xaa);
        get(state, seen.data(), bytes + 4, size + 2, other, thread());
        EXPECT_TRUE(std::equal(source.begin(), source.end(), seen.begin() + 1)) << size;
        EXPECT_EQ(seen[0], 0);
        if (size == 100) {
          EXPECT_EQ(seen[size + 1], 0);
        }
      }
    }
    ASSERT_TRUE(barrier_all(state, thread()));
  });
}

/// A PE that observes the signal observes the data, for SET and ADD, and after a fence.
TEST_P(ShmemProxied, SignalsComeAfterTheirData) {
  run_as_gpu_kernels(2, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    const int other = 1 - pe.pe();
    std::uint64_t* const target = object + 1;
    std::uint64_t* const answer = object + 40;
    for (std::uint64_t round = 1; round <= 60; ++round) {
      if (pe.pe() == 0) {
        const std::vector<std::uint64_t> data(32, round);
        if (round % 3 == 0) {
          put_nbi(state, target, data.data(), 256, other, thread());
          fence(state);
          signal_op(state, object, round, GDRKIT_SHMEM_SIGNAL_SET, other);
          quiet(state);
        } else {
          put_signal(state, target, data.data(), 256, object, round % 3 == 1 ? 1 : round,
                     round % 3 == 1 ? GDRKIT_SHMEM_SIGNAL_ADD : GDRKIT_SHMEM_SIGNAL_SET, other, thread());
        }
        ASSERT_TRUE(wait_until<std::uint64_t>(state, answer, GDRKIT_SHMEM_GE, round));
      } else {
        ASSERT_TRUE(signal_wait_until(state, object, GDRKIT_SHMEM_GE, round));
        for (int i = 0; i < 32; ++i) ASSERT_EQ(word_at(pe, target + i), round);
        signal_op(state, answer, round, GDRKIT_SHMEM_SIGNAL_SET, other);
      }
    }
    ASSERT_TRUE(barrier_all(state, thread()));
  });
}

/// A GPU kernel that ends without quiet: the host's completes what it left in the ring.
TEST_P(ShmemProxied, TheHostsQuietCompletesWhatGpuKernelsLeft) {
  run_as_gpu_kernels(2, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    for (std::uint64_t round = 1; round <= 20; ++round) {
      for (std::size_t i = 0; i < words; ++i) p(state, object + i, round, 1 - pe.pe());
      ASSERT_TRUE(succeeded(pe.barrier_all()));
      for (std::size_t i = 0; i < words; ++i) ASSERT_EQ(word_at(pe, object + i), round);
      ASSERT_TRUE(succeeded(pe.barrier_all()));
    }
  });
}

TEST_P(ShmemProxied, WhatCannotBeDoneIsToldByTheNextQuiet) {
  run_as_gpu_kernels(2, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    const int other = 1 - pe.pe();
    std::uint64_t foreign = 0;
    EXPECT_EQ(g(state, &foreign, other), 0U);
    auto result = pe.quiet();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().errno_value, EINVAL);
    EXPECT_THAT(result.error().text(),
                HasSubstr("PE " + std::to_string(pe.pe()) + ", for a GPU kernel: get of 8 bytes from PE " +
                          std::to_string(other)));
    EXPECT_THAT(result.error().text(), HasSubstr("is not in this PE's symmetric heap"));
    EXPECT_TRUE(succeeded(pe.quiet())) << "reported once";
    (void)atomic_fetch_add<std::uint64_t>(state, reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(object) + 4),
                                          1, other);
    result = pe.quiet();
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().text(), HasSubstr("is not aligned to the 8 bytes of an atomic operation"));
    p<std::uint64_t>(state, object, 7, other);
    EXPECT_EQ(g(state, object, other), 7U) << "the ring goes on";
    ASSERT_TRUE(barrier_all(state, thread()));
  });
}

/// Collectives need loads and stores between all PEs of the team: others end at once, and name a PE and the remedy.
TEST_P(ShmemProxied, CollectivesOverMachinesAreRefusedAtOnce) {
  run_as_gpu_kernels(4, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    constexpr shmem_impl::collective::Team world = GDRKIT_SHMEM_TEAM_WORLD;
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<std::uint8_t> before = tests::device_bytes(pe, object, words * 8);
    std::uint64_t* const source = object + words / 2;
    EXPECT_FALSE(broadcast(state, world, object, source, 8, 0, thread()));
    auto result = pe.quiet();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().errno_value, EOPNOTSUPP);
    const std::string away = "PE " + std::to_string(1 - pe.pe() % 2) + " of the job is on another node";
    for (const std::string& part : {"GPU kernel of PE " + std::to_string(pe.pe()), away, std::string("on a stream"),
                                    std::string("GDRKIT_SHMEM_TEAM_NODE")}) {
      EXPECT_THAT(result.error().text(), HasSubstr(part));
    }
    EXPECT_TRUE(succeeded(pe.quiet())) << "reported once";
    EXPECT_FALSE(team_sync(state, world, thread()));
    EXPECT_FALSE(fcollect(state, world, object, source, 8, thread()));
    EXPECT_FALSE(alltoall(state, world, object, source, 8, thread()));
    EXPECT_FALSE(reduce<GDRKIT_SHMEM_SUM>(state, world, object, source, 4, thread()));
    EXPECT_FALSE(broadcast(state, world, object, source, 8, 1, thread()));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << "a wait took its whole limit";
    EXPECT_EQ(tests::device_bytes(pe, object, words * 8), before);
    // The same team serves the CPU's calls, and the machine's own team GPU kernels.
    EXPECT_TRUE(succeeded(
        pe.collectives().run({shmem_impl::collective::CollectiveOperation::fcollect, world, object, source, 8})));
    EXPECT_TRUE(team_sync(state, GDRKIT_SHMEM_TEAM_NODE, thread()));
    EXPECT_TRUE(succeeded(pe.barrier_all()));
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, ShmemProxied,
                         ::testing::Values(shmem_impl::transport::RemoteWay::staged,
                                           shmem_impl::transport::RemoteWay::direct),
                         [](const auto& one) {
                           return one.param == shmem_impl::transport::RemoteWay::staged ? "staged" : "direct";
                         });

}  // namespace
}  // namespace gdrkit::shmem
