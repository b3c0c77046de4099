// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Watch: polls counters, prints those that grew, and a summary at the end.
#pragma once

#include <string>

#include "cli/interface/exit_code.hpp"
#include "diag/doctor/watch/growth.hpp"

namespace gdrkit::diag::doctor {

struct WatchPlan {
  std::string root;
  double seconds = 0;  ///< between two polls
  int count = 0;       ///< polls after the first; 0: until a signal arrives
  bool is_json = false;
};

/// Totals over all polls.
struct WatchSum {
  unsigned looks = 0;
  double seconds = 0;
  std::map<CounterName, std::uint64_t> errors;
  std::set<std::string> vanished;
  [[nodiscard]] cli::ExitCode code() const {
    return errors.empty() && vanished.empty() ? cli::ExitCode::ok : cli::ExitCode::failed;
  }
};

/// "5", "0.5"; throws Failure(usage) unless it is between 0.01 seconds and a day.
[[nodiscard]] double parse_interval(const std::string& text);

/// Blocks SIGINT and SIGTERM while it runs. The first one ends it.
[[nodiscard]] cli::ExitCode watch(const MachineView& view, const WatchPlan& plan);

void print_watch_start_json(const Counters& counters);
void print_watch_look_json(unsigned look, double seconds, const Growth& growth);
void print_watch_end_json(const WatchSum& sum);

}  // namespace gdrkit::diag::doctor
