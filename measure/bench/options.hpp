// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BenchOptions: the validated command line of `gdrkit bench`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/interface/common_options.hpp"
#include "cli/interface/numa_options.hpp"
#include "measure/bench/effort.hpp"
#include "measure/harness/direction.hpp"

namespace gdrkit::measure::bench {

/// The part of one of the processes of a run.
struct ProcessPart {
  int number = 0;  ///< from 0
  int of = 1;      ///< processes, which share the rounds
};

/// Processes that share a run's rounds, so that an outlier process is outvoted.
inline constexpr int usual_processes = 3;

struct BenchOptions {
  cli::CommonOptions common;
  cli::NumaOptions numa;
  cli::NumaChoice place;
  bool is_quick = false;
  std::vector<std::string> sections;  ///< all if none was given
  std::vector<std::size_t> sizes;     ///< empty: the defaults of each section
  int rounds = 0;                     ///< 0: the default of the effort
  cli::DocumentOption csv;
  std::string compare_path;  ///< "": no comparison
  std::string with_path;     ///< "": measure
  bool is_forced = false;
  int cpu = -1;                       ///< where to measure, if possible; -1: decided by the placement
  std::optional<ProcessPart> part;    ///< set if this process is one of a run, and prints its part
  std::vector<std::string> trial_of;  ///< labels of cells: this process measures and prints them again

  [[nodiscard]] bool is_part_of_a_run() const { return part || !trial_of.empty(); }
  /// A document is on standard output instead of the text.
  [[nodiscard]] bool is_document_on_stdout() const { return common.json.is_on_stdout() || csv.is_on_stdout(); }
  [[nodiscard]] Effort effort() const;
  /// The command line of another process of the same run on this CPU, ending with --json; `more` selects what it
  /// measures.
  [[nodiscard]] std::vector<std::string> arguments_for(int on_cpu, const std::vector<std::string>& more) const;
};

/// Returns an exit code if the program must end now. Throws Failure(usage) with the fault and the remedy.
[[nodiscard]] std::optional<cli::ExitCode> parse_bench_options(cli::Front front, int argc, char** argv,
                                                               BenchOptions* options);

/// Parses sizes such as "8,4096,64K,1M" (size.hpp). Ascending, without duplicates. Throws Failure(usage).
[[nodiscard]] std::vector<std::size_t> parse_sizes(const std::string& text);
/// "1/3": the second of three. Throws Failure(usage).
[[nodiscard]] ProcessPart parse_part(const std::string& text);

}  // namespace gdrkit::measure::bench
