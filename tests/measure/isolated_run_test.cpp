// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/sanity/isolated_run.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <new>

#include "measure/sanity/helper_process.hpp"
#include "measure/sanity/verdict.hpp"

namespace gdrkit::measure::sanity {
namespace {

constexpr double plenty_s = 30;

TEST(IsolatedRun, PassesIfTheBodyReturns) {
  const Outcome outcome = run_isolated([] {}, plenty_s);
  EXPECT_EQ(outcome.verdict, Verdict::passed);
  EXPECT_EQ(outcome.reason, "");
}

TEST(IsolatedRun, RunsInASeparateProcess) {
  int value = 1;
  const Outcome outcome = run_isolated([&] { value = 2; }, plenty_s);
  EXPECT_EQ(outcome.verdict, Verdict::passed);
  EXPECT_EQ(value, 1);
}

TEST(IsolatedRun, FailsACheckAndReportsItsTextAndValues) {
  testing::internal::CaptureStderr();
  const Outcome outcome = run_isolated([] { SANITY_CHECK(1 + 1 == 3, "got %d", 2); }, plenty_s);
  EXPECT_EQ(outcome.verdict, Verdict::failed);
  EXPECT_NE(outcome.reason.find("Assertion \"1 + 1 == 3\" failed at isolated_run_test.cpp:"), std::string::npos);
  EXPECT_NE(outcome.reason.find("got 2"), std::string::npos);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("failed at isolated_run_test.cpp"), std::string::npos);
}

TEST(IsolatedRun, FailsAnUnexpectedResult) {
  const Outcome outcome = run_isolated([] { SANITY_RESULT(22, 0); }, plenty_s);
  EXPECT_EQ(outcome.verdict, Verdict::failed);
  EXPECT_NE(outcome.reason.find("got 22, expected 0"), std::string::npos) << outcome.reason;
}

TEST(IsolatedRun, WaivesWithTheReason) {
  const Outcome outcome = run_isolated([] { waive("no such hardware"); }, plenty_s);
  EXPECT_EQ(outcome.verdict, Verdict::waived);
  EXPECT_EQ(outcome.reason, "no such hardware");
}

TEST(IsolatedRun, WaivesCannotRunAndFailsOtherFailures) {
  EXPECT_EQ(run_isolated([] { throw cli::Failure(cli::ExitCode::cannot_run, "x"); }, plenty_s).verdict,
            Verdict::waived);
  EXPECT_EQ(run_isolated([] { throw cli::Failure(cli::ExitCode::failed, "x"); }, plenty_s).verdict, Verdict::failed);
  EXPECT_EQ(run_isolated([] { throw std::bad_alloc(); }, plenty_s).verdict, Verdict::failed);
}

TEST(IsolatedRun, FailsAfterASignalAndNamesIt) {
  const Outcome outcome = run_isolated([] { ::kill(::getpid(), SIGKILL); }, plenty_s);
  EXPECT_EQ(outcome.verdict, Verdict::failed);
  EXPECT_NE(outcome.reason.find("signal 9"), std::string::npos) << outcome.reason;
}

TEST(IsolatedRun, FailsAnyOtherExitCode) {
  const Outcome outcome = run_isolated([] { ::_exit(3); }, plenty_s);
  EXPECT_EQ(outcome.verdict, Verdict::failed);
  EXPECT_EQ(outcome.reason, "exit code 3");
}

TEST(IsolatedRun, EndsTestsThatTimeOut) {
  const Outcome outcome = run_isolated(
      [] {
        for (;;) ::pause();
      },
      0.2);
  EXPECT_EQ(outcome.verdict, Verdict::failed);
  EXPECT_NE(outcome.reason.find("timed out after 0.2 s"), std::string::npos);
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
  for (int look = 0; look < 2000 && state != "gone" && state != "Z"; ++look) {
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
  const Outcome outcome = run_isolated(
      [] {
        HelperProcess helper([](Talk*) { SANITY_CHECK(false, "in the helper"); });
        helper.wait();
      },
      plenty_s);
  EXPECT_EQ(outcome.verdict, Verdict::failed);
  EXPECT_NE(outcome.reason.find("in the helper"), std::string::npos) << outcome.reason;
}

TEST(HelperProcess, WaiverDuringACallWaivesTheTest) {
  const Outcome outcome = run_isolated(
      [] {
        HelperProcess helper([](Talk*) { waive("not for two processes"); });
        helper.talk().synchronize();
      },
      plenty_s);
  EXPECT_EQ(outcome.verdict, Verdict::waived);
  EXPECT_EQ(outcome.reason, "not for two processes");
}

TEST(HelperProcess, TransfersDataInBothDirections) {
  const Outcome outcome = run_isolated(
      [] {
        HelperProcess helper([](Talk* talk) { talk->send(talk->receive<int>() * 2); });
        helper.talk().send(21);
        SANITY_RESULT(helper.talk().receive<int>(), 42);
        helper.wait();
      },
      plenty_s);
  EXPECT_EQ(outcome.verdict, Verdict::passed) << outcome.reason;
}

}  // namespace
}  // namespace gdrkit::measure::sanity
