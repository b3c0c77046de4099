// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pplat: types and functions that the front ends of the subcommand share.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/interface/common_options.hpp"
#include "cli/interface/numa_options.hpp"
#include "measure/harness/rounds.hpp"
#include "measure/pplat/match.hpp"
#include "measure/tool_parts/numa_sweep.hpp"
#include "measure/tool_parts/tool_run.hpp"

namespace gdrkit::measure::pplat {

inline constexpr const char* gpu_memory = "gpumem";
inline constexpr const char* host_memory = "hostmem";

struct PplatOptions {
  cli::CommonOptions common;
  cli::NumaOptions numa;
  int iterations = 10000;
  int timeout_s = 10;
  std::string allocation = allocation_mem_alloc;
  std::size_t data_bytes = 0;
  int blocks = 8;
  int threads = 1024;
  std::string mode = "0";  ///< "0": the CPU produces; "1": the GPU
  std::string gpu_flag = gpu_memory;
  std::string cpu_flag = host_memory;
  std::string data = gpu_memory;
  std::string mapping_type = "default";
  bool with_raw = false;
};

/// Round trips by each method, from interleaved rounds. round_ns contains medians of rounds, or the GPU's measurements.
struct PplatReport : ToolReport {
  std::string mapping_type;
  std::vector<Measured> ways;
  bool is_cut_short = false;  ///< the time limit was reached before all iterations
  std::optional<NumaSweep> sweep;

  /// Largest ratio of medians, mapping to raw, that passes on a GPU.
  static constexpr double raw_limit = 1.05;
  [[nodiscard]] double ratio_to_raw() const;  ///< 0 without --raw
  [[nodiscard]] bool is_within_limit() const { return ratio_to_raw() <= raw_limit; }
};

/// Median of the rounds. The clock is not read inside their batches.
[[nodiscard]] double median_ns(const Measured& measured);

/// The role of each side, as text.
[[nodiscard]] std::string describe_match(const PplatOptions& options, const MatchRequest& request);
/// Prints GDRCopy's lines for a GPU that does not reply to stderr. GDRCopy aborts then; gdrkit returns 1.
void print_gdrcopy_timeout(const NoReply& failure);
void print_pplat_table(const PplatOptions& options, const PplatReport& report);
/// Writes to the destination of --json.
void write_pplat_json(const PplatOptions& options, const PplatReport& report);

inline constexpr std::size_t most_match_rounds = 20;
inline constexpr std::size_t fewest_match_rounds = 3;
inline constexpr std::size_t match_warm_up = 20;  ///< of each round, not counted: the GPU kernel may not run yet

struct PlayedRounds {
  std::vector<Measured> ways;  ///< in the requested order; round_ns contains the results of PingPongMatch::play
  bool is_cut_short = false;   ///< the budget was used up before all iterations
};

/// `iterations` of each method, distributed over the rounds; the order of the methods rotates by one each round. With a
/// budget no round begins after it, except for the minimum. `with_singles`: the same number of round trips again is
/// timed one by one. Throws the match's exceptions.
[[nodiscard]] PlayedRounds play_rounds(PingPongMatch* match, const std::vector<Way>& ways, std::size_t iterations,
                                       double budget_ns, bool with_singles, const Clock& clock);

}  // namespace gdrkit::measure::pplat
