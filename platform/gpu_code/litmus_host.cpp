// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host's part of the GPU kernel `litmus`.
#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/litmus_params.hpp"
#include "platform/gpu_code/litmus_work.cuh"

namespace gdrkit::platform {
namespace {

base::Status check(const LitmusParameters& parameters, LaunchShape shape, unsigned resident_blocks) noexcept {
  if (parameters.shape > LitmusShape::store_buffering) {
    return base::fail(EINVAL, "cannot launch GPU kernel 'litmus': unknown litmus test %u",
                      static_cast<unsigned>(parameters.shape));
  }
  if (parameters.mistake > LitmusMistake::cached) {
    return base::fail(EINVAL, "cannot launch GPU kernel 'litmus': unknown kind of fault injection %u",
                      static_cast<unsigned>(parameters.mistake));
  }
  const auto n_pes = static_cast<std::uint32_t>(parameters.state.n_pes);
  if (parameters.writer >= n_pes || parameters.reader >= n_pes || parameters.writer == parameters.reader) {
    return base::fail(
        EINVAL,
        "cannot launch GPU kernel 'litmus': invalid writer PE %u or reader PE %u; use two different PEs below %u",
        parameters.writer, parameters.reader, n_pes);
  }
  if (shape.blocks > resident_blocks) {
    return base::fail(EINVAL, "cannot launch GPU kernel 'litmus': %u blocks are too many; use at most %u", shape.blocks,
                      resident_blocks);
  }
  if (parameters.shape == LitmusShape::store_buffering && shape.blocks != 1) {
    return base::fail(
        EINVAL,
        "cannot launch GPU kernel 'litmus': invalid number of blocks %u; use one block for test 'store_buffering'",
        shape.blocks);
  }
  return {};
}

void play(const LitmusParameters& parameters, LaunchShape shape) noexcept {
  const bool is_of_blocks =
      parameters.shape == LitmusShape::put_signal || parameters.shape == LitmusShape::store_buffering;
  const unsigned groups = is_of_blocks ? shape.blocks : shape.blocks * shape.threads;
  auto* const result = reinterpret_cast<LitmusResult*>(parameters.result);
  for (unsigned instance = 0; instance < groups; ++instance) {
    const LitmusResult found = LitmusWork<shmem::ThreadGroup>(parameters, shmem::thread(), instance).run();
    result->reads += found.reads;
    result->raced += found.raced;
    result->broken += found.broken;
    result->expired += found.expired;
  }
}

}  // namespace

base::Status GpuKernels::launch(const LitmusParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::litmus>(parameters, shape, stream, check, play);
}

}  // namespace gdrkit::platform
