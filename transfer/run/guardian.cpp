// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/run/guardian.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::transfer::run {
namespace {

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
      groups.erase(std::remove(groups.begin(), groups.end(), -number), groups.end());
    }
  }
  for (const pid_t group : groups) ::kill(-group, SIGKILL);
  ::_exit(0);
}

}  // namespace

Guardian::Guardian(int listener) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw cli::Failure(cli::ExitCode::failed,
                       cli::format("gdrkit run: cannot open a pipe: %s; raise the limit of open files (ulimit -n)",
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
  if (id_ < 0)
    throw cli::Failure(cli::ExitCode::failed, "gdrkit run: cannot start a process: " + cli::fork_error_text(errno));
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
