// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Litmus tests of docs/memory-model.md: the guarantees that a completed call gives to a running GPU kernel, a later
// launch and another thread.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "gdrkit/gdrkit.hpp"
#include "gpu_kernels_conformance.hpp"
#include "platform/gpu_code/copy_params.hpp"
#include "platform/gpu_code/ping_pong_params.hpp"
#include "support/place.hpp"
#include "support/test_thread.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdrkit::platform {
namespace {

const bool runs_on_gpu = tests::is_gpu_place();
constexpr std::size_t page_bytes = 65536;
constexpr std::size_t data_bytes = 1024;
constexpr std::uint32_t first = 1;

/// Limits the time of a test, because on a shared GPU a round may take many ms: 2 s, or 10 s with GDRKIT_FULL.
class Budget {
 public:
  [[nodiscard]] bool is_spent() const { return std::chrono::steady_clock::now() - begin_ > limit_; }

 private:
  std::chrono::seconds limit_{std::getenv("GDRKIT_FULL") == nullptr ? 2 : 10};
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// A million rounds for the CPU's stores and loads and for the mover; fewer for the driver's copies, which are slow.
std::uint32_t rounds_of(const char* engine) {
  if (!runs_on_gpu) return 2000;
  const bool is_slow = std::strcmp(engine, "copy_engine") == 0 || std::strcmp(engine, "lanes") == 0;
  return is_slow ? 50'000 : 1'000'000;
}

void order_host_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// A flag and data in device memory, in separate pins: the CPU maps the flag, the engine maps the data.
class MemoryModel : public GpuKernelConformance, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the thread sanitizer does not support the fences that order these accesses";
#endif
    if (!runs_on_gpu) ::setenv("GDRKIT_BACKEND", "emulated", 1);
    GpuKernelConformance::SetUp();
    if (!kernels_ || IsSkipped()) return;
    memory_ = device_memory(4 * page_bytes);
    context_.emplace();
    flag_pin_.emplace(context_->pin(memory_, 256));
    flag_.emplace(flag_pin_->map({.engine = Engine::cpu}));
    data_pin_.emplace(context_->pin(memory_ + page_bytes, page_bytes));
    try {
      data_.emplace(data_pin_->map({.engine = engine_from_name(GetParam()).value()}));
    } catch (const gdrkit::Error& error) {
      if (runs_on_gpu) throw;
      GTEST_SKIP() << error.what();
    }
    host_ = static_cast<std::uint32_t*>(host_memory(data_bytes));
    pong_ = host_word();
    end_ = host_word();
  }
  void TearDown() override {
    data_.reset();
    flag_.reset();
    data_pin_.reset();
    flag_pin_.reset();
    context_.reset();
    GpuKernelConformance::TearDown();
  }

  [[nodiscard]] std::span<std::uint32_t> words() const { return {host_, data_bytes / sizeof *host_}; }
  void fill(std::uint32_t value) const { std::fill(words().begin(), words().end(), value); }
  /// Polls without pauses, which could hide races.
  [[nodiscard]] bool has_pong(std::uint32_t value) const { return comes(pong_, value); }

  PingPongParameters parameters() {
    PingPongParameters made{};
    made.ping = memory_;
    made.pong = to_device(pong_);
    made.data = memory_ + page_bytes;
    made.data_bytes = data_bytes;
    made.state = memory_ + 2 * page_bytes;
    made.end = to_device(end_);
    made.limit_ns = long_ns;
    return made;
  }
  /// Runs the CPU's side, play(value) for each round, with launches of several rounds each. Returns the number of
  /// rounds, and in *mismatches the total that the GPU's side counted.
  template <class Play>
  std::uint32_t play_rounds(PingPongParameters made, std::uint32_t rounds, Play play, std::uint32_t* mismatches) {
    constexpr std::uint32_t rounds_a_launch = 250;
    std::uint32_t value = first;
    for (const Budget budget; value < first + rounds && !budget.is_spent();) {
      made.first = value;
      made.rounds = std::min(rounds_a_launch, first + rounds - value);
      EXPECT_TRUE(tests::succeeded(kernels_->launch(made, {1, 128}, stream_)));
      for (const std::uint32_t end = value + made.rounds; value < end; ++value) {
        if (play(value)) continue;
        ADD_FAILURE() << "the GPU sent no pong in round " << value;
        return value - first;
      }
      EXPECT_TRUE(tests::succeeded(device_->synchronize(stream_)));
      EXPECT_EQ(end_at(end_), KernelEnd::finished);
    }
    *mismatches = read<PingPongState>(memory_ + 2 * page_bytes).mismatches;
    report(value - first, rounds);
    return value - first;
  }
  static void report(std::uint32_t played, std::uint32_t rounds) {
    if (played < rounds) std::printf("played %u of %u rounds: the GPU or the CPUs are busy\n", played, rounds);
  }

  std::uint64_t memory_ = 0;
  std::optional<Context> context_;
  std::optional<Pin> flag_pin_, data_pin_;
  std::optional<Mapping> flag_, data_;
  std::uint32_t* host_ = nullptr;
  std::uint32_t* pong_ = nullptr;
  std::uint32_t* end_ = nullptr;
};

TEST_P(MemoryModel, RunningGpuKernelReadsAWriteBeforeAnAcquiredFlag) {
  const auto play = [&](std::uint32_t value) {
    fill(value);
    data_->write(0, words());
    flag_->store_flag<decltype(value)>(0, value);
    return has_pong(value);
  };
  std::uint32_t mismatches = 1;
  EXPECT_GT(play_rounds(parameters(), rounds_of(GetParam()), play, &mismatches), 0u);
  EXPECT_EQ(mismatches, 0u);
}

TEST_P(MemoryModel, DetectsAFlagWrittenBeforeItsData) {
  constexpr std::uint32_t rounds = 20;
  const auto play = [&](std::uint32_t value) {
    flag_->store_flag<decltype(value)>(0, value);
    const bool is_received = has_pong(value);
    fill(value);
    data_->write(0, words());
    return is_received;
  };
  std::uint32_t mismatches = 0;
  EXPECT_EQ(play_rounds(parameters(), rounds, play, &mismatches), rounds);
  EXPECT_EQ(mismatches, rounds * words().size());
}

/// Uses no engine.
class HostStores : public MemoryModel {};

TEST_P(HostStores, FencedStoresAreVisibleAfterALaterFlag) {
  auto made = parameters();
  made.data = to_device(host_);
  const auto play = [&](std::uint32_t value) {
    fill(value);
    order_host_stores();
    flag_->store_flag<decltype(value)>(0, value);
    return has_pong(value);
  };
  std::uint32_t mismatches = 1;
  EXPECT_GT(play_rounds(made, rounds_of("cpu"), play, &mismatches), 0u);
  EXPECT_EQ(mismatches, 0u);
}

TEST_P(MemoryModel, AReadReturnsDataStoredBeforeTheFlag) {
  auto made = parameters();
  made.is_gpu_first = 1;
  made.pong = memory_ + 64;
  std::uint64_t wrong = 0;
  const auto play = [&](std::uint32_t value) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t polls = 1; flag_->load_flag<std::uint32_t>(64) != value; ++polls) {
      if (polls % 64 != 0) continue;
      if (std::chrono::steady_clock::now() - begin > std::chrono::nanoseconds(long_ns)) return false;
      std::this_thread::yield();
    }
    data_->read(0, words());
    for (const std::uint32_t word : words()) wrong += word != value ? 1 : 0;
    flag_->store_flag<decltype(value)>(0, value);
    return true;
  };
  std::uint32_t unused = 0;
  EXPECT_GT(play_rounds(made, rounds_of(GetParam()), play, &unused), 0u);
  EXPECT_EQ(wrong, 0u);
}

/// Later launches copy a counter to their own words. Later writes may precede their execution, so they read at
/// least the round that was written before their launch.
TEST_P(MemoryModel, ALaterLaunchReadsTheWrite) {
  constexpr std::uint32_t batch = 256;
  const std::uint32_t batches = rounds_of(GetParam()) / batch;
  const std::uint64_t slots = memory_ + 3 * page_bytes;
  std::vector<std::uint32_t> seen(batch * 4);
  std::uint32_t value = 0;
  const Budget budget;
  for (std::uint32_t number = 0; number < batches && !budget.is_spent(); ++number) {
    for (std::uint32_t at = 0; at < batch; ++at) {
      fill(++value);
      data_->write(0, words());
      ASSERT_TRUE(tests::succeeded(
          kernels_->launch(CopyParameters{slots + at * 16, memory_ + page_bytes, 16, 1, 0}, {1, 1}, stream_)));
    }
    ASSERT_TRUE(tests::succeeded(device_->synchronize(stream_)));
    ASSERT_TRUE(tests::succeeded(device_->copy_to_host(seen.data(), slots, seen.size() * sizeof(std::uint32_t))));
    for (std::uint32_t at = 0; at < batch; ++at) {
      const std::uint32_t written = value - batch + 1 + at;
      ASSERT_GE(seen[at * 4], written);
      ASSERT_LE(seen[at * 4], value);
    }
  }
  report(value, batches * batch);
}

TEST_P(MemoryModel, AnotherThreadReadsTheWriteAfterAcquiringTheCounter) {
  constexpr std::uint32_t rounds_per_read = 64;
  const std::uint32_t rounds = rounds_of(GetParam());
  std::atomic<std::uint32_t> written{0};
  std::atomic<std::uint64_t> stale{0};
  std::atomic<std::uint32_t> reads{0};
  tests::TestThread reader([&](const std::atomic<bool>& is_over) {
    std::uint32_t word = 0;
    while (!is_over) {
      const std::uint32_t expected = written.load(std::memory_order_acquire);
      data_->read(0, std::span(&word, 1));
      stale += word < expected ? 1 : 0;
      ++reads;
    }
  });
  std::uint32_t value = first;
  for (const Budget budget; value < first + rounds && !budget.is_spent(); ++value) {
    fill(value);
    data_->write(0, words().first(64));
    written.store(value, std::memory_order_release);
    // On a busy machine all writes may end before the reader reads a second time. It reads twice after some of them,
    // because a read may have begun before this write.
    if (value % rounds_per_read != 0) continue;
    for (const std::uint32_t seen = reads; reads - seen < 2 && !reader.has_ended();) std::this_thread::yield();
  }
  reader.stop();
  EXPECT_GT(reads, 0u);
  EXPECT_EQ(stale, 0u);
  report(value - first, rounds);
}

INSTANTIATE_TEST_SUITE_P(Fence, HostStores, ::testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Engines, MemoryModel, ::testing::Values("cpu", "lanes", "copy_engine", "mover", "automatic"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace gdrkit::platform
