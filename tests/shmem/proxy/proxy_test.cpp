// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The ring between GPU kernels, emulated by host threads, and the proxy's thread: order, room, replies, and work that
// fails or does not complete.
#include "shmem/proxy/proxy.hpp"

#include <gmock/gmock.h>
#include <time.h>

#include <functional>
#include <thread>
#include <vector>

#include "support/results.hpp"
#include "support/run_together.hpp"

namespace gdrkit::shmem_impl::proxy {
namespace {

using shmem::detail::proxy_command;
using shmem::detail::proxy_places;
using shmem::detail::ProxyCommand;
using shmem::detail::ProxyOperation;
using shmem::detail::ProxyRing;
using shmem::detail::ProxyWait;
using shmem::detail::send_to_proxy;
using ::testing::HasSubstr;
using tests::failed;
using tests::succeeded;
using namespace std::chrono_literals;

/// Remembers what it was given; each call can be made to fail or to take its time.
class Recorder final : public ProxyWork {
 public:
  base::Status begin(const ProxyCommand& command, std::uint64_t* fetched) noexcept override {
    begun.push_back(command);
    if (fetched != nullptr) *fetched = command.operand + 1;
    return on_begin ? on_begin(command) : base::Status();
  }
  base::Status complete() noexcept override {
    ++completions;
    return on_complete ? on_complete() : base::Status();
  }

  std::vector<ProxyCommand> begun;
  int completions = 0;
  std::function<base::Status(const ProxyCommand&)> on_begin;
  std::function<base::Status()> on_complete;
};

class ProxyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = std::move(*platform::open_emulated_device(0));
    proxy_ = std::move(*Proxy::make(*device_, work_, {0, shmem::detail::not_mapped}));
    state_.n_pes = 2;
    state_.limit_ns = 20'000'000'000;
    state_.proxy_address = proxy_->device_address();
  }
  static ProxyCommand put(std::uint64_t operand, ProxyWait wait) {
    ProxyCommand command = proxy_command(ProxyOperation::put, wait, 1, nullptr, nullptr, 8);
    command.operand = operand;
    return command;
  }
  [[nodiscard]] bool is_written(std::uint64_t position) const {
    const auto* const ring = reinterpret_cast<const ProxyRing*>(proxy_->device_address());
    return shmem::detail::load_acquire(&ring->commands[position % proxy_places].sequence) == position + 1;
  }

  Recorder work_;
  std::unique_ptr<platform::Device> device_;
  std::unique_ptr<Proxy> proxy_;
  shmem::State state_{};
};

/// Far more commands than places, so that threads wait for room and places are reused many times.
TEST_F(ProxyTest, ExecutesEachCommandOnceInThreadOrder) {
  constexpr std::uint64_t n_threads = 6;
  constexpr std::uint64_t each = 3 * proxy_places / 2;
  ASSERT_TRUE(succeeded(proxy_->serve()));
  tests::run_together(n_threads, [&](std::uint64_t number) {
    for (std::uint64_t i = 0; i < each; ++i) {
      const std::uint64_t operand = number << 32 | i;
      const ProxyWait wait = i % 97 == 0 ? ProxyWait::done : i % 89 == 0 ? ProxyWait::begun : ProxyWait::nothing;
      const std::uint64_t reply = send_to_proxy(state_, put(operand, wait));
      ASSERT_EQ(reply, wait == ProxyWait::done ? operand + 1 : 0) << "thread " << number << ", command " << i;
    }
  });
  ASSERT_TRUE(succeeded(proxy_->drain(20s)));
  proxy_->stop();
  std::vector<std::uint64_t> next(n_threads);
  for (const ProxyCommand& command : work_.begun) {
    const std::uint64_t number = command.operand >> 32;
    ASSERT_LT(number, n_threads);
    EXPECT_EQ(command.operand & 0xffffffff, next[number]++);
  }
  EXPECT_EQ(next, std::vector<std::uint64_t>(n_threads, each));
  EXPECT_TRUE(succeeded(proxy_->take_failure()));
}

TEST_F(ProxyTest, ThreadsThatWaitTogetherShareACompletion) {
  constexpr std::uint64_t n_threads = 20;
  std::vector<std::thread> threads;
  for (std::uint64_t number = 0; number < n_threads; ++number) {
    threads.emplace_back([&, number] { EXPECT_EQ(send_to_proxy(state_, put(number, ProxyWait::done)), number + 1); });
  }
  for (std::uint64_t position = 0; position < n_threads; ++position) {
    while (!is_written(position)) std::this_thread::yield();
  }
  EXPECT_TRUE(succeeded(proxy_->serve()));
  for (auto& thread : threads) thread.join();
  proxy_->stop();
  EXPECT_EQ(work_.begun.size(), n_threads);
  EXPECT_EQ(work_.completions, 1);
}

TEST_F(ProxyTest, ReportsARingThatStaysFull) {
  state_.limit_ns = 30'000'000;
  for (std::uint64_t i = 0; i < proxy_places; ++i) (void)send_to_proxy(state_, put(i, ProxyWait::nothing));
  EXPECT_EQ(send_to_proxy(state_, put(9999, ProxyWait::nothing)), 0U);  // returns, although the ring stays full
  state_.limit_ns = 600'000'000'000;
  EXPECT_EQ(send_to_proxy(state_, put(9999, ProxyWait::done)), 0U) << "later ones return at once";
  ASSERT_TRUE(succeeded(proxy_->serve()));
  ASSERT_TRUE(succeeded(proxy_->drain(20s)));
  base::Status result;
  for (int i = 0; i < 2000 && result; ++i, std::this_thread::sleep_for(1ms)) result = proxy_->take_failure();
  proxy_->stop();
  EXPECT_TRUE(failed(
      result, ETIMEDOUT,
      testing::HasSubstr("the queue of 1024 operations to other nodes was full for longer than the time limit")));
  EXPECT_EQ(work_.begun.size(), proxy_places) << "what had room was carried out";
}

TEST_F(ProxyTest, ContinuesAfterACommandTimedOut) {
  std::atomic<bool> is_released{false};
  work_.on_begin = [&](const ProxyCommand& command) -> base::Status {
    while (command.operand == 1 && !is_released.load()) std::this_thread::sleep_for(1ms);
    return {};
  };
  std::uint64_t control[2] = {};  // shmem::detail::Control
  state_.control_address = reinterpret_cast<std::uint64_t>(control);
  ASSERT_TRUE(succeeded(proxy_->serve()));
  state_.limit_ns = 20'000'000;
  EXPECT_EQ(send_to_proxy(state_, put(1, ProxyWait::done)), 0U);
  const auto text = proxy_->text_of_wait(control[1]);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "the result of its put of 8 bytes to PE 1");
  EXPECT_FALSE(proxy_->text_of_wait(reinterpret_cast<std::uint64_t>(control)));
  is_released.store(true);
  state_.limit_ns = 20'000'000'000;
  for (std::uint64_t i = 2; i < 2 * proxy_places; ++i) {
    const ProxyWait wait = i % 100 == 0 ? ProxyWait::done : ProxyWait::nothing;
    ASSERT_EQ(send_to_proxy(state_, put(i, wait)), wait == ProxyWait::done ? i + 1 : 0) << "not the late reply";
  }
}

/// What a GPU kernel waits for ends when another PE has, long before the limit.
TEST_F(ProxyTest, WaitsEndIfAPeExits) {
  shmem::detail::Control control{};
  control.is_broken = 1;
  state_.control_address = reinterpret_cast<std::uint64_t>(&control);
  EXPECT_EQ(send_to_proxy(state_, put(1, ProxyWait::done)), 0U) << "nobody serves";
  EXPECT_NE(control.timed_out_address, 0U);
}

TEST_F(ProxyTest, CompletesFailedCommandsAndReportsTheFirst) {
  work_.on_begin = [](const ProxyCommand& command) -> base::Status {
    if (command.operand % 2 == 0) return {};
    return base::fail(ENOMEM, "command %d cannot be carried out", static_cast<int>(command.operand));
  };
  ASSERT_TRUE(succeeded(proxy_->serve()));
  for (std::uint64_t i = 0; i < 6; ++i) (void)send_to_proxy(state_, put(i, ProxyWait::begun));
  auto result = proxy_->take_failure();
  ASSERT_TRUE(failed(result, ENOMEM));
  EXPECT_STREQ(result.error().text(),
               "an operation of a GPU kernel failed (put of 8 bytes to PE 1): command 1 cannot be carried out");
  EXPECT_TRUE(succeeded(proxy_->take_failure())) << "reported once";

  work_.on_begin = {};
  work_.on_complete = []() -> base::Status { return base::fail(ECONNRESET, "PE 1 has ended"); };
  EXPECT_EQ(send_to_proxy(state_, put(6, ProxyWait::done)), 7U);
  result = proxy_->take_failure();
  ASSERT_TRUE(failed(result, ECONNRESET));
  EXPECT_STREQ(result.error().text(), "an operation of a GPU kernel failed: PE 1 has ended");
}

TEST_F(ProxyTest, DrainWaitsForPendingCommandsUntilItsLimit) {
  std::atomic<bool> is_released{false};
  work_.on_begin = [&](const ProxyCommand&) -> base::Status {
    while (!is_released.load()) std::this_thread::sleep_for(1ms);
    return {};
  };
  for (std::uint64_t i = 0; i < 3; ++i) (void)send_to_proxy(state_, put(i, ProxyWait::nothing));
  ASSERT_TRUE(succeeded(proxy_->serve()));
  EXPECT_TRUE(failed(proxy_->drain(20ms), ETIMEDOUT));
  is_released.store(true);
  EXPECT_TRUE(succeeded(proxy_->drain(20s)));
  proxy_->stop();
  EXPECT_EQ(work_.begun.size(), 3U);
}

TEST_F(ProxyTest, AnIdleProxySleeps) {
  ASSERT_TRUE(succeeded(proxy_->serve()));
  std::this_thread::sleep_for(20ms);
  const auto cpu_ns = [] {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * 1'000'000'000 + used.tv_nsec;
  };
  const auto before = cpu_ns();
  std::this_thread::sleep_for(500ms);
  EXPECT_LT(cpu_ns() - before, 250'000'000) << "a thread that spins takes 500 ms";
}

TEST_F(ProxyTest, DrainDoesNotWaitForAStoppedThread) {
  (void)send_to_proxy(state_, put(1, ProxyWait::nothing));
  proxy_->stop();
  EXPECT_TRUE(succeeded(proxy_->drain(0ms))) << "it will not be executed";
}

}  // namespace
}  // namespace gdrkit::shmem_impl::proxy
