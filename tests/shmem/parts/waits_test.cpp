// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>

#include "support/results.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

using tests::failed;
using tests::run_shmem_job;
using tests::ShmemJobOptions;
using tests::succeeded;

TEST(ShmemWaiting, ComparesAsSignedOrUnsigned) {
  run_shmem_job({.n_pes = 1}, [](core::Pe& pe) {
    auto* const made = tests::zeroed<char>(pe, 64);
    const auto minus_two = static_cast<std::uint64_t>(-2);
    ASSERT_TRUE(succeeded(pe.transfers().put(made, &minus_two, 8, 0, false)));
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
      auto tested = pe.waits().test({made, one.size, one.is_signed}, one.comparison, one.value);
      ASSERT_TRUE(tested) << tested.error().text();
      EXPECT_EQ(*tested, one.expected) << one.size << " bytes, comparison " << static_cast<int>(one.comparison);
    }
    EXPECT_TRUE(failed(pe.waits().test({made + 4, 8, false}, GDRKIT_SHMEM_EQ, 0), EINVAL));
  });
}

TEST(ShmemWaiting, AWaitTimesOut) {
  run_shmem_job({}, [](core::Pe& pe) {
    auto* const made = tests::zeroed<char>(pe, 8);
    pe.set_limit(std::chrono::milliseconds(50));
    EXPECT_TRUE(failed(pe.waits().wait_until({made, 8, false}, GDRKIT_SHMEM_EQ, 1), ETIMEDOUT));
    pe.set_limit(std::chrono::milliseconds(30000));
    ASSERT_TRUE(succeeded(pe.sync_all()));
  });
}

TEST(ShmemWaiting, ABarrierWaitsForAllPes) {
  constexpr int n_pes = 4;
  std::atomic<int> arrived[3] = {};
  run_shmem_job({.n_pes = n_pes}, [&](core::Pe& pe) {
    for (int round = 0; round < 300; ++round) {
      arrived[round % 3].fetch_add(1);
      ASSERT_TRUE(succeeded(round % 2 == 0 ? pe.barrier_all() : pe.sync_all()));
      EXPECT_EQ(arrived[round % 3].load(), n_pes) << "round " << round;
      // The counter of the round before the last: no PE uses it now.
      if (pe.pe() == 0) arrived[(round + 2) % 3].store(0);
      ASSERT_TRUE(succeeded(pe.sync_all()));
    }
  });
}

TEST(ShmemWaiting, ManyPesWaitOnFewCores) {
  run_shmem_job({.n_pes = 16, .heap_bytes = 65536, .heap_max_bytes = std::uint64_t{64} << 20}, [](core::Pe& pe) {
    auto* const made = tests::zeroed<std::uint64_t>(pe, 16);
    auto* const words = made;
    const std::uint64_t mine = static_cast<std::uint64_t>(pe.pe()) + 100;
    for (int other = 0; other < 16; ++other) {
      ASSERT_TRUE(succeeded(pe.transfers().put(words + pe.pe(), &mine, sizeof mine, other, false)));
    }
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    std::uint64_t seen[16] = {};
    ASSERT_TRUE(succeeded(pe.transfers().get(seen, words, sizeof seen, pe.pe(), false)));
    for (std::uint64_t other = 0; other < 16; ++other) EXPECT_EQ(seen[other], other + 100);
    ASSERT_TRUE(succeeded(pe.barrier_all()));
  });
}

using Indices = std::vector<std::size_t>;

constexpr std::size_t count = 6;

std::uint64_t* words_of(core::Pe& pe) { return tests::zeroed<std::uint64_t>(pe, count); }

TEST(ShmemWaitMany, FindsWordsThatSatisfyTheComparison) {
  run_shmem_job({.n_pes = 1}, [](core::Pe& pe) {
    void* const address = words_of(pe);
    const std::int32_t held[count] = {-1, 5, -1, 5, 9, -7};
    ASSERT_TRUE(succeeded(pe.transfers().put(address, held, sizeof held, 0, false)));
    const std::uint64_t five = 5;
    Words words{{address, 4, true}, count, GDRKIT_SHMEM_GE, &five, 1, nullptr};
    EXPECT_EQ(pe.waits().test_some(words).value(), (Indices{1, 3, 4}));
    const int skip[count] = {0, 1, 0, 0, 0, 0};
    words.skip = skip;
    EXPECT_EQ(pe.waits().test_some(words).value(), (Indices{3, 4}));
    EXPECT_EQ(pe.waits().wait_until_some(words).value(), (Indices{3, 4}));
    words.first.is_signed = false;
    EXPECT_EQ(pe.waits().test_some(words).value(), (Indices{0, 2, 3, 4, 5})) << "-1 is large without a sign";
    const std::uint64_t values[count] = {static_cast<std::uint64_t>(-1), 0, static_cast<std::uint64_t>(-1), 5, 9,
                                         static_cast<std::uint64_t>(-7)};
    words = {{address, 4, true}, count, GDRKIT_SHMEM_EQ, values, count, skip};
    EXPECT_EQ(pe.waits().test_some(words).value().size(), count - 1);
    EXPECT_TRUE(succeeded(pe.waits().wait_until_all(words))) << "the one that does not hold is left out";
  });
}

TEST(ShmemWaitMany, WaitsForAnotherPe) {
  run_shmem_job({}, [](core::Pe& pe) {
    auto* const address = words_of(pe);
    const std::uint64_t one = 1;
    int skip[count] = {};
    Words words{{address, 8, false}, count, GDRKIT_SHMEM_EQ, &one, 1, skip};
    for (const std::size_t next : {4U, 2U, 0U, 1U, 5U, 3U}) {
      if (pe.pe() == 1) {
        ASSERT_TRUE(succeeded(pe.transfers().put(address + next, &one, sizeof one, 0, false)));
      } else {
        EXPECT_EQ(pe.waits().wait_until_some(words).value(), Indices{next});
        skip[next] = 1;
      }
      ASSERT_TRUE(succeeded(pe.sync_all()));
    }
    words.skip = nullptr;
    if (pe.pe() == 0) {
      EXPECT_TRUE(succeeded(pe.waits().wait_until_all(words)));
    }
    ASSERT_TRUE(succeeded(pe.barrier_all()));
  });
}

TEST(ShmemWaitMany, ReturnsImmediatelyForAnEmptyArray) {
  run_shmem_job({.n_pes = 1}, [](core::Pe& pe) {
    void* const address = words_of(pe);
    const std::uint64_t one = 1;
    const int skip[count] = {1, 1, 1, 1, 1, 1};
    const Words words{{address, 8, false}, count, GDRKIT_SHMEM_EQ, &one, 1, skip};
    EXPECT_TRUE(succeeded(pe.waits().wait_until_all(words)));
    EXPECT_TRUE(pe.waits().wait_until_some(words).value().empty());
    EXPECT_TRUE(succeeded(pe.waits().wait_until_all({})));
  });
}

TEST(ShmemWaitMany, AWaitTimesOut) {
  run_shmem_job({.n_pes = 1}, [](core::Pe& pe) {
    void* const address = words_of(pe);
    const std::uint64_t one = 1;
    const Words words{{address, 8, false}, count, GDRKIT_SHMEM_EQ, &one, 1, nullptr};
    pe.set_limit(std::chrono::milliseconds(50));
    EXPECT_TRUE(failed(pe.waits().wait_until_all(words), ETIMEDOUT));
    EXPECT_TRUE(failed(pe.waits().wait_until_some(words), ETIMEDOUT));
    pe.set_limit(std::chrono::milliseconds(30000));
  });
}

TEST(ShmemWaitMany, RejectsInvalidArguments) {
  run_shmem_job({.n_pes = 1}, [](core::Pe& pe) {
    auto* const address = reinterpret_cast<char*>(words_of(pe));
    const std::uint64_t values[2] = {};
    std::uint64_t local[2] = {};
    const Words wrongs[] = {
        {{address + 4, 8, false}, 1, GDRKIT_SHMEM_EQ, values, 1, nullptr},
        {{address, 8, false}, count + 1, GDRKIT_SHMEM_EQ, values, 1, nullptr},
        {{address, 8, false}, SIZE_MAX, GDRKIT_SHMEM_EQ, values, 1, nullptr},
        {{address, 8, false}, count, GDRKIT_SHMEM_EQ, values, 2, nullptr},
        {{address, 8, false}, count, GDRKIT_SHMEM_EQ, nullptr, 1, nullptr},
        {{local, 8, false}, 2, GDRKIT_SHMEM_EQ, values, 1, nullptr},
    };
    for (const Words& wrong : wrongs) {
      EXPECT_TRUE(failed(pe.waits().wait_until_all(wrong), EINVAL));
      EXPECT_TRUE(failed(pe.waits().wait_until_some(wrong), EINVAL));
      EXPECT_TRUE(failed(pe.waits().test_some(wrong), EINVAL));
    }
  });
}

}  // namespace
}  // namespace gdrkit::shmem_impl::parts
