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
#include "transfer/engines/element.hpp"
#include "transfer/job/process_group.hpp"

namespace gdrkit::transfer::nccl {

/// What of the ranks' data belongs to one measurement.
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
  /// `device` stays the caller's.
  RankGpu(int rank, platform::Device* device);
  RankGpu(int rank, std::unique_ptr<platform::Device> device);
  RankGpu(RankGpu&& other) noexcept = default;
  RankGpu& operator=(RankGpu&&) = delete;
  ~RankGpu() = default;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] platform::Device& device() const noexcept { return *device_; }
  [[nodiscard]] platform::Stream stream() const noexcept { return stream_; }

  /// Writes a byte that no result has over the output, then this rank's input. In the stream.
  void write_input(const DataPlan& plan, std::uint64_t input, std::uint64_t output, std::size_t output_bytes);
  /// How many elements of the output are not what they must be. Waits.
  [[nodiscard]] std::uint64_t count_wrong(const DataPlan& plan, std::uint64_t output);

  /// Until the input is written.
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

/// `per_process` GPUs for each process: with one, the GPU that the process has already. Throws Failure: cannot_run
/// where this machine has too few.
[[nodiscard]] std::vector<RankGpu> open_rank_gpus(job::ProcessGroup& processes, int per_process);

}  // namespace gdrkit::transfer::nccl
