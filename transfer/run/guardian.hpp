// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Guardian: a process that outlives the launcher for a moment, to end what the PEs started.
#pragma once

#include <sys/types.h>

namespace gdrkit::transfer::run {

/// A killed launcher cannot signal process groups. The guardian sees its end as the end of a pipe, kills the groups
/// that it was told of, and ends too.
class Guardian {
 public:
  /// Forks; to be called while this process has one thread. It does not keep `listener` (-1: there is none), where
  /// nobody listens once PE 0 has ended. Throws Failure(failed).
  explicit Guardian(int listener);
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  /// Waits for its end; the groups that it still watches are killed.
  ~Guardian();

  void watch(pid_t group) noexcept;
  void forget(pid_t group) noexcept;  ///< its number may be another group's from now on
  [[nodiscard]] pid_t id() const noexcept { return id_; }

 private:
  void say(pid_t number) noexcept;

  pid_t id_ = -1;
  int pipe_ = -1;
};

}  // namespace gdrkit::transfer::run
