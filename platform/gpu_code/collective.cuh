// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// collective: one PE's part of a collective of a team, by the functions of gdrkit/shmem_collectives.cuh.
#if defined(GDRKIT_GPU_KERNEL)
GDRKIT_GPU_KERNEL(collective, CollectiveParameters)

#elif defined(GDRKIT_GPU_PARAMETERS)
#include <gdrkit/detail/shmem_team.cuh>

#include <cstdint>

namespace gdrkit::platform {

enum class CollectiveOperation : std::uint32_t { sync, barrier, broadcast, fcollect, alltoall, reduce, reducescatter };
enum class CollectiveRoute : std::uint32_t { small, large, parts };  ///< shmem::detail::Route

/// The blocks are the lanes: all PEs launch as many, of as many threads.
struct CollectiveParameters {
  gdrkit_shmem_device_state state;
  shmem::TeamState team;
  std::uint64_t target;      ///< in the own heap, as the source
  std::uint64_t source;      ///< no overlap, but for what gdrkit/shmem_collectives.h names
  std::uint64_t size_bytes;  ///< of a part, where an operation has one for each PE
  std::uint64_t ticket;      ///< written to the team's report at the end; 0: none
  CollectiveOperation operation;
  CollectiveRoute route;
  std::uint32_t root;         ///< of broadcast
  std::uint32_t type;         ///< of reductions: gdrkit_shmem_type
  std::uint32_t reduction;    ///< gdrkit_shmem_reduction
  std::uint32_t piece_bytes;  ///< of the route parts: a multiple of 16
};

}  // namespace gdrkit::platform

#elif defined(GDRKIT_GPU_PART)
#include "platform/gpu_code/collective_work.cuh"

namespace gdrkit::platform {

extern "C" __global__ void __launch_bounds__(512, 1) gdrkit_collective(const CollectiveParameters parameters) {
  (void)run_collective(parameters, shmem::block(), {blockIdx.x, gridDim.x});
}

}  // namespace gdrkit::platform

#elif defined(GDRKIT_HOST_PART)
#include "platform/gpu_code/collective_work.cuh"
#include "platform/gpu_code/host_access.hpp"

namespace gdrkit::platform {

static_assert(static_cast<int>(CollectiveRoute::small) == static_cast<int>(shmem::detail::Route::small) &&
              static_cast<int>(CollectiveRoute::large) == static_cast<int>(shmem::detail::Route::large) &&
              static_cast<int>(CollectiveRoute::parts) == static_cast<int>(shmem::detail::Route::parts));

base::Status check(const CollectiveParameters& parameters, LaunchShape shape, unsigned) noexcept {
  constexpr unsigned most_threads_of_a_block = 512;
  const auto n_pes = static_cast<unsigned>(parameters.team.n_pes);
  if (parameters.operation > CollectiveOperation::reducescatter || parameters.route > CollectiveRoute::parts) {
    return base::fail(EINVAL, "collective: there is no such operation or route");
  }
  if (parameters.team.n_pes < 1 || parameters.team.pe < 0 || parameters.team.pe >= parameters.team.n_pes ||
      parameters.root >= n_pes) {
    return base::fail(EINVAL, "collective: PE %d or root %u of a team of %d", parameters.team.pe, parameters.root,
                      parameters.team.n_pes);
  }
  if (shape.threads > most_threads_of_a_block || shape.blocks > static_cast<unsigned>(parameters.team.lanes)) {
    return base::fail(EINVAL, "collective: %u blocks of %u threads; at most %d of %u", shape.blocks, shape.threads,
                      parameters.team.lanes, most_threads_of_a_block);
  }
  const bool is_broadcast = parameters.operation == CollectiveOperation::broadcast;
  const std::size_t most = shmem::detail::small_bytes(parameters.team.scratch_bytes, is_broadcast ? 1 : n_pes - 1);
  if (parameters.route == CollectiveRoute::small && parameters.size_bytes > most) {
    return base::fail(EINVAL, "collective: %llu bytes do not fit into the scratch memory: at most %zu",
                      static_cast<unsigned long long>(parameters.size_bytes), most);
  }
  const bool has_parts = is_broadcast && n_pes > 2 && parameters.piece_bytes != 0 && parameters.piece_bytes % 16 == 0;
  if (parameters.route == CollectiveRoute::parts && !has_parts) {
    return base::fail(EINVAL, "collective: only a broadcast to several goes in parts, of a multiple of 16 bytes");
  }
  return {};
}

/// One lane after the other: a lane waits for the same lane of other PEs, and for others no longer than they have
/// begun.
void play(const CollectiveParameters& parameters, LaunchShape shape) noexcept {
  for (unsigned lane = 0; lane < shape.blocks; ++lane) {
    if (!run_collective(parameters, shmem::thread(), {lane, shape.blocks})) return;
  }
}

}  // namespace gdrkit::platform

#else
#error "gpu_kernels.def chooses a part of this file"
#endif
