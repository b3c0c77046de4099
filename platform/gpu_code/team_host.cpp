// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host's part of the GPU kernel `team`.
#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/team_params.hpp"
#include "platform/gpu_code/team_work.cuh"

namespace gdrkit::platform {
namespace {

base::Status check(const TeamParameters& parameters, LaunchShape shape, unsigned) noexcept {
  constexpr unsigned warp = 32, most_team_threads = 512;
  if (parameters.operation > CollectiveOperation::reducescatter || parameters.scope > ShmemScope::block) {
    return base::fail(EINVAL, "cannot launch GPU kernel 'team': unknown operation or scope");
  }
  if (shape.blocks != 1 || shape.threads > most_team_threads ||
      (parameters.scope == ShmemScope::warp && shape.threads < warp)) {
    return base::fail(
        EINVAL,
        "cannot launch GPU kernel 'team': invalid shape of %u blocks of %u threads; use one block of 1 to 512 "
        "threads (scope 'warp': 32 to 512)",
        shape.blocks, shape.threads);
  }
  if ((parameters.target | parameters.source | parameters.size_bytes) % 4 != 0) {
    return base::fail(
        EINVAL, "cannot launch GPU kernel 'team': the target address, source address or size is not a multiple of 4");
  }
  if (parameters.result % 8 != 0 || parameters.result == 0) {
    return base::fail(EINVAL,
                      "cannot launch GPU kernel 'team': invalid address of the result; use a nonzero multiple of 8");
  }
  return {};
}

void play(const TeamParameters& parameters, LaunchShape) noexcept {
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
  return launch_any<GpuKernel::team>(parameters, shape, stream, check, play);
}

}  // namespace gdrkit::platform
