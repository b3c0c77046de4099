// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/other_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/interface/exit_code.hpp"
#include "measure/result/result_file.hpp"

namespace gdrkit::measure::bench {
namespace {

constexpr int exit_not_started = 127;

[[noreturn]] void become(const char* program, char* const* words, int output, pid_t parent) {
  // If the parent has ended before this line, nobody reads the result.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent && ::dup2(output, STDOUT_FILENO) >= 0) {
    ::execv(program, words);
  }
  ::_exit(exit_not_started);
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t count = ::read(descriptor, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

std::string end_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return std::strerror(errno);
  }
  if (WIFSIGNALED(status)) return std::string("ended by ") + ::strsignal(WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  return code == exit_not_started ? "could not be started" : "exit code " + std::to_string(code);
}

}  // namespace

measure::Result result_of_process(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"gdrkit"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::vector<char*> pointers = cli::pointers_to(words);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) cli::fail(std::strerror(errno));
  std::fflush(nullptr);  // otherwise the child would print it too
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(program.c_str(), pointers.data(), ends[1], parent);
  const int fork_error = errno;
  ::close(ends[1]);
  const std::string text = child < 0 ? "" : read_all(ends[0]);
  ::close(ends[0]);
  if (child < 0) cli::fail("cannot start a process: " + cli::fork_error_text(fork_error));
  const std::string ended = end_of(child);
  try {
    // A result that is not ok has its own exit code, and contains the reason.
    return measure::result_from_json(text, "its result");
  } catch (const measure::BadResult& bad) {
    cli::fail(ended + (text.empty() ? "" : std::string("; ") + bad.what()));
  }
}

}  // namespace gdrkit::measure::bench
