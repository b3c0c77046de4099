// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CellRun: measures one cell of a test's matrix, and verifies the copied bytes.
#pragma once

#include <string>
#include <vector>

#include "measure/bandwidth/buffer_pool.hpp"
#include "measure/bandwidth/gate.hpp"
#include "measure/bandwidth/plan.hpp"

namespace gdrkit::measure::bandwidth {

struct RunOptions {
  std::size_t buffer_bytes = 0;
  int samples = 3;
  int loops = 16;  ///< copies in a sample
  bool is_verified = true;
  std::size_t chase_steps = 100000;
  std::uint64_t gate_limit_ns = Gate::usual_limit_ns;
};

inline constexpr int warm_up_copies = 4;
inline constexpr std::size_t latency_buffer_bytes = std::size_t{2} << 20;
inline constexpr std::size_t latency_stride_bytes = 128;  ///< a line of the GPU's L2 cache

/// A value per sample, in the test's unit, for each quantity of the cell: one, or with Count::each both directions and
/// their sum.
struct CellValues {
  int row = 0;
  int column = 0;
  std::vector<std::vector<double>> samples;
};

class CellRun {
 public:
  CellRun(Gpus* gpus, BufferPool* pool, Pattern* pattern, const RunOptions& options)
      : gpus_(*gpus), pool_(*pool), pattern_(*pattern), options_(options), gate_(gpus, options.gate_limit_ns) {}

  [[nodiscard]] const RunOptions& options() const noexcept { return options_; }
  /// Throws Failure if a step failed or a byte was not copied.
  [[nodiscard]] CellValues run(const TestCase& test, const CellPlan& cell);

 private:
  struct Job;
  class Jobs;
  void prepare(const TestCase& test, const CellPlan& cell, Jobs* jobs);
  void enqueue(const Job& job, int loops);
  std::vector<double> sample(const CellPlan& cell, Jobs* jobs);
  void verify(Jobs* jobs);
  [[nodiscard]] CellValues run_latency(const CellPlan& cell);

  Gpus& gpus_;
  BufferPool& pool_;
  Pattern& pattern_;
  const RunOptions& options_;
  Gate gate_;
};

}  // namespace gdrkit::measure::bandwidth
