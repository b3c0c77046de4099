// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Job: all PEs of one launcher call, from start to end.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "transfer/run/departures.hpp"
#include "transfer/run/output_lines.hpp"
#include "transfer/run/rank_environment.hpp"
#include "transfer/run/rank_process.hpp"

namespace gdrkit::transfer::run {

struct JobPlan {
  int n_pes = 1;
  std::string file;                ///< to exec
  std::vector<std::string> words;  ///< starting with the program's name
  bool has_prefixes = false;
  std::chrono::milliseconds time_limit{0};  ///< 0: none
  std::chrono::milliseconds grace{5000};    ///< from the request to end until the kill
};

/// For a process with one thread that ends with the job: the job takes over its signals.
class Job {
 public:
  Job(JobPlan plan, RankEnvironment& environment);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  /// Returns the launcher's exit code: that of the first PE that failed, 124 at the time limit, or 128 + the signal
  /// that ended it. Returns 1 if the output of PEs could not be written.
  [[nodiscard]] int run();

  static constexpr int time_limit_code = 124;  // as in timeout(1)

 private:
  using Clock = std::chrono::steady_clock;
  /// Standard output or standard error of all PEs.
  struct Stream {
    Stream(int n_pes, int fd) : lines(n_pes), target(fd), pipes(static_cast<std::size_t>(n_pes), -1) {}
    OutputLines lines;
    int target;
    std::vector<int> pipes;  // by PE; -1: none, or closed
  };

  void start_pes();
  void start_pe(int pe);
  void wait_and_work();
  void take_signal(int number);
  void reap();
  void note_failure(int pe);
  void end_all(int number);
  void keep_time();
  void forward(int number) const;  // to whole groups
  void clean_up();
  void read_pipe(Stream* stream, std::size_t pe, bool is_last);
  void write_lines(Stream* stream);
  [[nodiscard]] int wait_ms() const;
  [[nodiscard]] std::vector<int> running() const;

  JobPlan plan_;
  RankEnvironment& environment_;
  sigset_t old_mask_{};
  int signals_ = -1;
  std::optional<Guardian> guardian_;
  std::optional<Departures> departures_;
  std::vector<RankProcess> pes_;
  std::vector<bool> is_watched_;
  std::vector<Stream> streams_;  // empty: PEs write directly
  std::optional<int> code_;
  std::optional<Clock::time_point> limit_at_;
  std::optional<Clock::time_point> end_at_;
  std::optional<Clock::time_point> kill_at_;
  bool is_ending_ = false;
  bool is_output_lost_ = false;
};

}  // namespace gdrkit::transfer::run
