// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host implementation of the GPU kernel `team`.
#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/team_params.hpp"
#include "platform/gpu_code/team_work.cuh"

namespace gdrkit::platform {
namespace {

base::Status check(const TeamParameters& parameters, LaunchShape shape, unsigned) noexcept {
  constexpr unsigned warp = 32, most_team_threads = 512;
  if (parameters.operation > CollectiveOperation::reducescatter || parameters.scope > ShmemScope::block) {
    return base::fail(EINVAL, "team: invalid operation or scope");
  }
  if (shape.blocks != 1 || shape.threads > most_team_threads ||
      (parameters.scope == ShmemScope::warp && shape.threads < warp)) {
    return base::fail(
        EINVAL,
        "team: invalid launch of %u blocks of %u threads; use one block of at most 512 threads (32 or more for warps)",
        shape.blocks, shape.threads);
  }
  if ((parameters.target | parameters.source | parameters.size_bytes) % 4 != 0 || parameters.result % 8 != 0 ||
      parameters.result == 0) {
    return base::fail(EINVAL, "team: target, source and size must be multiples of 4, and result a valid address");
  }
  return {};
}

void run_on_host(const TeamParameters& parameters, LaunchShape) noexcept {
  auto* const result = reinterpret_cast<TeamResult*>(parameters.result);
  const TeamWork<shmem::ThreadGroup> work(parameters, shmem::thread());
  bool is_whole = work.run(parameters.untimed_rounds);
  const std::int64_t begin = now_ns();
  is_whole = is_whole && work.run(parameters.rounds);
  result->has_failed = is_whole ? 0 : 1;
  result->elapsed_ns = static_cast<std::uint64_t>(now_ns() - begin);
}

}  // namespace

base::Status GpuKernels::launch(const TeamParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::team>(parameters, shape, stream, check, run_on_host);
}

}  // namespace gdrkit::platform
