// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/sanity/isolated_run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "cli/interface/exit_code.hpp"
#include "measure/sanity/verdict.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::sanity {
namespace {

constexpr useconds_t poll_interval_us = 1000;

[[noreturn]] void run_child(const std::function<void()>& body, int reason_pipe) {
  ::setpgid(0, 0);
  // A test must not outlive an interrupted tool.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  set_reason_descriptor(reason_pipe);
  try {
    body();
  } catch (const cli::Failure& failure) {
    if (failure.code() == cli::ExitCode::cannot_run) waive(failure.what());
    fail(failure.what());
  } catch (const std::exception& error) {
    fail(std::string("exception: ") + error.what());
  }
  std::fflush(nullptr);
  ::_exit(exit_passed);
}

/// The child's wait status, or -1 if it was killed at the time limit.
int wait_for(pid_t child, double limit_seconds, double* seconds) {
  const std::int64_t begin = platform::now_ns();
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    *seconds = static_cast<double>(platform::now_ns() - begin) * 1e-9;
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return -1;
    if (*seconds > limit_seconds) {
      ::kill(-child, SIGKILL);
      ::kill(child, SIGKILL);  // in case it has not created its group yet
      ::waitpid(child, &status, 0);
      return -1;
    }
    ::usleep(poll_interval_us);
  }
}

std::string read_reason(int descriptor) {
  std::string reason;
  std::array<char, 1024> part{};
  // Non-blocking: a descendant that left the group may still have the other end open.
  ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
  for (;;) {
    const ssize_t count = ::read(descriptor, part.data(), part.size());
    if (count <= 0) return reason;
    reason.append(part.data(), static_cast<std::size_t>(count));
  }
}

Verdict verdict_of(int status) {
  if (status < 0 || !WIFEXITED(status)) return Verdict::failed;
  if (WEXITSTATUS(status) == exit_passed) return Verdict::passed;
  return WEXITSTATUS(status) == exit_waived ? Verdict::waived : Verdict::failed;
}

}  // namespace

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed: return "PASSED";
    case Verdict::waived: return "WAIVED";
    case Verdict::failed: break;
  }
  return "FAILED";
}

Outcome run_isolated(const std::function<void()>& body, double limit_seconds) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {Verdict::failed, std::strerror(errno), 0};
  std::fflush(nullptr);  // otherwise the child would print it too
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    run_child(body, ends[1]);
  }
  ::close(ends[1]);
  Outcome outcome;
  if (child < 0) {
    outcome.reason = "cannot start a process: " + cli::fork_error_text(errno);
    ::close(ends[0]);
    return outcome;
  }
  ::setpgid(child, child);  // both processes call it, because either may run first
  const int status = wait_for(child, limit_seconds, &outcome.seconds);
  ::kill(-child, SIGKILL);
  outcome.verdict = verdict_of(status);
  if (outcome.verdict != Verdict::passed) outcome.reason = read_reason(ends[0]);
  if (status < 0) {
    outcome.reason = cli::format("timed out after %g s and was terminated", limit_seconds);
  } else if (WIFSIGNALED(status)) {
    outcome.reason += cli::format("%skilled by signal %d (%s)", outcome.reason.empty() ? "" : "; ", WTERMSIG(status),
                                  ::strsignal(WTERMSIG(status)));
  } else if (outcome.verdict != Verdict::passed && outcome.reason.empty()) {
    outcome.reason = cli::format("exit code %d", WEXITSTATUS(status));
  }
  ::close(ends[0]);
  return outcome;
}

}  // namespace gdrkit::measure::sanity
