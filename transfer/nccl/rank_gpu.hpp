// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RankGpu: the GPU of one rank of this process, with the stream and the GPU kernels that write and check its data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "platform/device/device.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "platform/gpu_code/pattern_params.hpp"
#include "transfer/engines/collective.hpp"
#include "transfer/job/process_group.hpp"

namespace gdrkit::transfer::nccl {

/// The parameters of the ranks' data in one measurement.
struct DataPlan {
  const engines::Collective* collective = nullptr;
  const engines::ElementType* type = nullptr;
  const engines::Reduction* reduction = nullptr;
  std::size_t part = 0;
  int n_ranks = 1;
  int root = 0;
  std::uint64_t seed = 0;
};

/// Functions throw Failure.
class RankGpu {
 public:
  /// The caller keeps ownership of `device`.
  RankGpu(int rank, platform::Device* device);
  RankGpu(int rank, std::unique_ptr<platform::Device> device);
  RankGpu(RankGpu&& other) noexcept = default;
  RankGpu& operator=(RankGpu&&) = delete;
  ~RankGpu() = default;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] platform::Device& device() const noexcept { return *device_; }
  [[nodiscard]] platform::Stream stream() const noexcept { return stream_; }

  /// Fills the output with a byte that no result contains, then writes this rank's input. In the stream.
  void write_input(const DataPlan& plan, std::uint64_t input, std::uint64_t output, std::size_t output_bytes);
  /// Waits, and returns the number of wrong elements in the output.
  [[nodiscard]] std::uint64_t count_wrong(const DataPlan& plan, std::uint64_t output);

  /// Waits until the input is written.
  void wait();

 private:
  void make_current();
  void launch(platform::PatternParameters parameters);

  int rank_;
  std::unique_ptr<platform::Device> owned_;
  platform::Device* device_;
  std::optional<platform::GpuKernels> kernels_;
  platform::Stream stream_;
  platform::Allocation found_;
};

/// `per_process` GPUs for each process; if it is 1, the GPU that the process already has. Throws Failure: cannot_run if
/// this machine has too few.
[[nodiscard]] std::vector<RankGpu> open_rank_gpus(job::ProcessGroup& processes, int per_process);

}  // namespace gdrkit::transfer::nccl
