// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host's part of the GPU kernel `shmem`.
#include <algorithm>

#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/shmem_library.hpp"
#include "platform/gpu_code/shmem_params.hpp"
#include "platform/gpu_code/shmem_work.cuh"

namespace gdrkit::platform {
namespace {

base::Status check(const ShmemParameters& parameters, LaunchShape shape, unsigned) noexcept {
  if (parameters.operation > last_shmem_operation || parameters.scope > ShmemScope::block) {
    return base::fail(EINVAL, "cannot launch GPU kernel 'shmem': unknown operation or scope");
  }
  const bool is_alone = parameters.operation >= ShmemOperation::ping_pong;
  if (is_alone && (shape.blocks != 1 || parameters.has_every_group != 0)) {
    return base::fail(EINVAL,
                      "cannot launch GPU kernel 'shmem': invalid number of blocks or thread groups for this operation; "
                      "use one block and one thread group");
  }
  constexpr unsigned most_threads_of_a_block = 512;
  if (shape.threads > most_threads_of_a_block) {
    return base::fail(EINVAL,
                      "cannot launch GPU kernel 'shmem': blocks of %u threads are too large; use at most %u threads",
                      shape.threads, most_threads_of_a_block);
  }
  if (parameters.operation >= ShmemOperation::broadcast && parameters.scope != ShmemScope::block) {
    return base::fail(EINVAL, "cannot launch GPU kernel 'shmem': invalid scope of a collective; use scope 'block'");
  }
  if (parameters.scope == ShmemScope::warp && shape.threads % 32 != 0) {
    return base::fail(
        EINVAL,
        "cannot launch GPU kernel 'shmem': invalid block of %u threads; use a multiple of 32 for warp operations",
        shape.threads);
  }
  const bool is_copy = parameters.operation == ShmemOperation::put || parameters.operation == ShmemOperation::get;
  if ((!is_copy && (parameters.target | parameters.source) % 8 != 0) || parameters.signal % 8 != 0 ||
      parameters.result % 8 != 0) {
    return base::fail(
        EINVAL,
        "cannot launch GPU kernel 'shmem': the target, source, signal or result address is not a multiple of 8");
  }
  if (parameters.result == 0)
    return base::fail(EINVAL, "cannot launch GPU kernel 'shmem': the address of the result is 0");
  const bool steps_on = parameters.step_bytes != 0;
  if (steps_on ? parameters.step_bytes % 8 != 0 || parameters.path_bytes % parameters.step_bytes != 0
               : parameters.path_bytes != 0) {
    return base::fail(EINVAL,
                      "cannot launch GPU kernel 'shmem': invalid step_bytes %llu for path_bytes %llu; use a multiple "
                      "of 8 that divides path_bytes",
                      static_cast<unsigned long long>(parameters.step_bytes),
                      static_cast<unsigned long long>(parameters.path_bytes));
  }
  if (parameters.peer >= static_cast<std::uint32_t>(parameters.state.n_pes)) {
    return base::fail(EINVAL, "cannot launch GPU kernel 'shmem': PE %u is out of range; use a number below %d",
                      parameters.peer, parameters.state.n_pes);
  }
  return {};
}

void play(const ShmemParameters& parameters, LaunchShape shape) noexcept {
  constexpr unsigned warp_threads = 32;
  unsigned groups = shape.blocks;
  if (parameters.has_every_group != 0 && parameters.scope != ShmemScope::block) {
    groups *= parameters.scope == ShmemScope::thread ? shape.threads : shape.threads / warp_threads;
  }
  auto* const result = reinterpret_cast<ShmemResult*>(parameters.result);
  const auto run_all = [&](std::uint64_t before, std::uint32_t rounds) {
    for (unsigned number = 0; number < groups; ++number) {
      ShmemWork<GdrkitShmem, shmem::ThreadGroup> work(parameters, shmem::thread(), number);
      result->wrong = std::max(result->wrong, work.run(before, rounds));
    }
  };
  run_all(0, parameters.untimed_rounds);
  const std::int64_t begin = now_ns();
  if (result->wrong != ~std::uint64_t{0}) run_all(parameters.untimed_rounds, parameters.rounds);
  result->begin_inverted_ns = ~static_cast<std::uint64_t>(begin);
  result->end_ns = static_cast<std::uint64_t>(now_ns());
}

}  // namespace

base::Status GpuKernels::launch(const ShmemParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::shmem>(parameters, shape, stream, check, play);
}

}  // namespace gdrkit::platform
