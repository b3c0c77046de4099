// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `collective`, for the GPU and the CPU.
#pragma once

#include <gdrkit/detail/shmem_team.cuh>

#include <cstdint>

namespace gdrkit::platform {

enum class CollectiveOperation : std::uint32_t { sync, barrier, broadcast, fcollect, alltoall, reduce, reducescatter };
enum class CollectiveRoute : std::uint32_t { small, large, parts };  ///< as shmem::detail::Route

/// Each block is a lane. All PEs must launch the same number of blocks and threads.
struct CollectiveParameters {
  gdrkit_shmem_device_state state;
  shmem::TeamState team;
  std::uint64_t target;      ///< in this PE's heap, like `source`
  std::uint64_t source;      ///< must not overlap, except as gdrkit/shmem_collectives.h allows
  std::uint64_t size_bytes;  ///< per PE for operations with one part per PE
  std::uint64_t ticket;      ///< stored in the team's report at the end; 0: not stored
  CollectiveOperation operation;
  CollectiveRoute route;
  std::uint32_t root;         ///< for broadcast
  std::uint32_t type;         ///< for reductions: gdrkit_shmem_type
  std::uint32_t reduction;    ///< gdrkit_shmem_reduction
  std::uint32_t piece_bytes;  ///< for the route parts: a multiple of 16
};

}  // namespace gdrkit::platform
