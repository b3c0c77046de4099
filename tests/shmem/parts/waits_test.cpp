// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>

#include "support/results.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

using tests::run_shmem_job;
using tests::ShmemJobOptions;

TEST(ShmemWaiting, ComparesAsSignedOrUnsigned) {
  run_shmem_job({.n_pes = 1}, [](core::Pe& pe) {
    auto made = pe.allocate(64, 1, true);
    ASSERT_TRUE(made) << made.error().text();
    const auto minus_two = static_cast<std::uint64_t>(-2);
    ASSERT_TRUE(tests::succeeded(pe.transfers().put(*made, &minus_two, 8, 0, false)));
    struct Case {
      std::size_t size;
      bool is_signed;
      gdrkit_shmem_comparison comparison;
      std::uint64_t value;
      bool expected;
    };
    const auto minus_one = static_cast<std::uint64_t>(-1);
    const Case cases[] = {
        {8, true, GDRKIT_SHMEM_LT, 0, true},          {8, false, GDRKIT_SHMEM_LT, 0, false},
        {4, true, GDRKIT_SHMEM_LT, 0, true},          {4, false, GDRKIT_SHMEM_GT, 1, true},
        {4, true, GDRKIT_SHMEM_EQ, minus_two, true},  {4, false, GDRKIT_SHMEM_EQ, 0xfffffffe, true},
        {8, true, GDRKIT_SHMEM_LE, minus_one, true},  {8, true, GDRKIT_SHMEM_GE, minus_one, false},
        {8, true, GDRKIT_SHMEM_NE, minus_two, false}, {8, true, GDRKIT_SHMEM_GT, minus_one, false},
        {8, false, GDRKIT_SHMEM_GE, 5, true},         {8, false, GDRKIT_SHMEM_NE, 5, true},
    };
    for (const Case& one : cases) {
      auto tested = pe.waits().test({*made, one.size, one.is_signed}, one.comparison, one.value);
      ASSERT_TRUE(tested) << tested.error().text();
      EXPECT_EQ(*tested, one.expected) << one.size << " bytes, comparison " << static_cast<int>(one.comparison);
    }
    EXPECT_EQ(pe.waits().test({static_cast<char*>(*made) + 4, 8, false}, GDRKIT_SHMEM_EQ, 0).error().errno_value,
              EINVAL);
  });
}

TEST(ShmemWaiting, AWaitTimesOut) {
  run_shmem_job({}, [](core::Pe& pe) {
    auto made = pe.allocate(8, 1, true);
    ASSERT_TRUE(made);
    pe.set_limit(std::chrono::milliseconds(50));
    auto waited = pe.waits().wait_until({*made, 8, false}, GDRKIT_SHMEM_EQ, 1);
    ASSERT_FALSE(waited);
    EXPECT_EQ(waited.error().errno_value, ETIMEDOUT);
    pe.set_limit(std::chrono::milliseconds(30000));
    ASSERT_TRUE(tests::succeeded(pe.sync_all()));
  });
}

TEST(ShmemWaiting, ABarrierWaitsForAllPes) {
  constexpr int n_pes = 4;
  std::atomic<int> arrived[3] = {};
  run_shmem_job({.n_pes = n_pes}, [&](core::Pe& pe) {
    for (int round = 0; round < 300; ++round) {
      arrived[round % 3].fetch_add(1);
      ASSERT_TRUE(tests::succeeded(round % 2 == 0 ? pe.barrier_all() : pe.sync_all()));
      EXPECT_EQ(arrived[round % 3].load(), n_pes) << "round " << round;
      // The counter of the round before the last: no PE uses it now.
      if (pe.pe() == 0) arrived[(round + 2) % 3].store(0);
      ASSERT_TRUE(tests::succeeded(pe.sync_all()));
    }
  });
}

TEST(ShmemWaiting, ManyPesWaitOnFewCores) {
  run_shmem_job({.n_pes = 16, .heap_bytes = 65536, .heap_max_bytes = std::uint64_t{64} << 20}, [](core::Pe& pe) {
    auto made = pe.allocate(16 * sizeof(std::uint64_t), 1, true);
    ASSERT_TRUE(made) << made.error().text();
    auto* const words = static_cast<std::uint64_t*>(*made);
    const std::uint64_t mine = static_cast<std::uint64_t>(pe.pe()) + 100;
    for (int other = 0; other < 16; ++other) {
      ASSERT_TRUE(tests::succeeded(pe.transfers().put(words + pe.pe(), &mine, sizeof mine, other, false)));
    }
    ASSERT_TRUE(tests::succeeded(pe.barrier_all()));
    std::uint64_t seen[16] = {};
    ASSERT_TRUE(tests::succeeded(pe.transfers().get(seen, words, sizeof seen, pe.pe(), false)));
    for (std::uint64_t other = 0; other < 16; ++other) EXPECT_EQ(seen[other], other + 100);
    ASSERT_TRUE(tests::succeeded(pe.barrier_all()));
  });
}

}  // namespace
}  // namespace gdrkit::shmem_impl::parts
