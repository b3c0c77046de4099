// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The mover's CPU side against GPUs that are full, shared, capturing, slow or lost.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "engine/mover/mover_code.hpp"
#include "engine_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::engine {
namespace {

using namespace std::chrono_literals;
using mover::Parameters;
using mover::Status;

std::atomic<int> launches{0};
std::atomic<bool> may_start{true};

/// Status of blocks that have not executed a command, starting at `first`.
void report_idle_blocks(const Parameters& parameters, unsigned first, unsigned blocks, bool is_over) {
  const Status status{parameters.first_tag - 1, parameters.launch, is_over};
  for (unsigned block = first; block < blocks; ++block) {
    auto* const word = reinterpret_cast<std::uint64_t*>(parameters.status) + block;
    std::atomic_ref(*word).store(status.word(), std::memory_order_release);
  }
}

/// A launch that `play(parameters, blocks)` stands for, on the stream's thread.
template <void (*play)(const Parameters&, unsigned)>
int launch(void*, unsigned blocks, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream,
           void** list, void**) {
  ++launches;
  Parameters parameters;
  std::memcpy(&parameters, list[0], sizeof parameters);
  fakes::enqueue_in_stream(stream, [=] { play(parameters, blocks); });
  return 0;
}

void play_nothing(const Parameters&, unsigned) {}

/// The GPU is full until may_start; then the GPU kernel runs as ever.
void play_late(const Parameters& parameters, unsigned blocks) {
  while (!may_start) std::this_thread::sleep_for(1ms);
  std::vector<std::thread> others;
  for (unsigned block = 0; block < blocks; ++block) {
    others.emplace_back([&parameters, block, blocks] { fakes::play_mover(block, blocks, &parameters); });
  }
  for (std::thread& other : others) other.join();
}

/// Takes more than three quarters of an idle bound of 2 s for its first copy.
void play_after_a_pause(const Parameters& parameters, unsigned blocks) {
  report_idle_blocks(parameters, 0, blocks, false);
  std::this_thread::sleep_for(1600ms);
  play_late(parameters, blocks);
}

/// Starts, has no time slice while it should reply, and ends without a copy.
std::atomic<bool> has_ended{false};
void play_suspended(const Parameters& parameters, unsigned blocks) {
  report_idle_blocks(parameters, 0, blocks, false);
  std::this_thread::sleep_for(100ms);
  has_ended = true;
  report_idle_blocks(parameters, 0, blocks, true);
}

/// Only the first block does its part.
void play_first_block_only(const Parameters& parameters, unsigned blocks) {
  report_idle_blocks(parameters, 1, blocks, false);
  fakes::play_mover(0, blocks, &parameters);
  report_idle_blocks(parameters, 1, blocks, true);
}

std::atomic<bool> is_test_over{false};
void play_hung(const Parameters& parameters, unsigned blocks) {
  report_idle_blocks(parameters, 0, blocks, false);
  while (!is_test_over) std::this_thread::sleep_for(1ms);
}

class MoverTest : public tests::EngineMachine {
 protected:
  void SetUp() override {
    launches = 0;
    may_start = true;
    has_ended = false;
    is_test_over = false;
    EngineMachine::SetUp();
    calls = fakes::emulated_cuda();
    limits = fakes::patient_limits();
  }
  void release() override { gpu.reset(); }
  base::Result<std::unique_ptr<Engine>> open() {
    auto opened = Gpu::open(calls, 0);
    EXPECT_TRUE(opened);
    gpu = std::move(*opened);
    const Place place{*backend, *gpu, limits};
    for (const Registration& entry : registrations()) {
      if (entry.id == Id::mover) return entry.open(place);
    }
    return base::fail_literal(ENOENT, "no engine mover");
  }
  Copy copy() {
    return {.device = buffer->address(), .mapped = mapped, .host = host.data(), .size_bytes = 4096, .copier = &copier};
  }
  /// errno of one copy; 0 for success.
  int outcome(Engine& engine) {
    const auto ticket = engine.submit(copy());
    if (!ticket) return ticket.error().errno_value;
    const base::Status done = engine.complete(*ticket);
    return done ? 0 : done.error().errno_value;
  }

  driver::CudaCalls calls;
  ResidenceLimits limits;
  std::unique_ptr<Gpu> gpu;
};

TEST_F(MoverTest, ReturnsEagainOnAFullGpuAndRecovers) {
  calls.launch_kernel = &launch<play_late>;
  limits.start = 5ms;
  may_start = false;
  auto engine = tests::value_or_throw(open());
  EXPECT_EQ(outcome(*engine), EAGAIN);
  EXPECT_EQ(outcome(*engine), EAGAIN) << "waits and does not launch a second GPU kernel";
  EXPECT_EQ(launches, 1);
  may_start = true;
  int last = EAGAIN;
  for (int attempt = 0; attempt < 500 && last == EAGAIN; ++attempt) {
    std::this_thread::sleep_for(2ms);
    last = outcome(*engine);
  }
  EXPECT_EQ(last, 0);
  EXPECT_EQ(std::memcmp(host.data(), mapped, 4096), 0);
}

TEST_F(MoverTest, AbandonsACommandOnlyAfterTheGpuKernelEnded) {
  calls.launch_kernel = &launch<play_suspended>;
  limits.response = 5ms;
  auto engine = tests::value_or_throw(open());
  EXPECT_EQ(outcome(*engine), EAGAIN);
  EXPECT_TRUE(has_ended);
  EXPECT_EQ(std::count(host.begin(), host.end(), 0), static_cast<long>(host.size())) << "the target is untouched";
}

TEST_F(MoverTest, CopyIsIncompleteIfOneBlockMissedIt) {
  calls.launch_kernel = &launch<play_first_block_only>;
  auto engine = tests::value_or_throw(open());
  EXPECT_EQ(outcome(*engine), EAGAIN);
}

TEST_F(MoverTest, ReportsAnUnresponsiveGpuAndDisablesTheEngine) {
  calls.launch_kernel = &launch<play_hung>;
  limits.response = 5ms;
  limits.end = 20ms;
  auto engine = tests::value_or_throw(open());
  const auto ticket = tests::value_or_throw(engine->submit(copy()));
  const base::Status done = engine->complete(ticket);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().errno_value, ETIMEDOUT);
  EXPECT_NE(std::strstr(done.error().text(), "do not reuse the source or target"), nullptr) << done.error().text();
  EXPECT_EQ(outcome(*engine), EIO);
  engine.reset();
  EXPECT_GT(fakes::held_of_emulated_cuda(), held_before) << "what the GPU may still write to is not given back";
  is_test_over = true;
  leaks_on_purpose = true;
}

TEST_F(MoverTest, IsNotStartedDuringACapture) {
  calls.launch_kernel = &launch<play_nothing>;
  calls.stream_is_capturing = [](void*, int*) { return 906; };
  auto engine = tests::value_or_throw(open());
  EXPECT_EQ(outcome(*engine), EAGAIN);
  engine->warm_up();
  EXPECT_EQ(launches, 0);
}

TEST_F(MoverTest, RejectsAGpuThatItWouldBlock) {
  const auto refusal = [this] {
    const auto engine = open();
    return engine ? 0 : engine.error().errno_value;
  };
  calls.device_get_attribute = [](int* value, int attribute, int) {
    return *value = attribute == 133 || attribute == 41, 0;
  };
  EXPECT_EQ(refusal(), EOPNOTSUPP) << "MPS";
  calls.device_get_attribute = [](int* value, int attribute, int) {
    return *value = attribute == 20 ? 3 : attribute == 41, 0;
  };
  EXPECT_EQ(refusal(), EOPNOTSUPP) << "exclusive process";
  calls.device_get_attribute = [](int* value, int attribute, int) { return *value = 0, attribute == 133 ? 1 : 0; };
  EXPECT_EQ(refusal(), EOPNOTSUPP) << "a driver that does not know the attribute";
  calls.device_get_attribute = [](int* value, int, int) { return *value = 0, 0; };
  EXPECT_EQ(refusal(), EOPNOTSUPP) << "no unified addressing";
  calls = fakes::emulated_cuda();
  EXPECT_EQ(refusal(), 0);
}

TEST_F(MoverTest, RelaunchesBeforeItsTimeLimit) {
  limits.busy = 20ms;
  auto engine = tests::value_or_throw(open());
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::steady_clock::now() - begin; };
  int done = 0;
  // Ten residences, and as long as a busy machine takes for ten copies.
  while ((passed() < 10 * limits.busy || done <= 10) && passed() < 20s) {
    const int result = outcome(*engine);
    ASSERT_TRUE(result == 0 || result == EAGAIN) << result;
    done += result == 0;
  }
  EXPECT_GT(done, 10);
}

TEST_F(MoverTest, StaysWarmAfterACopyNearTheIdleLimit) {
  calls.launch_kernel = &launch<play_after_a_pause>;
  limits.idle = 2s;
  limits.busy = 60s;
  auto engine = tests::value_or_throw(open());
  const auto ticket = tests::value_or_throw(engine->submit(copy()));
  ASSERT_TRUE(tests::succeeded(engine->complete(ticket)));
  EXPECT_TRUE(engine->is_warm());
}

TEST_F(MoverTest, WarmUpStartsItWithoutWaiting) {
  auto engine = tests::value_or_throw(open());
  EXPECT_FALSE(engine->is_warm());
  engine->warm_up();
  const auto begin = std::chrono::steady_clock::now();
  while (!engine->is_warm() && std::chrono::steady_clock::now() - begin < 5s) {
    std::this_thread::yield();
    engine->warm_up();
  }
  EXPECT_TRUE(engine->is_warm());
}

}  // namespace
}  // namespace gdrkit::engine
