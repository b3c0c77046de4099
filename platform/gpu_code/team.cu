// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// team: runs collectives called by a thread, a warp or a block of a GPU kernel, through gdrkit/shmem_collectives.cuh.
#include "platform/gpu_code/device_access.cuh"
#include "platform/gpu_code/team_params.hpp"
#include "platform/gpu_code/team_work.cuh"

namespace gdrkit::platform {

/// A thread, a warp or a block, selected at run time: one copy of the code for all three.
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
