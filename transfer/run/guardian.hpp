// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Guardian: a process that outlives the launcher briefly, to end the processes that PEs started.
#pragma once

#include <sys/types.h>

namespace gdrkit::transfer::run {

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
