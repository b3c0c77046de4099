// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RankProcess: one PE, a process with all its descendants. Guardian: a process that outlives the launcher briefly, to
// end the processes that PEs started.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace gdrkit::transfer::run {

/// The program of a PE and its environment.
struct RankStart {
  std::string file;                    ///< the program, a path
  std::vector<std::string> words;      ///< its arguments, including its name
  std::vector<std::string> variables;  ///< "NAME=value"
  int listener = -1;                   ///< stays open in the process; -1: none
  bool has_input = false;              ///< inherits the launcher's standard input, otherwise /dev/null
  int output = -1;                     ///< its standard output; -1: the launcher's
  int errors = -1;                     ///< its standard error; -1: the launcher's
  sigset_t mask{};                     ///< signals that the process blocks
};

class RankProcess {
 public:
  /// Throws Failure(failed) if the process cannot be created. It leads a process group, and is killed when the calling
  /// thread ends. If the program cannot be started, the process prints the reason on its standard error and exits with
  /// 126 or 127.
  explicit RankProcess(RankStart start);

  [[nodiscard]] pid_t id() const noexcept { return id_; }
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }
  /// Checks once, without waiting, whether the process has ended. Returns true if this is the first time that it is
  /// detected.
  bool reap() noexcept;
  /// Returns true if no process of the group is left.
  [[nodiscard]] bool is_empty() const noexcept;
  void signal(int number) const noexcept;         ///< the whole group
  void signal_leader(int number) const noexcept;  ///< only the PE, if it has not ended
  /// For an ended process: as in a shell, 128 + the signal for one that was killed.
  [[nodiscard]] int exit_code() const noexcept;
  [[nodiscard]] bool was_killed() const noexcept;
  /// "exited with code 3", "was killed by signal 11 (Segmentation fault)".
  [[nodiscard]] std::string end_text() const;

 private:
  pid_t id_ = -1;
  int status_ = 0;
  bool has_ended_ = false;
};

/// A killed launcher cannot signal process groups. The guardian detects its end as the end of a pipe, kills the
/// registered groups, and ends.
class Guardian {
 public:
  /// Forks; call it while this process has one thread. The guardian closes `listener` (-1: none), so that nobody
  /// listens once PE 0 has ended. Throws Failure(failed).
  explicit Guardian(int listener);
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  /// Waits for the guardian to end, which kills the groups that are still registered.
  ~Guardian();

  void watch(pid_t group) noexcept;
  void forget(pid_t group) noexcept;  ///< its number may be reused for another group from now on
  [[nodiscard]] pid_t id() const noexcept { return id_; }

 private:
  void send(pid_t number) noexcept;

  pid_t id_ = -1;
  int pipe_ = -1;
};

}  // namespace gdrkit::transfer::run
