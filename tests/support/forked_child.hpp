// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Runs a part of a test in a forked child and returns how it ended.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace gdrkit::tests {

struct ChildEnd {
  int exit_code = -1;  ///< -1: it did not exit
  int signal = 0;      ///< 0: no signal killed it
};

/// Runs `body` (an int()) in a forked child, which passes its result to _exit. A fault kills the child in spite of
/// sanitizers' handlers; SIGALRM kills a hanging child after one minute. Writes no core file.
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
