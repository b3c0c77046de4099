// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RankProcess: one PE, a process and all that it starts.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace gdrkit::transfer::run {

/// What a PE execs, and with what.
struct RankStart {
  std::string file;                    ///< the program, a path
  std::vector<std::string> words;      ///< its arguments, from its name on
  std::vector<std::string> variables;  ///< "NAME=value"
  int listener = -1;                   ///< stays open in it; -1: none
  bool has_input = false;              ///< the launcher's standard input, else /dev/null
  int output = -1;                     ///< its standard output; -1: the launcher's
  int errors = -1;                     ///< its standard error; -1: the launcher's
  sigset_t mask{};                     ///< signals that it blocks
};

class RankProcess {
 public:
  /// Throws Failure(failed) where no process can be made. It leads a process group, and is killed when the calling
  /// thread ends. Where the program cannot be started it says so on its standard error and exits with 126 or 127.
  explicit RankProcess(const RankStart& start);

  [[nodiscard]] pid_t id() const noexcept { return id_; }
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }
  /// Looks whether it has ended, once; true if that is news.
  bool reap() noexcept;
  /// Nothing of the group runs any more.
  [[nodiscard]] bool is_empty() const noexcept;
  void signal(int number) const noexcept;         ///< the whole group
  void signal_leader(int number) const noexcept;  ///< the PE alone, if it has not ended
  /// Of an ended one: as a shell has it, 128 + the signal for one that was killed.
  [[nodiscard]] int exit_code() const noexcept;
  [[nodiscard]] bool was_killed() const noexcept;
  /// "exited with code 3", "was killed by signal 11 (Segmentation fault)".
  [[nodiscard]] std::string end_text() const;

 private:
  pid_t id_ = -1;
  int status_ = 0;
  bool has_ended_ = false;
};

}  // namespace gdrkit::transfer::run
