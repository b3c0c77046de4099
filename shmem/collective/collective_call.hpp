// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CollectiveCall: the arguments of a collective function.
#pragma once

#include <cstdint>

#include "gdrkit/shmem.h"
#include "platform/gpu_code/collective_params.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"

namespace gdrkit::shmem_impl::collective {

using Team = gdrkit_shmem_team_t;

using platform::CollectiveOperation;

/// The fields have the meaning of the parameters in gdrkit/shmem_collectives.h.
struct CollectiveCall {
  CollectiveOperation operation = CollectiveOperation::sync;
  Team team = GDRKIT_SHMEM_TEAM_WORLD;
  void* target = nullptr;
  const void* source = nullptr;
  std::uint64_t size_bytes = 0;  ///< size of one PE's part, for operations with a part per PE
  int root = 0;
  gdrkit_shmem_type type = GDRKIT_SHMEM_TYPE_UINT8;  ///< for reductions only
  gdrkit_shmem_reduction reduction = GDRKIT_SHMEM_SUM;
};

struct Teams2d {
  Team x = GDRKIT_SHMEM_TEAM_INVALID;
  Team y = GDRKIT_SHMEM_TEAM_INVALID;
};

}  // namespace gdrkit::shmem_impl::collective
