// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/run/rank_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::transfer::run {
namespace {

/// In the new process. The launcher has one thread, so no lock is held.
[[noreturn]] void become(const RankStart& start, char* const* words, char* const* variables, pid_t launcher) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(1);  // the launcher ended before the line above
  if (!start.has_input) {
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing > 0) ::dup2(nothing, 0);
  }
  if (start.output >= 0) ::dup2(start.output, 1);
  if (start.errors >= 0) ::dup2(start.errors, 2);
  if (start.listener >= 0) ::fcntl(start.listener, F_SETFD, 0);
  ::signal(SIGPIPE, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &start.mask, nullptr);
  ::execve(start.file.c_str(), words, variables);
  const int error = errno;
  ::dprintf(2, "gdrkit run: cannot start %s: %s\n", cli::printable(start.file).c_str(), std::strerror(error));
  ::_exit(error == ENOENT ? 127 : 126);
}

[[noreturn]] void guard(int pipe) {
  // Its own session: keys pressed at the launcher's terminal must not reach it.
  ::setsid();
  ::prctl(PR_SET_NAME, "gdrkit-guardian");
  for (const int standard : {0, 1, 2}) {
    if (standard != pipe) ::close(standard);
  }
  std::vector<pid_t> groups;
  pid_t number = 0;
  for (ssize_t got; (got = ::read(pipe, &number, sizeof number)) != 0;) {
    if (got != static_cast<ssize_t>(sizeof number)) continue;
    if (number > 0) {
      groups.push_back(number);
    } else {
      std::erase(groups, -number);
    }
  }
  for (const pid_t group : groups) ::kill(-group, SIGKILL);
  ::_exit(0);
}

}  // namespace

RankProcess::RankProcess(RankStart start) {
  const std::vector<char*> words = cli::pointers_to(start.words);
  const std::vector<char*> variables = cli::pointers_to(start.variables);
  const pid_t launcher = ::getpid();
  id_ = ::fork();
  if (id_ == 0) become(start, words.data(), variables.data(), launcher);
  if (id_ < 0) cli::fail("gdrkit run: cannot start a process: " + cli::fork_error_text(errno));
  // Both processes call it, so that the group exists regardless of which one runs first.
  ::setpgid(id_, id_);
}

bool RankProcess::reap() noexcept {
  if (has_ended_) return false;
  has_ended_ = ::waitpid(id_, &status_, WNOHANG) == id_;
  return has_ended_;
}

bool RankProcess::is_empty() const noexcept { return has_ended_ && ::kill(-id_, 0) != 0 && errno == ESRCH; }

void RankProcess::signal(int number) const noexcept { ::kill(-id_, number); }

void RankProcess::signal_leader(int number) const noexcept {
  if (!has_ended_) ::kill(id_, number);
}

bool RankProcess::was_killed() const noexcept { return WIFSIGNALED(status_); }

int RankProcess::exit_code() const noexcept { return was_killed() ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_); }

std::string RankProcess::end_text() const {
  if (!was_killed()) return cli::format("exited with code %d", WEXITSTATUS(status_));
  return cli::format("was killed by signal %d (%s)", WTERMSIG(status_), ::strsignal(WTERMSIG(status_)));
}

Guardian::Guardian(int listener) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    cli::fail(cli::format("gdrkit run: cannot open a pipe: %s; raise the limit of open files (ulimit -n)",
                          std::strerror(errno)));
  }
  id_ = ::fork();
  if (id_ == 0) {
    ::close(ends[1]);
    if (listener >= 0) ::close(listener);
    guard(ends[0]);
  }
  ::close(ends[0]);
  pipe_ = ends[1];
  if (id_ < 0) cli::fail("gdrkit run: cannot start a process: " + cli::fork_error_text(errno));
}

Guardian::~Guardian() {
  ::close(pipe_);
  while (::waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Guardian::watch(pid_t group) noexcept { send(group); }
void Guardian::forget(pid_t group) noexcept { send(-group); }

void Guardian::send(pid_t number) noexcept {
  // A pipe accepts so few bytes atomically or not at all.
  while (::write(pipe_, &number, sizeof number) < 0 && errno == EINTR) {
  }
}

}  // namespace gdrkit::transfer::run
