// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BenchRun: one run of `gdrkit shmem bench`: the jobs of all libraries, and their results.
// Each PE of each library is a separate process (worker.hpp). This process commands them, so that the rounds of all
// libraries alternate and idle workers sleep.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/interface/device_choice.hpp"
#include "measure/compare/retrial.hpp"
#include "measure/harness/clock.hpp"
#include "transfer/shmem/bench/bench_options.hpp"
#include "transfer/shmem/bench/bench_report.hpp"
#include "transfer/shmem/bench/worker_job.hpp"

namespace gdrkit::transfer::shmem {

class BenchRun {
 public:
  /// `options` must outlive it. Throws Failure.
  explicit BenchRun(const BenchOptions& options);

  /// Once. Prints each table when it is measured. Throws Failure, and WorkerFailure of gdrkit's own PEs.
  [[nodiscard]] BenchReport run(const std::vector<std::size_t>& case_numbers);
  /// Before it: the result's head.
  [[nodiscard]] const measure::Result& head() const noexcept { return report_.result; }
  /// Measures the points of these comparisons again, in new processes.
  [[nodiscard]] std::vector<measure::Again> measure_again(const std::vector<const measure::ComparedPoint*>& points);

 private:
  void progress(const std::string& text);
  void describe(const cli::DeviceChoice& choice);
  [[nodiscard]] CaseResult case_without_points(std::size_t number) const;
  void note(const std::string& text);
  /// A failure of another library costs its figures, not the run. false: it failed, which is noted.
  template <class Function>
  bool with_peer(const std::string& what, Function function);
  void start_peer(const std::string& library, std::vector<double>* start_us);
  void restart_peer(const std::string& library);
  void lose_peer(const std::string& library);
  [[nodiscard]] WorkerJob* job_of(const std::string& library) const;

  void end_all();
  [[nodiscard]] std::vector<double> own_starts();
  void measure_starts();
  [[nodiscard]] CaseResult measure_case(std::size_t number);
  void add_peers(std::size_t number, std::size_t size_bytes, CaseResult* result);
  void measure_point(std::size_t number, std::size_t size_bytes, CaseResult* result);
  void measure_point_of(const std::vector<WorkerJob*>& jobs, std::size_t number, std::size_t size_bytes,
                        CaseResult* result) const;
  [[nodiscard]] measure::RoundsRequest rounds_request(std::size_t libraries) const;
  [[nodiscard]] measure::Single run_singles(WorkerJob* job, std::size_t number, std::size_t size_bytes) const;
  void keep(CaseResult result);

  const BenchOptions& options_;
  measure::Clock clock_;
  std::unique_ptr<WorkerJob> own_;
  std::vector<std::unique_ptr<WorkerJob>> peers_;  // those that can still be started
  std::size_t steps_ = 0;
  std::size_t step_ = 0;
  BenchReport report_;
};

}  // namespace gdrkit::transfer::shmem
