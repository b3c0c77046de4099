// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BenchOptions: the command line of `gdrkit bench`, checked.
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

/// What one of the processes of a run measures.
struct ProcessPart {
  int number = 0;  ///< from 0
  int of = 1;      ///< processes, which share the rounds
};

/// Processes that share a run's rounds, so that one unlucky process is outvoted.
inline constexpr int usual_processes = 3;

struct BenchOptions {
  cli::CommonOptions common;
  cli::NumaOptions numa;
  cli::NumaChoice place;
  bool is_quick = false;
  std::vector<std::string> sections;  ///< all of them when none was named
  bool has_chosen_sections = false;
  std::vector<std::size_t> sizes;  ///< empty: each section's own
  int rounds = 0;                  ///< 0: the effort's own
  cli::DocumentOption csv;
  std::string compare_path;  ///< "": no comparison
  std::string with_path;     ///< "": measure
  bool is_forced = false;
  int cpu = -1;                       ///< where to measure, if it can be had; -1: the place decides
  std::optional<ProcessPart> part;    ///< this process is one of a run, and prints its part
  std::vector<std::string> trial_of;  ///< labels of cells: this process measures them again, and prints that

  [[nodiscard]] bool is_part_of_a_run() const { return part || !trial_of.empty(); }
  /// A document is on standard output instead of the text.
  [[nodiscard]] bool is_document_on_stdout() const { return common.json.is_on_stdout() || csv.is_on_stdout(); }
  [[nodiscard]] Effort effort() const;
  /// The command line of another process of the same run on this CPU, --json at its end; `more` says what it measures.
  [[nodiscard]] std::vector<std::string> arguments_for(int on_cpu, const std::vector<std::string>& more) const;
};

/// A value: end now with this code. Throws Failure(usage) with what is wrong and what can be done.
[[nodiscard]] std::optional<cli::ExitCode> parse_bench_options(cli::Front front, int argc, char** argv,
                                                               BenchOptions* options);

/// "8,4096,64K,1M": sizes (size.hpp). Ascending, each once. Throws Failure(usage).
[[nodiscard]] std::vector<std::size_t> parse_sizes(const std::string& text);
/// "1/3": the second of three. Throws Failure(usage).
[[nodiscard]] ProcessPart parse_part(const std::string& text);

}  // namespace gdrkit::measure::bench
