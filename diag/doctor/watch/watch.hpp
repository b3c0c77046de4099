// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Watch: polls counters, prints those that grew, and a summary at the end.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/interface/exit_code.hpp"
#include "diag/machine/counters.hpp"

namespace gdrkit::diag::doctor {

struct Grown {
  CounterName name;
  CounterKind kind;
  std::uint64_t by;
};

struct LinkChange {
  std::string address;
  PcieLink from;
  PcieLink to;
  bool is_worse;  ///< fewer lanes, or slower and not a GPU (idle GPUs slow down on purpose)
};

/// The differences of counters and links between two polls.
struct Growth {
  std::vector<Grown> grown;
  std::vector<CounterName> reset;  ///< smaller than before
  std::set<std::string> vanished;  ///< devices that have disappeared entirely
  std::vector<LinkChange> links;
  [[nodiscard]] bool is_empty() const noexcept {
    return grown.empty() && reset.empty() && vanished.empty() && links.empty();
  }
};

/// `gpus`: PCI addresses of the GPUs.
[[nodiscard]] Growth growth_between(const Counters& before, const Counters& after, const std::set<std::string>& gpus);

/// Returns all devices that have counters or a link.
[[nodiscard]] std::set<std::string> devices_of(const Counters& counters);

struct WatchPlan {
  std::string root;
  double seconds = 0;  ///< between two polls
  int count = 0;       ///< polls after the first; 0: until a signal arrives
  bool is_json = false;
};

/// Totals over all polls.
struct WatchSum {
  unsigned polls = 0;
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
void print_watch_poll_json(unsigned poll, double seconds, const Growth& growth);
void print_watch_end_json(const WatchSum& sum);

}  // namespace gdrkit::diag::doctor
