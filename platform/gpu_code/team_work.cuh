// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The work of the GPU kernel `team`, shared by GPU threads and the host thread of the emulated device.
#pragma once

#include <gdrkit/shmem_collectives.cuh>

#include "platform/gpu_code/team_params.hpp"

namespace gdrkit::platform {

template <class Group>
class TeamWork {
 public:
  GDRKIT_SHMEM_FUNCTION TeamWork(const TeamParameters& parameters, Group group)
      : parameters_(parameters), group_(group) {}

  /// Returns false if a wait exceeded its limit.
  GDRKIT_SHMEM_FUNCTION bool run(std::uint32_t rounds) const {
    GDRKIT_SHMEM_ROLLED
    for (std::uint32_t round = 0; round < rounds; ++round) {
      if (!call()) return false;
    }
    return true;
  }

 private:
  GDRKIT_SHMEM_FUNCTION bool call() const {
    switch (parameters_.operation) {
      case CollectiveOperation::sync: return shmem::team_sync(parameters_.state, parameters_.team, group_);
      case CollectiveOperation::barrier: return shmem::team_barrier(parameters_.state, parameters_.team, group_);
      case CollectiveOperation::broadcast: return broadcast();
      case CollectiveOperation::fcollect: return fcollect();
      case CollectiveOperation::alltoall: return alltoall();
      case CollectiveOperation::reduce: return reduce();
      default: return reducescatter();
    }
  }

  // Out of line: inlined, they would make one function too large.
  GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION bool broadcast() const {
    return shmem::broadcast(parameters_.state, parameters_.team, target(), source(), parameters_.size_bytes,
                            static_cast<int>(parameters_.root), group_);
  }
  GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION bool fcollect() const {
    return shmem::fcollect(parameters_.state, parameters_.team, target(), source(), parameters_.size_bytes, group_);
  }
  GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION bool alltoall() const {
    return shmem::alltoall(parameters_.state, parameters_.team, target(), source(), parameters_.size_bytes, group_);
  }
  GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION bool reduce() const {
    return shmem::reduce<GDRKIT_SHMEM_SUM>(parameters_.state, parameters_.team, target(), source(), count(), group_);
  }
  GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION bool reducescatter() const {
    return shmem::reducescatter<GDRKIT_SHMEM_SUM>(parameters_.state, parameters_.team, target(), source(), count(),
                                                  group_);
  }
  GDRKIT_SHMEM_FUNCTION float* target() const { return reinterpret_cast<float*>(parameters_.target); }
  GDRKIT_SHMEM_FUNCTION const float* source() const { return reinterpret_cast<const float*>(parameters_.source); }
  GDRKIT_SHMEM_FUNCTION std::size_t count() const { return parameters_.size_bytes / sizeof(float); }

  const TeamParameters& parameters_;
  const Group group_;
};

}  // namespace gdrkit::platform
