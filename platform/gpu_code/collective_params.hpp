// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `collective`, for the GPU and the CPU.
#pragma once

#include <gdrkit/detail/shmem_team.cuh>

#include <cstdint>

namespace gdrkit::platform {

enum class CollectiveOperation : std::uint32_t { sync, barrier, broadcast, fcollect, alltoall, reduce, reducescatter };
enum class CollectiveRoute : std::uint32_t { small, large, parts, shares };  ///< shmem::detail::Route

/// The blocks are the lanes: all PEs launch the same number, with the same number of threads.
struct CollectiveParameters {
  gdrkit_shmem_device_state state;
  shmem::TeamState team;
  std::uint64_t target;      ///< in this PE's heap, like the source
  std::uint64_t source;      ///< no overlap, except where gdrkit/shmem_collectives.h allows it
  std::uint64_t size_bytes;  ///< of a part, if an operation has one for each PE
  std::uint64_t ticket;      ///< written to the team's report at the end; 0: none
  CollectiveOperation operation;
  CollectiveRoute route;
  std::uint32_t root;         ///< for broadcast
  std::uint32_t type;         ///< for reductions: gdrkit_shmem_type
  std::uint32_t reduction;    ///< gdrkit_shmem_reduction
  std::uint32_t piece_bytes;  ///< for the route parts: a multiple of 16
};

}  // namespace gdrkit::platform
