// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How a collective of a given size runs on the GPUs: by which route, and by how many blocks. All thresholds are here.
#pragma once

#include <cstdint>

#include "platform/gpu_code/collective_params.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "shmem/collective/checked_call.hpp"

namespace gdrkit::shmem_impl::collective {

struct Plan {
  platform::CollectiveRoute route = platform::CollectiveRoute::small;
  platform::LaunchShape shape;
  std::uint32_t piece_bytes = 0;  ///< of the route parts
};

/// For groups of threads in GPU kernels.
[[nodiscard]] shmem::GroupLimits group_limits(int n_pes, std::uint64_t scratch_bytes) noexcept;

/// Depends on nothing that may differ between the PEs of a team.
[[nodiscard]] Plan plan_collective(CollectiveOperation operation, std::uint64_t size_bytes,
                                   const shmem::TeamState& team) noexcept;

}  // namespace gdrkit::shmem_impl::collective
