// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit_shmem_finalize during calls of other threads.
#include <gdrkit/shmem.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include "support/run_together.hpp"
#include "tests/shmem/capi/one_pe.hpp"

namespace {

using gdrkit::tests::options_of_one_pe;
using ::testing::AnyOf;

TEST(Finalize, WaitsForRunningCallsAndFailsLaterOnes) {
  for (int round = 0; round < 20; ++round) {
    const gdrkit_shmem_options options = options_of_one_pe();
    ASSERT_EQ(gdrkit_shmem_init(&options), 0) << gdrkit_shmem_last_error();
    char* words = nullptr;
    ASSERT_EQ(gdrkit_shmem_char_calloc(4096, &words), 0) << gdrkit_shmem_last_error();
    std::atomic<int> started{0};
    std::vector<std::thread> threads;
    std::vector<int> ends(3);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      threads.emplace_back([&, i] {
        char bytes[64] = {};
        void* const target = words + i * sizeof bytes;
        int result = gdrkit_shmem_put(target, bytes, sizeof bytes, 0);
        ++started;
        while (result == 0) {
          result = i == 2 ? gdrkit_shmem_quiet() : gdrkit_shmem_put(target, bytes, sizeof bytes, 0);
        }
        ends[i] = result;
      });
    }
    while (started < 3) std::this_thread::yield();
    EXPECT_EQ(gdrkit_shmem_finalize(), 0) << gdrkit_shmem_last_error();
    for (std::thread& thread : threads) thread.join();
    for (const int end : ends) EXPECT_EQ(end, -EINVAL);
  }
}

TEST(Finalize, OneOfManyThreadsFinalizes) {
  const gdrkit_shmem_options options = options_of_one_pe();
  ASSERT_EQ(gdrkit_shmem_init(&options), 0);
  std::atomic<int> succeeded{0};
  gdrkit::tests::run_together(4, [&](int) {
    const int result = gdrkit_shmem_finalize();
    EXPECT_THAT(result, AnyOf(0, -EINVAL));
    if (result == 0) ++succeeded;
  });
  EXPECT_EQ(succeeded, 1);
}

TEST(Finalize, TimesOutDuringAWaitWithoutSideEffects) {
  const gdrkit_shmem_options options = options_of_one_pe();
  ASSERT_EQ(gdrkit_shmem_init(&options), 0);
  std::uint64_t* signal = nullptr;
  ASSERT_EQ(gdrkit_shmem_uint64_calloc(1, &signal), 0) << gdrkit_shmem_last_error();
  std::atomic<bool> is_waiting{false};
  std::thread waiter([&] {
    is_waiting = true;
    EXPECT_EQ(gdrkit_shmem_signal_wait_until(signal, GDRKIT_SHMEM_EQ, 1, nullptr), 0) << gdrkit_shmem_last_error();
  });
  while (!is_waiting) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  // This limit applies to finalize; the wait already runs with the long one.
  ASSERT_EQ(gdrkit_shmem_set_timeout(100), 0);
  EXPECT_EQ(gdrkit_shmem_finalize(), -ETIMEDOUT);
  EXPECT_EQ(gdrkit_shmem_my_pe(), 0) << "the PE still exists";
  EXPECT_EQ(gdrkit_shmem_signal_op(signal, 1, GDRKIT_SHMEM_SIGNAL_SET, 0), 0);
  waiter.join();
  EXPECT_EQ(gdrkit_shmem_finalize(), 0) << gdrkit_shmem_last_error();
}

TEST(Finalize, LastUserFinalizesASharedPe) {
  const gdrkit_shmem_options options = options_of_one_pe();
  EXPECT_EQ(gdrkit_shmem_finalize_shared(), -EINVAL);
  ASSERT_EQ(gdrkit_shmem_init_shared(&options), 0);
  gdrkit_shmem_pe_t first{};
  gdrkit_shmem_pe_t second{};
  ASSERT_EQ(gdrkit_shmem_current(&first), 0);
  std::thread([&] {
    ASSERT_EQ(gdrkit_shmem_init_shared(nullptr), 0);
    ASSERT_EQ(gdrkit_shmem_current(&second), 0);
  }).join();
  EXPECT_EQ(first.value, second.value);
  EXPECT_EQ(gdrkit_shmem_finalize_shared(), 0);
  EXPECT_EQ(gdrkit_shmem_my_pe(), 0);
  std::thread([] { EXPECT_EQ(gdrkit_shmem_finalize_shared(), 0); }).join();
  EXPECT_EQ(gdrkit_shmem_my_pe(), -EINVAL);
  EXPECT_EQ(gdrkit_shmem_finalize_shared(), -EINVAL);
}

}  // namespace
