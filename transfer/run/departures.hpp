// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Departures: PEs that exit with 0 before their job has formed. The others cannot see it, and would wait until their
// limit.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "transfer/run/rank_environment.hpp"

namespace gdrkit::tools {

/// Of a process with one thread.
class Departures {
 public:
  explicit Departures(const RankEnvironment& environment) : environment_(environment) {}
  Departures(const Departures&) = delete;
  Departures& operator=(const Departures&) = delete;
  ~Departures();

  /// PE `pe` has exited. Starts a process that says so to PE 0; of PE 0 itself, to those that come. Nothing happens
  /// where the job has formed already.
  void note(int pe);

 private:
  const RankEnvironment& environment_;
  std::vector<pid_t> speakers_;
};

}  // namespace gdrkit::tools
