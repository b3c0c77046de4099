// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Several copies at once: outstanding ones of one thread, and several threads.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>

#include "engine_conformance.hpp"
#include "support/results.hpp"
#include "support/run_together.hpp"
#include "support/test_thread.hpp"

namespace gdrkit::tests {
namespace {

using engine::Direction;
using engine::HostMemory;

constexpr std::size_t each_bytes = 40000;

class EngineOutstanding : public OnEngine {};

TEST_P(EngineOutstanding, AreCompletedInAnyOrder) {
  const auto count = std::min<std::size_t>(engine->traits().outstanding, 8);
  const std::vector<std::uint8_t> bytes = make_pattern(count * each_bytes, 3);
  put(0, bytes);
  for (const HostMemory kind : {HostMemory::ordinary, HostMemory::pinned}) {
    std::memset(host(kind), 0, count * each_bytes);
    std::vector<std::pair<std::size_t, engine::Ticket>> tickets;
    for (std::size_t at = 0; at < count; ++at) {
      const auto next = copy(Direction::from_device, kind, at * each_bytes, at * each_bytes, each_bytes);
      const auto ticket = at == 0 ? submit(next) : engine->submit(next);
      ASSERT_TRUE(ticket || ticket.error().errno_value == EAGAIN) << ticket.error().text();
      if (ticket) tickets.emplace_back(at, *ticket);
    }
    EXPECT_GE(tickets.size(), 1u);
    for (auto ticket = tickets.rbegin(); ticket != tickets.rend(); ++ticket) {
      base::Status done = engine->complete(ticket->second);
      const std::size_t at = ticket->first * each_bytes;
      if (!done && done.error().errno_value == EAGAIN) {
        done = run(copy(Direction::from_device, kind, at, at, each_bytes));
      }
      ASSERT_TRUE(succeeded(done));
      EXPECT_EQ(std::memcmp(host(kind, at), bytes.data() + at, each_bytes), 0) << ticket->first;
    }
  }
}

TEST_P(EngineOutstanding, CopiesBeyondTheLimitReturnEagain) {
  const unsigned count = engine->traits().outstanding;
  if (count > 64) return;
  std::vector<engine::Ticket> tickets;
  bool was_refused = false;
  for (unsigned at = 0; at <= count; ++at) {
    const auto ticket = engine->submit(copy(Direction::from_device, HostMemory::pinned, 0, at * 4096, 4096));
    if (ticket) {
      tickets.push_back(*ticket);
      continue;
    }
    EXPECT_EQ(ticket.error().errno_value, EAGAIN) << ticket.error().text();
    was_refused = true;
  }
  EXPECT_TRUE(was_refused);
  for (const engine::Ticket ticket : tickets) {
    base::Status done = engine->complete(ticket);
    EXPECT_TRUE(done || done.error().errno_value == EAGAIN) << done.error().text();
  }
  EXPECT_TRUE(succeeded(run(copy(Direction::from_device, HostMemory::pinned, 0, 0, 4096))));
}

TEST_P(EngineOutstanding, AnIncompleteCopyDoesNotDelayOthers) {
  const std::vector<std::uint8_t> bytes = make_pattern(4096, 5);
  put(0, bytes);
  const auto first = value_or_throw(submit(copy(Direction::from_device, HostMemory::ordinary, 0, 0, bytes.size())));
  for (unsigned other = 0; other < 100; ++other) {
    ASSERT_TRUE(succeeded(run(copy(Direction::from_device, HostMemory::ordinary, 0, 8192, bytes.size())))) << other;
    ASSERT_EQ(std::memcmp(host(HostMemory::ordinary, 8192), bytes.data(), bytes.size()), 0);
  }
  base::Status done = engine->complete(first);
  if (!done && done.error().errno_value == EAGAIN) return;  // its GPU kernel ended earlier
  ASSERT_TRUE(succeeded(done));
  EXPECT_EQ(std::memcmp(host(HostMemory::ordinary), bytes.data(), bytes.size()), 0);
}

TEST_P(EngineOutstanding, ThreadsDoNotDisturbEachOther) {
  constexpr unsigned threads = 4;
  constexpr unsigned rounds = 25;
  const std::vector<std::uint8_t> bytes = make_pattern(threads * each_bytes, 11);
  put(0, bytes);
  tests::run_together(threads, [&](unsigned thread) {
    const std::size_t at = thread * each_bytes;
    const HostMemory kind = thread % 2 == 0 ? HostMemory::pinned : HostMemory::ordinary;
    for (unsigned round = 0; round < rounds; ++round) {
      std::memset(host(kind, at), 0, each_bytes);
      ASSERT_TRUE(succeeded(run(copy(Direction::from_device, kind, at, at, each_bytes))));
      ASSERT_EQ(std::memcmp(host(kind, at), bytes.data() + at, each_bytes), 0);
      ASSERT_TRUE(succeeded(run(copy(Direction::to_device, kind, (2u << 20) + at, at, each_bytes))));
    }
  });
  EXPECT_EQ(get(2u << 20, bytes.size()), bytes);
}

// Work that a program's cudaDeviceSynchronize waits for ends, even if copies follow each other without a pause.
TEST_P(EngineOutstanding, DoNotDelayDeviceSynchronisationForLong) {
  constexpr auto longest_allowed = std::chrono::seconds(5);  // on a shared GPU; a hang takes longer
  TestThread copying([&](const std::atomic<bool>& is_over) {
    while (!is_over) {
      ASSERT_TRUE(succeeded(run(copy(Direction::from_device, HostMemory::pinned, 0, 0, each_bytes))));
    }
  });
  std::chrono::steady_clock::duration longest{};
  {
    const auto scope = gpu->enter();
    ASSERT_TRUE(scope);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    while (std::chrono::steady_clock::now() < end) {
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_EQ(gpu->calls().ctx_synchronize(), 0);
      longest = std::max(longest, std::chrono::steady_clock::now() - begin);
    }
  }
  copying.stop();
  EXPECT_LT(longest, longest_allowed);
  std::printf("longest cuCtxSynchronize: %.0f us\n", std::chrono::duration<double, std::micro>(longest).count());
}

GDRKIT_FOR_EACH_ENGINE(EngineOutstanding);

}  // namespace
}  // namespace gdrkit::tests
