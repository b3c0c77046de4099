// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit/shmem_device_words.cuh by host threads, as GPU kernels are played on the emulated device.
#include <gtest/gtest.h>

#include <chrono>
#include <gdrkit/shmem_device_words.cuh>
#include <thread>
#include <vector>

namespace gdrkit::shmem {
namespace {

State state_with(std::uint64_t limit_ns, detail::Control* control) {
  State state{};
  state.limit_ns = limit_ns;
  state.control_address = reinterpret_cast<std::uint64_t>(control);
  return state;
}

constexpr std::uint64_t long_ns = 20'000'000'000;
constexpr std::uint64_t short_ns = 10'000'000;

template <class Word>
class ShmemDeviceWords : public ::testing::Test {};
using WordTypes =
    ::testing::Types<std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(ShmemDeviceWords, WordTypes);

TYPED_TEST(ShmemDeviceWords, FindsWordsThatSatisfyTheComparison) {
  using Word = TypeParam;
  alignas(8) const Word held[6] = {1, 5, 1, 5, 9};  // whole words of 4 bytes, which are read for those of 2
  const int skip[] = {0, 1, 0, 0, 0};
  const Words<Word, Word> same{held, 5, skip, GDRKIT_SHMEM_GE, 5};
  std::size_t indices[5] = {};
  EXPECT_FALSE(test_all(same));
  EXPECT_GE(test_any(same), 3U) << "1 is left out";
  EXPECT_EQ(test_some(same, indices), 2U);
  EXPECT_EQ(indices[0], 3U);
  EXPECT_EQ(indices[1], 4U);
  const Word values[] = {1, 0, 1, 5, 9};
  const Words<Word, const Word*> each{held, 5, skip, GDRKIT_SHMEM_EQ, values};
  EXPECT_TRUE(test_all(each)) << "the one that does not is left out";
  const Words<Word, const Word*> all{held, 5, nullptr, GDRKIT_SHMEM_EQ, values};
  EXPECT_FALSE(test_all(all));
  EXPECT_EQ(test_some(all, indices), 4U);
  EXPECT_TRUE(detail::test_word(held + 4, GDRKIT_SHMEM_GT, Word{5}));
  EXPECT_FALSE(detail::test_word(held + 4, GDRKIT_SHMEM_LE, Word{5}));
}

TYPED_TEST(ShmemDeviceWords, FindsEachSatisfiedWordEventually) {
  using Word = TypeParam;
  alignas(8) const Word held[4] = {3, 3, 3, 3};
  const int skip[4] = {0, 0, 1, 0};
  const Words<Word, Word> words{held, 4, skip, GDRKIT_SHMEM_EQ, 3};
  const State state = state_with(long_ns, nullptr);
  int tested[4] = {}, waited[4] = {};
  for (int i = 0; i < 2000; ++i) {
    ++tested[test_any(words)];
    ++waited[wait_until_any(state, words)];
  }
  for (const int i : {0, 1, 3}) {
    EXPECT_GT(tested[i], 0) << i;
    EXPECT_GT(waited[i], 0) << i;
  }
  EXPECT_EQ(tested[2] + waited[2], 0);
}

TYPED_TEST(ShmemDeviceWords, WaitsForAnotherThread) {
  using Word = TypeParam;
  alignas(8) Word held[4] = {};
  detail::Control control{};
  const State state = state_with(long_ns, &control);
  const Words<Word, Word> words{held, 3, nullptr, GDRKIT_SHMEM_NE, 0};
  std::thread writer([&] {
    for (const int i : {2, 0, 1}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      __atomic_store_n(&held[i], Word{7}, __ATOMIC_RELEASE);
    }
  });
  std::size_t indices[3] = {};
  EXPECT_NE(wait_until_any(state, words), no_word);
  EXPECT_GE(wait_until_some(state, words, indices), 1U);
  EXPECT_TRUE(wait_until_all(state, words));
  writer.join();
  EXPECT_EQ(wait_until_some(state, words, indices), 3U);
  EXPECT_EQ(control.timed_out_address, 0U);
}

TEST(ShmemDeviceWordsEnd, AWaitTimesOutAndReportsTheWord) {
  const std::uint64_t held[2] = {};
  const Words<std::uint64_t, std::uint64_t> words{held, 2, nullptr, GDRKIT_SHMEM_EQ, 1};
  std::size_t indices[2] = {};
  detail::Control control{};
  const State state = state_with(short_ns, &control);
  EXPECT_FALSE(wait_until_all(state, words));
  EXPECT_EQ(control.timed_out_address, reinterpret_cast<std::uint64_t>(held));
  control.timed_out_address = 0;
  EXPECT_EQ(wait_until_any(state, words), no_word);
  EXPECT_NE(control.timed_out_address, 0U);
  EXPECT_EQ(wait_until_some(state, words, indices), 0U);
  control.is_broken = 1;
  EXPECT_FALSE(wait_until_all(state_with(long_ns, &control), words)) << "a PE has ended";
  EXPECT_FALSE(wait_until_all(state_with(short_ns, nullptr), words)) << "without a control";
}

TEST(ShmemDeviceWordsEnd, ReturnsImmediatelyForAnEmptyArray) {
  const std::uint64_t held[2] = {};
  const int skip[] = {1, 1};
  const Words<std::uint64_t, std::uint64_t> words{held, 2, skip, GDRKIT_SHMEM_EQ, 1};
  std::size_t indices[2] = {};
  const State state = state_with(long_ns, nullptr);
  EXPECT_TRUE(wait_until_all(state, words));
  EXPECT_EQ(wait_until_any(state, words), no_word);
  EXPECT_EQ(wait_until_some(state, words, indices), 0U);
  EXPECT_TRUE(test_all(words));
}

}  // namespace
}  // namespace gdrkit::shmem
