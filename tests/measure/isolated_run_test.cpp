// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/sanity/isolated_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <new>
#include <string>

#include "measure/sanity/helper_process.hpp"
#include "measure/sanity/verdict.hpp"

namespace gdrkit::measure::sanity {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Matcher;

constexpr double plenty_s = 30;

/// Runs the body in isolation and checks the verdict and its reason.
void expect_outcome(const std::function<void()>& body, Verdict verdict, const Matcher<std::string>& reason) {
  const Outcome outcome = run_isolated(body, plenty_s);
  EXPECT_EQ(outcome.verdict, verdict) << outcome.reason;
  EXPECT_THAT(outcome.reason, reason);
}

TEST(IsolatedRun, PassesIfTheBodyReturns) {
  expect_outcome([] {}, Verdict::passed, IsEmpty());
}

TEST(IsolatedRun, RunsInASeparateProcess) {
  int value = 1;
  expect_outcome([&] { value = 2; }, Verdict::passed, IsEmpty());
  EXPECT_EQ(value, 1);
}

TEST(IsolatedRun, FailsACheckAndReportsItsTextAndValues) {
  testing::internal::CaptureStderr();
  expect_outcome([] { SANITY_CHECK(1 + 1 == 3, "got %d", 2); }, Verdict::failed,
                 AllOf(HasSubstr("Assertion \"1 + 1 == 3\" failed at isolated_run_test.cpp:"), HasSubstr("got 2")));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("failed at isolated_run_test.cpp"));
}

TEST(IsolatedRun, FailsAnUnexpectedResult) {
  expect_outcome([] { SANITY_RESULT(22, 0); }, Verdict::failed, HasSubstr("got 22, expected 0"));
}

TEST(IsolatedRun, WaivesWithTheReason) {
  expect_outcome([] { waive("no such hardware"); }, Verdict::waived, "no such hardware");
}

TEST(IsolatedRun, WaivesCannotRunAndFailsOtherFailures) {
  const auto verdict_of = [](const std::function<void()>& body) { return run_isolated(body, plenty_s).verdict; };
  EXPECT_EQ(verdict_of([] { throw cli::Failure(cli::ExitCode::cannot_run, "x"); }), Verdict::waived);
  EXPECT_EQ(verdict_of([] { throw cli::Failure(cli::ExitCode::failed, "x"); }), Verdict::failed);
  EXPECT_EQ(verdict_of([] { throw std::bad_alloc(); }), Verdict::failed);
}

TEST(IsolatedRun, FailsAfterASignalAndNamesIt) {
  expect_outcome([] { ::kill(::getpid(), SIGKILL); }, Verdict::failed, HasSubstr("signal 9"));
}

TEST(IsolatedRun, FailsAnyOtherExitCode) {
  expect_outcome([] { ::_exit(3); }, Verdict::failed, "exit code 3");
}

TEST(IsolatedRun, EndsTestsThatTimeOut) {
  const Outcome outcome = run_isolated(
      [] {
        for (;;) ::pause();
      },
      0.2);
  EXPECT_EQ(outcome.verdict, Verdict::failed);
  EXPECT_THAT(outcome.reason, HasSubstr("timed out after 0.2 s"));
  EXPECT_LT(outcome.seconds, plenty_s);
}

TEST(IsolatedRun, KillsRemainingProcessesOfATest) {
  void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto* left_behind = new (page) std::atomic<pid_t>(0);
  const Outcome outcome = run_isolated(
      [&] {
        const pid_t child = ::fork();
        if (child == 0) {
          for (;;) ::pause();
        }
        left_behind->store(child);
      },
      plenty_s);
  EXPECT_EQ(outcome.verdict, Verdict::passed);
  // Its parent has ended, so another process reaps it. Until then it is a zombie, which accepts signals; its state
  // shows it.
  std::string state = "R";
  for (int poll = 0; poll < 2000 && state != "gone" && state != "Z"; ++poll) {
    ::usleep(1000);
    std::FILE* file = std::fopen(("/proc/" + std::to_string(left_behind->load()) + "/stat").c_str(), "r");
    if (file == nullptr) {
      state = "gone";
      continue;
    }
    char letter = '?';
    if (std::fscanf(file, "%*d (%*[^)]) %c", &letter) == 1) state = std::string(1, letter);
    std::fclose(file);
  }
  EXPECT_TRUE(state == "gone" || state == "Z") << state;
  ::munmap(page, 4096);
}

TEST(HelperProcess, FailureFailsTheTest) {
  const auto body = [] {
    HelperProcess helper([](Channel*) { SANITY_CHECK(false, "in the helper"); });
    helper.wait();
  };
  expect_outcome(body, Verdict::failed, HasSubstr("in the helper"));
}

TEST(HelperProcess, WaiverDuringACallWaivesTheTest) {
  const auto body = [] {
    HelperProcess helper([](Channel*) { waive("not for two processes"); });
    helper.channel().synchronize();
  };
  expect_outcome(body, Verdict::waived, "not for two processes");
}

TEST(HelperProcess, TransfersDataInBothDirections) {
  const auto body = [] {
    HelperProcess helper([](Channel* channel) { channel->send(channel->receive<int>() * 2); });
    helper.channel().send(21);
    SANITY_RESULT(helper.channel().receive<int>(), 42);
    helper.wait();
  };
  expect_outcome(body, Verdict::passed, IsEmpty());
}

}  // namespace
}  // namespace gdrkit::measure::sanity
