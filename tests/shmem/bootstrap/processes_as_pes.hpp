// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PEs as forked processes.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"

namespace gdrkit::shmem_impl::tests {

/// Runs `as_pe(pe)` in a process each; what it returned, or "signal N" or "exit N" for one that ended otherwise. All
/// that descends from them is ended too. `when_started` runs here once all are there.
inline std::vector<std::string> run_processes(int n_pes, const std::function<std::string(int pe)>& as_pe,
                                              const std::function<void()>& when_started = {}) {
  struct Child {
    pid_t id = -1;
    base::UniqueFd pipe;
  };
  std::vector<Child> children(static_cast<std::size_t>(n_pes));
  ::fflush(nullptr);
  for (int pe = 0; pe < n_pes; ++pe) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) ADD_FAILURE() << "pipe";
    Child& child = children[static_cast<std::size_t>(pe)];
    child.pipe = base::UniqueFd(ends[0]);
    const base::UniqueFd out(ends[1]);
    child.id = ::fork();
    if (child.id == 0) {
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const std::string end = as_pe(pe);
      const ssize_t put = ::write(out.get(), end.data(), end.size());
      ::_exit(put == static_cast<ssize_t>(end.size()) ? 0 : 1);
    }
    ::setpgid(child.id, child.id);
  }
  if (when_started) when_started();
  std::vector<std::string> results;
  for (Child& child : children) {
    int status = 0;
    ::waitpid(child.id, &status, 0);
    ::kill(-child.id, SIGKILL);
    std::string text;
    char bytes[4096];
    for (ssize_t got; (got = ::read(child.pipe.get(), bytes, sizeof bytes)) > 0;) {
      text.append(bytes, static_cast<std::size_t>(got));
    }
    if (WIFSIGNALED(status)) text = "signal " + std::to_string(WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) text = "exit " + std::to_string(WEXITSTATUS(status));
    results.push_back(text);
  }
  return results;
}

}  // namespace gdrkit::shmem_impl::tests
