// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Measurement: the loops that time one collective and check its data, for every collective and engine.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "transfer/engines/collective_engine.hpp"
#include "transfer/job/process_group.hpp"
#include "transfer/job/watchdog.hpp"
#include "transfer/nccl/nccl_options.hpp"
#include "transfer/nccl/nccl_report.hpp"
#include "transfer/nccl/rank_gpu.hpp"

namespace gdrkit::transfer::nccl {

struct Parties {
  job::ProcessGroup* processes;
  job::Watchdog* watchdog;
  engines::CollectiveEngine* engine;
  std::vector<RankGpu>* gpus;
};

/// Functions are collective over all processes, and throw Failure.
class Measurement {
 public:
  /// Allocates the buffers.
  Measurement(const Options& options, const Parties& parties);

  /// Untimed operations of the smallest size and its doubles: communicators connect on first use.
  void warm_up(const engines::ElementType& type, const engines::Reduction& reduction);
  [[nodiscard]] Row measure(std::size_t size_bytes, const engines::ElementType& type,
                            const engines::Reduction& reduction);

 private:
  struct Buffers {
    std::uint64_t separate_input = 0;
    std::uint64_t output = 0;  ///< in place also the input
  };

  [[nodiscard]] DataPlan plan_for(std::size_t size_bytes, const engines::ElementType& type,
                                  const engines::Reduction& reduction);
  [[nodiscard]] Timing measure_one(const DataPlan& plan, bool is_in_place);
  [[nodiscard]] std::vector<engines::Call> calls_for(const DataPlan& plan, bool is_in_place) const;
  /// The bytes of the larger buffer of an operation, as in the table.
  [[nodiscard]] std::size_t table_bytes(const DataPlan& plan) const;
  /// One operation, `shift` bytes after the beginning of the buffers.
  void enqueue_once(const std::vector<engines::Call>& calls, std::size_t shift);
  /// The operations of one iteration, counted from 0.
  void enqueue(const DataPlan& plan, const std::vector<engines::Call>& calls, int iteration);
  /// Seconds for one operation, of this process.
  [[nodiscard]] double time_loop(const DataPlan& plan, const std::vector<engines::Call>& calls);
  [[nodiscard]] double averaged(double seconds);
  [[nodiscard]] std::uint64_t check_data(const DataPlan& plan, const std::vector<engines::Call>& calls,
                                         bool is_in_place);

  const Options& options_;
  const engines::Collective& collective_;
  Parties parties_;
  int n_ranks_;
  std::uint64_t seed_ = 0;
  std::vector<Buffers> buffers_;
};

}  // namespace gdrkit::transfer::nccl
