// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host implementation of the GPU kernel `collective`.
#include "platform/gpu_code/collective_params.hpp"
#include "platform/gpu_code/collective_work.cuh"
#include "platform/gpu_code/host_access.hpp"

namespace gdrkit::platform {
namespace {

static_assert(static_cast<int>(CollectiveRoute::small) == static_cast<int>(shmem::detail::Route::small) &&
              static_cast<int>(CollectiveRoute::large) == static_cast<int>(shmem::detail::Route::large) &&
              static_cast<int>(CollectiveRoute::parts) == static_cast<int>(shmem::detail::Route::parts));

base::Status check(const CollectiveParameters& parameters, LaunchShape shape, unsigned) noexcept {
  constexpr unsigned most_threads_of_a_block = 512;
  const auto n_pes = static_cast<unsigned>(parameters.team.n_pes);
  if (parameters.operation > CollectiveOperation::reducescatter || parameters.route > CollectiveRoute::parts) {
    return base::fail(EINVAL, "collective: invalid operation or route");
  }
  if (parameters.team.n_pes < 1 || parameters.team.pe < 0 || parameters.team.pe >= parameters.team.n_pes ||
      parameters.root >= n_pes) {
    return base::fail(EINVAL, "collective: PE %d or root %u is out of range: the team has %d PEs", parameters.team.pe,
                      parameters.root, parameters.team.n_pes);
  }
  if (shape.threads > most_threads_of_a_block || shape.blocks > static_cast<unsigned>(parameters.team.lanes)) {
    return base::fail(EINVAL, "collective: %u blocks of %u threads exceed the maximum of %d blocks of %u threads",
                      shape.blocks, shape.threads, parameters.team.lanes, most_threads_of_a_block);
  }
  const bool is_broadcast = parameters.operation == CollectiveOperation::broadcast;
  const std::size_t most = shmem::detail::small_bytes(parameters.team.scratch_bytes, is_broadcast ? 1 : n_pes - 1);
  if (parameters.route == CollectiveRoute::small && parameters.size_bytes > most) {
    return base::fail(EINVAL, "collective: %llu bytes exceed the scratch memory of %zu bytes",
                      static_cast<unsigned long long>(parameters.size_bytes), most);
  }
  const bool has_parts = is_broadcast && n_pes > 2 && parameters.piece_bytes != 0 && parameters.piece_bytes % 16 == 0;
  if (parameters.route == CollectiveRoute::parts && !has_parts) {
    return base::fail(EINVAL,
                      "collective: the route parts requires a broadcast to 2 or more other PEs, and pieces of a "
                      "multiple of 16 bytes");
  }
  return {};
}

/// Runs the lanes one after the other. A lane waits for the same lane of other PEs; for their other lanes it waits only
/// until they have started.
void run_on_host(const CollectiveParameters& parameters, LaunchShape shape) noexcept {
  for (unsigned lane = 0; lane < shape.blocks; ++lane) {
    if (!run_collective(parameters, shmem::thread(), {lane, shape.blocks})) return;
  }
}

}  // namespace

base::Status GpuKernels::launch(const CollectiveParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::collective>(parameters, shape, stream, check, run_on_host);
}

}  // namespace gdrkit::platform
