// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cerrno>

#include "support/results.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

using tests::run_shmem_job;
using Indices = std::vector<std::size_t>;

constexpr std::size_t count = 6;

std::uint64_t* words_of(core::Pe& pe) { return tests::zeroed<std::uint64_t>(pe, count); }

TEST(ShmemWaitMany, FindsWordsThatSatisfyTheComparison) {
  run_shmem_job({.n_pes = 1}, [](core::Pe& pe) {
    void* const address = words_of(pe);
    const std::int32_t held[count] = {-1, 5, -1, 5, 9, -7};
    ASSERT_TRUE(tests::succeeded(pe.transfers().put(address, held, sizeof held, 0, false)));
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
    EXPECT_TRUE(tests::succeeded(pe.waits().wait_until_all(words))) << "the one that does not hold is left out";
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
        ASSERT_TRUE(tests::succeeded(pe.transfers().put(address + next, &one, sizeof one, 0, false)));
      } else {
        EXPECT_EQ(pe.waits().wait_until_some(words).value(), Indices{next});
        skip[next] = 1;
      }
      ASSERT_TRUE(tests::succeeded(pe.sync_all()));
    }
    words.skip = nullptr;
    if (pe.pe() == 0) {
      EXPECT_TRUE(tests::succeeded(pe.waits().wait_until_all(words)));
    }
    ASSERT_TRUE(tests::succeeded(pe.barrier_all()));
  });
}

TEST(ShmemWaitMany, ReturnsImmediatelyForAnEmptyArray) {
  run_shmem_job({.n_pes = 1}, [](core::Pe& pe) {
    void* const address = words_of(pe);
    const std::uint64_t one = 1;
    const int skip[count] = {1, 1, 1, 1, 1, 1};
    const Words words{{address, 8, false}, count, GDRKIT_SHMEM_EQ, &one, 1, skip};
    EXPECT_TRUE(tests::succeeded(pe.waits().wait_until_all(words)));
    EXPECT_TRUE(pe.waits().wait_until_some(words).value().empty());
    EXPECT_TRUE(tests::succeeded(pe.waits().wait_until_all({})));
  });
}

TEST(ShmemWaitMany, AWaitTimesOut) {
  run_shmem_job({.n_pes = 1}, [](core::Pe& pe) {
    void* const address = words_of(pe);
    const std::uint64_t one = 1;
    const Words words{{address, 8, false}, count, GDRKIT_SHMEM_EQ, &one, 1, nullptr};
    pe.set_limit(std::chrono::milliseconds(50));
    EXPECT_EQ(pe.waits().wait_until_all(words).error().errno_value, ETIMEDOUT);
    EXPECT_EQ(pe.waits().wait_until_some(words).error().errno_value, ETIMEDOUT);
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
      EXPECT_EQ(pe.waits().wait_until_all(wrong).error().errno_value, EINVAL);
      EXPECT_EQ(pe.waits().wait_until_some(wrong).error().errno_value, EINVAL);
      EXPECT_EQ(pe.waits().test_some(wrong).error().errno_value, EINVAL);
    }
  });
}

}  // namespace
}  // namespace gdrkit::shmem_impl::parts
