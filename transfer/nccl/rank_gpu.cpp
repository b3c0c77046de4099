// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/nccl/rank_gpu.hpp"

#include <algorithm>
#include <utility>

#include "cli/interface/demand.hpp"

namespace gdrkit::transfer::nccl {
namespace {

constexpr std::uint8_t untouched = 0xee;
constexpr unsigned pattern_threads = 256;
constexpr unsigned blocks_per_multiprocessor = 8;
constexpr unsigned most_blocks = 1024;

platform::PatternParameters pattern_for(const DataPlan& plan) {
  platform::PatternParameters parameters{};
  parameters.seed = plan.seed;
  parameters.kind = plan.reduction->pattern;
  parameters.ranks = static_cast<std::uint32_t>(plan.n_ranks);
  parameters.element_bytes = plan.type->size_bytes;
  parameters.mantissa_bits = plan.type->mantissa_bits;
  parameters.exponent_bias = plan.type->exponent_bias;
  parameters.largest = plan.type->largest;
  const bool is_power_of_two = (plan.n_ranks & (plan.n_ranks - 1)) == 0;
  // NCCL multiplies each float by 1/n, which is rounded, and adds the rounded products.
  if (parameters.kind == platform::PatternKind::average && parameters.mantissa_bits != 0 && !is_power_of_two) {
    parameters.tolerance = parameters.ranks;
  }
  return parameters;
}

}  // namespace

RankGpu::RankGpu(int rank, platform::Device* device) : rank_(rank), device_(device) {
  make_current();
  auto loaded = platform::GpuKernels::load<platform::GpuKernel::pattern>(*device_);
  if (!loaded) cli::cannot_run(cli::format("gdrkit nccl: %s", loaded.error().text()));
  kernels_.emplace(std::move(*loaded));
  stream_ = cli::demand(device_->create_stream(), "gdrkit nccl: cannot create a stream: ");
  found_ = cli::demand(device_->allocate(platform::AllocationKind::cuda_malloc, sizeof(platform::PatternFound)),
                       "gdrkit nccl: cannot allocate the error counters: ");
}

RankGpu::RankGpu(int rank, std::unique_ptr<platform::Device> device) : RankGpu(rank, device.get()) {
  owned_ = std::move(device);
}

void RankGpu::make_current() { cli::demand(device_->make_current(), "gdrkit nccl: cannot make the GPU current: "); }

void RankGpu::launch(platform::PatternParameters parameters) {
  if (parameters.count == 0) return;
  const std::uint64_t needed = (parameters.count + pattern_threads - 1) / pattern_threads;
  const unsigned room = std::min(kernels_->resident_blocks() * blocks_per_multiprocessor, most_blocks);
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(needed, room));
  cli::demand(kernels_->launch(parameters, {blocks, pattern_threads}, stream_),
              "gdrkit nccl: cannot launch the GPU kernel that writes or checks the data: ");
}

void RankGpu::write_input(const DataPlan& plan, std::uint64_t input, std::uint64_t output, std::size_t output_bytes) {
  make_current();
  if (output_bytes != 0)
    cli::demand(device_->fill(output, untouched, output_bytes), "gdrkit nccl: cannot fill the output buffer: ");
  platform::PatternParameters parameters = pattern_for(plan);
  parameters.address = input;
  parameters.count = plan.collective->send_count(plan.part, plan.n_ranks);
  parameters.rank = static_cast<std::uint32_t>(rank_);
  launch(parameters);
}

std::uint64_t RankGpu::count_wrong(const DataPlan& plan, std::uint64_t output) {
  make_current();
  platform::PatternFound found{0, ~std::uint64_t{0}};
  cli::demand(device_->copy_to_device(found_.address(), &found, sizeof found),
              "gdrkit nccl: cannot reset the error counters: ");
  for (const engines::Piece& piece : plan.collective->pieces(plan.part, rank_, plan.n_ranks, plan.root)) {
    platform::PatternParameters parameters = pattern_for(plan);
    parameters.address = output + piece.offset * plan.type->size_bytes;
    parameters.count = piece.count;
    parameters.first = piece.first;
    parameters.found = found_.address();
    parameters.is_combined = piece.source < 0 ? 1 : 0;
    parameters.rank = piece.source < 0 ? 0 : static_cast<std::uint32_t>(piece.source);
    launch(parameters);
  }
  cli::demand(device_->synchronize(stream_), "gdrkit nccl: cannot wait for the GPU kernel that checks the data: ");
  cli::demand(device_->copy_to_host(&found, found_.address(), sizeof found),
              "gdrkit nccl: cannot read the error counters: ");
  return found.wrong;
}

void RankGpu::wait() {
  make_current();
  cli::demand(device_->synchronize(stream_), "gdrkit nccl: cannot wait for the GPU kernel that writes the data: ");
}

std::vector<RankGpu> open_rank_gpus(job::ProcessGroup& processes, int per_process) {
  std::vector<RankGpu> gpus;
  const int first_rank = processes.process() * per_process;
  if (per_process == 1) {
    gpus.emplace_back(first_rank, &processes.device());
    return gpus;
  }
  const cli::DeviceChoice& choice = processes.choice();
  const int count = cli::demand(choice.is_emulated ? platform::emulated_device_count() : platform::cuda_device_count(),
                                "gdrkit nccl: cannot count GPUs: ");
  const int n_local = processes.n_local_processes();
  if (n_local * per_process > count) {
    cli::cannot_run(cli::format(
        "gdrkit nccl: -g %d in %d %s requires %d GPUs, but this machine has %d; %s", per_process, n_local,
        n_local == 1 ? "process" : "processes", n_local * per_process, count,
        choice.is_emulated ? "set GDRKIT_EMULATED_DEVICES to the required number" : "reduce -g, or -n of gdrkit run"));
  }
  for (int i = 0; i < per_process; ++i) {
    gpus.emplace_back(first_rank + i, cli::open_device(choice, processes.local_index() * per_process + i));
  }
  return gpus;
}

}  // namespace gdrkit::transfer::nccl
