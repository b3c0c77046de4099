// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Departures: reports PEs that exit with code 0 before all PEs of the job have connected. Without a report, the other
// PEs would wait until their limit.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "transfer/run/rank_environment.hpp"

namespace gdrkit::transfer::run {

/// Use it in a process with one thread only: note() forks.
class Departures {
 public:
  explicit Departures(const RankEnvironment& environment) : environment_(environment) {}
  Departures(const Departures&) = delete;
  Departures& operator=(const Departures&) = delete;
  ~Departures();

  /// Call it when PE `pe` has exited. Starts a process that reports the exit to PE 0. If PE 0 itself has exited, the
  /// process takes PE 0's address and reports it to the PEs that connect. Does nothing if all PEs have already
  /// connected.
  void note(int pe);

 private:
  const RankEnvironment& environment_;
  std::vector<pid_t> notifiers_;
};

}  // namespace gdrkit::transfer::run
