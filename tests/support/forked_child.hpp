// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How a forked child ends that runs a piece of the test.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace gdrkit::tests {

struct ChildEnd {
  int exit_code = -1;  ///< -1: it did not exit
  int signal = 0;      ///< 0: it was not killed
};

/// Runs `body` (an int()) in a forked child and ends it with its result by _exit. A fault kills the child, whatever
/// handlers sanitizers installed; a hanging one is killed by SIGALRM after a minute. No core file.
template <class Body>
[[nodiscard]] ChildEnd run_in_child(Body body) {
  const pid_t child = ::fork();
  if (child < 0) return {};
  if (child == 0) {
    for (const int fatal : {SIGSEGV, SIGBUS, SIGABRT, SIGALRM}) ::signal(fatal, SIG_DFL);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::alarm(60);
    ::_exit(body());
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return {};
  }
  ChildEnd end;
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  return end;
}

}  // namespace gdrkit::tests
