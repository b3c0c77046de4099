// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// team: collectives called by a thread, a warp or a block of a GPU kernel, by gdrkit/shmem_collectives.cuh.
#if defined(GDRKIT_GPU_KERNEL)
GDRKIT_GPU_KERNEL(team, TeamParameters)

#elif defined(GDRKIT_GPU_PARAMETERS)
#include <gdrkit/shmem_collectives.h>

#include <cstdint>

namespace gdrkit::platform {

struct TeamResult {
  std::uint64_t elapsed_ns;  ///< of the rounds that are timed
  std::uint64_t has_failed;  ///< not 0: a wait exceeded its limit
};

/// `rounds` times the operation, by the first group of one block; reductions are sums of floats.
struct TeamParameters {
  gdrkit_shmem_device_state state;
  std::uint64_t target;  ///< a multiple of 4, as source and size
  std::uint64_t source;
  std::uint64_t size_bytes;  ///< of a part, where an operation has one for each PE
  std::uint64_t result;      ///< TeamResult, zeroed
  std::int32_t team;
  CollectiveOperation operation;
  ShmemScope scope;
  std::uint32_t rounds;
  std::uint32_t root;
  std::uint32_t untimed_rounds;  ///< before the others: PEs meet in them, and instructions are fetched
};

}  // namespace gdrkit::platform

#elif defined(GDRKIT_GPU_PART)
#include "platform/gpu_code/device_access.cuh"
#include "platform/gpu_code/team_work.cuh"

namespace gdrkit::platform {

/// A thread, a warp or a block, chosen when the GPU kernel runs: one copy of the code for all three.
class AnyGroup {
 public:
  __device__ explicit AnyGroup(ShmemScope scope) : scope_(scope) {}

  __device__ unsigned rank() const {
    return scope_ == ShmemScope::thread ? 0 : scope_ == ShmemScope::warp ? shmem::warp().rank() : shmem::block().rank();
  }
  __device__ unsigned size() const {
    return scope_ == ShmemScope::thread ? 1 : scope_ == ShmemScope::warp ? shmem::warp().size() : shmem::block().size();
  }
  __device__ void sync() const {
    if (scope_ == ShmemScope::warp) shmem::warp().sync();
    if (scope_ == ShmemScope::block) shmem::block().sync();
  }
  __device__ bool all(bool is_so) const {
    if (scope_ == ShmemScope::warp) return shmem::warp().all(is_so);
    return scope_ == ShmemScope::block ? shmem::block().all(is_so) : is_so;
  }

 private:
  ShmemScope scope_;
};

extern "C" __global__ void __launch_bounds__(512, 1) gdrkit_team(const TeamParameters parameters) {
  constexpr unsigned warp_threads = 32;
  if (parameters.scope == ShmemScope::thread && threadIdx.x != 0) return;
  if (parameters.scope == ShmemScope::warp && threadIdx.x >= warp_threads) return;
  auto* const result = reinterpret_cast<TeamResult*>(parameters.result);
  const AnyGroup group(parameters.scope);
  const TeamWork<AnyGroup> work(parameters, group);
  bool is_whole = work.run(parameters.untimed_rounds);
  const std::uint64_t begin = clock_ns();
  is_whole = is_whole && work.run(parameters.rounds);
  if (group.rank() != 0) return;
  result->elapsed_ns = clock_ns() - begin;
  result->has_failed = is_whole ? 0 : 1;
}

}  // namespace gdrkit::platform

#elif defined(GDRKIT_HOST_PART)
#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/team_work.cuh"

namespace gdrkit::platform {

base::Status check(const TeamParameters& parameters, LaunchShape shape, unsigned) noexcept {
  constexpr unsigned warp = 32, most_team_threads = 512;
  if (parameters.operation > CollectiveOperation::reducescatter || parameters.scope > ShmemScope::block) {
    return base::fail(EINVAL, "team: there is no such operation or scope");
  }
  if (shape.blocks != 1 || shape.threads > most_team_threads ||
      (parameters.scope == ShmemScope::warp && shape.threads < warp)) {
    return base::fail(EINVAL, "team: %u blocks of %u threads; it takes one block of at most 512, and a warp has 32",
                      shape.blocks, shape.threads);
  }
  if ((parameters.target | parameters.source | parameters.size_bytes) % 4 != 0 || parameters.result % 8 != 0 ||
      parameters.result == 0) {
    return base::fail(EINVAL, "team: target, source or size is no multiple of 4, or there is no result");
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

}  // namespace gdrkit::platform

#else
#error "gpu_kernels.def chooses a part of this file"
#endif
