// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <cstring>
#include <string>
#include <vector>

#include "gpu_kernels_conformance.hpp"
#include "platform/gpu_code/stream_params.hpp"
#include "support/device_access.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

GDRKIT_COVERS(stream_signal, StreamSignal);
GDRKIT_COVERS(stream_value, StreamValueParameters);
GDRKIT_COVERS(stream_wait, StreamWaitParameters);

constexpr std::size_t room = 70000;

class StreamConformance : public GpuKernelConformance {
 protected:
  void finish() { EXPECT_TRUE(tests::succeeded(device_->synchronize(stream_))); }
};

TEST_F(StreamConformance, StoresValuesPassedAsParameters) {
  const auto pattern = tests::make_pattern(sizeof StreamValueParameters{}.words, 5);
  const std::uint64_t target = device_memory(room);
  for (const unsigned threads : {1U, 32U, 128U}) {
    for (const std::size_t size : {0U, 1U, 2U, 3U, 4U, 5U, 8U, 12U, 17U, 500U, 1024U}) {
      for (const std::size_t at : {0U, 1U, 2U, 4U, 8U}) {
        ASSERT_TRUE(tests::succeeded(device_->fill(target, 0xee, room)));
        StreamValueParameters parameters{};
        parameters.target = target + at;
        parameters.size_bytes = size;
        std::memcpy(parameters.words, pattern.data(), pattern.size());
        run(parameters, {1, threads});
        std::vector<std::uint8_t> expected(room, 0xee);
        std::memcpy(expected.data() + at, pattern.data(), size);
        EXPECT_EQ(tests::first_difference(read_bytes(target, room), expected), room)
            << size << " bytes at " << at << ", " << threads << " threads";
      }
    }
  }
}

TEST_F(StreamConformance, SignalsAreSetOrAddedTo) {
  const std::uint64_t words = device_memory(24);
  StreamSignal signal{words + 8, 40, GDRKIT_SHMEM_SIGNAL_SET};
  ASSERT_TRUE(tests::succeeded(kernels_->launch(signal, {1, 1}, stream_)));
  signal = {words + 8, 2, GDRKIT_SHMEM_SIGNAL_ADD};
  run(signal, {1, 1});
  EXPECT_EQ(read<std::uint64_t>(words + 8), 42U);
  EXPECT_EQ(read<std::uint64_t>(words), 0U);
  EXPECT_EQ(read<std::uint64_t>(words + 16), 0U);
}

TEST_F(StreamConformance, AnInvalidSignalIsRejected) {
  const std::uint64_t words = device_memory(64);
  EXPECT_TRUE(rejects(StreamSignal{words, 1, GDRKIT_SHMEM_SIGNAL_SET}, {1, 32})) << "each thread would add";
  EXPECT_TRUE(rejects(StreamSignal{words + 4, 1, GDRKIT_SHMEM_SIGNAL_SET}, {1, 1}));
  EXPECT_TRUE(rejects(StreamSignal{0, 1, GDRKIT_SHMEM_SIGNAL_SET}, {1, 1}));
  EXPECT_TRUE(rejects(StreamSignal{words, 1, 7}, {1, 1}));
  StreamValueParameters value{};
  value.target = words;
  value.size_bytes = sizeof value.words + 1;
  EXPECT_TRUE(rejects(value, {1, 32}));
  value.size_bytes = 8;
  EXPECT_TRUE(rejects(value, {2, 32}));
  finish();
  EXPECT_EQ(read<std::uint64_t>(words), 0U);
}

/// The results of a wait in host memory.
struct WaitControl {
  std::uint32_t is_broken;
  std::uint32_t unused;
  std::uint64_t timed_out_address;
};

class StreamWaitConformance : public StreamConformance {
 protected:
  StreamWaitParameters parameters(std::uint64_t limit_ns) {
    control_ = static_cast<WaitControl*>(host_memory(sizeof(WaitControl)));
    StreamWaitParameters made{};
    made.state.limit_ns = limit_ns;
    made.state.control_address = to_device(control_);
    made.address = device_memory(8);
    made.word = GDRKIT_SHMEM_UINT64;
    made.comparison = GDRKIT_SHMEM_EQ;
    made.value = 1;
    return made;
  }
  WaitControl* control_ = nullptr;
};

TEST_F(StreamWaitConformance, ComparesAsSignedOrUnsigned) {
  struct Case {
    int word;
    std::uint32_t comparison;
    std::uint64_t value;
  };
  auto wait = parameters(long_ns);
  const std::uint64_t minus_two = ~std::uint64_t{1};
  ASSERT_TRUE(tests::succeeded(device_->copy_to_device(wait.address, &minus_two, sizeof minus_two)));
  const Case hold[] = {{8, GDRKIT_SHMEM_GT, 0},          {4, GDRKIT_SHMEM_EQ, 0xfffffffe}, {-8, GDRKIT_SHMEM_LT, 0},
                       {-4, GDRKIT_SHMEM_LE, minus_two}, {-4, GDRKIT_SHMEM_NE, 2},         {8, GDRKIT_SHMEM_GE, 5}};
  for (const Case& one : hold) {
    wait.word = one.word;
    wait.comparison = one.comparison;
    wait.value = one.value;
    run(wait, {1, 1});
    EXPECT_EQ(control_->timed_out_address, 0U) << one.word << ' ' << one.comparison;
  }
}

TEST_F(StreamWaitConformance, TimesOutAndReportsIt) {
  const auto wait = parameters(short_ns);
  run(wait, {1, 1});
  EXPECT_EQ(control_->timed_out_address, wait.address);
}

TEST_F(StreamWaitConformance, EndsIfAPeExits) {
  const auto wait = parameters(long_ns);
  ASSERT_TRUE(tests::succeeded(kernels_->launch(wait, {1, 1}, stream_)));
  store(&control_->is_broken, 1);
  finish();
  EXPECT_EQ(control_->timed_out_address, wait.address);
}

TEST_F(StreamWaitConformance, InvalidWordsAreRejected) {
  const auto good = parameters(short_ns);
  EXPECT_TRUE(rejects(good, {1, 1}, [](auto& wait) { wait.address += 4; }));
  for (const int size : {0, 1, 3, 16}) {
    EXPECT_TRUE(rejects(good, {1, 1}, [&](auto& wait) { wait.word = static_cast<decltype(wait.word)>(size); })) << size;
  }
  EXPECT_TRUE(rejects(good, {1, 1}, [](auto& wait) { wait.comparison = 6; }));
  EXPECT_TRUE(rejects(good, {1, 2}));
}

}  // namespace
}  // namespace gdrkit::platform
