// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PEs as processes of their own, of which one is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/shmem/bootstrap/processes_as_pes.hpp"
#include "tests/shmem/bootstrap/threads_as_pes.hpp"

namespace gdrkit::shmem_impl::tests {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

/// A job of four whose PE `killed` kills itself before step `step`; -1: before it joins.
std::vector<std::string> run_and_kill(int killed, int step, std::chrono::milliseconds limit) {
  const auto id = bootstrap::make_unique_id();
  EXPECT_TRUE(id) << id.error().text();
  return run_processes(4, [&](int pe) -> std::string {
    const auto die = [&](int now) {
      if (pe == killed && now == step) ::kill(::getpid(), SIGKILL);
    };
    die(-1);
    auto exchange = bootstrap::exchange_by_unique_id(*id, pe, 4, limit);
    if (!exchange) return end_of(exchange);
    std::string end;
    for (int now = 0; now < 3 && end.empty(); ++now) {
      die(now);
      end = gather_and_check(**exchange, now, "numbers");
    }
    return end;
  });
}

TEST(ExchangeProcesses, GathersOverSeparateProcesses) {
  EXPECT_THAT(run_and_kill(-1, 0, long_limit), Each(std::string()));
}

TEST(ExchangeProcesses, ReportsAKilledPeAtEveryStep) {
  for (const int killed : {0, 3}) {
    for (const int step : {0, 1, 2}) {
      SCOPED_TRACE("PE " + std::to_string(killed) + " killed at step " + std::to_string(step));
      auto ends = run_and_kill(killed, step, long_limit);
      EXPECT_EQ(ends[static_cast<std::size_t>(killed)], "signal 9");
      ends.erase(ends.begin() + killed);
      EXPECT_THAT(ends, Each(failed_with(ECONNRESET, "PE " + std::to_string(killed))));
    }
  }
}

TEST(ExchangeProcesses, ReportsAPeKilledBeforeItJoins) {
  auto ends = run_and_kill(2, -1, 300ms);
  ends.erase(ends.begin() + 2);
  EXPECT_THAT(ends, Each(failed_with(ETIMEDOUT, "the job of 4 PEs: PE 2 did not connect")));
}

/// Its copy of the connection would keep the killed PE's place until the child ends.
TEST(ExchangeProcesses, AForkedChildDoesNotKeepAKilledPeAlive) {
  const auto id = bootstrap::make_unique_id();
  ASSERT_TRUE(id) << id.error().text();
  const auto ends = run_processes(2, [&](int pe) -> std::string {
    auto exchange = bootstrap::exchange_by_unique_id(*id, pe, 2, long_limit);
    if (!exchange) return end_of(exchange);
    if (pe == 1) {
      if (::fork() == 0) {
        const std::string end = gather_and_check(**exchange, 0, "in a child");
        if (end.rfind(begins_with(EACCES), 0) != 0) ::kill(::getppid(), SIGTERM);
        ::kill(::getppid(), SIGKILL);
        ::sleep(60);
        ::_exit(0);
      }
      for (;;) ::pause();
    }
    return gather_and_check(**exchange, 0, "numbers");
  });
  EXPECT_THAT(ends[0], HasSubstr("PE 1 has left the job"));
  EXPECT_EQ(ends[1], "signal 9");
}

}  // namespace
}  // namespace gdrkit::shmem_impl::tests
