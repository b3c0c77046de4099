// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// shmem: one side of an operation between PEs, by the functions of gdrkit/shmem_device.cuh.
#if defined(GDRKIT_GPU_KERNEL)
GDRKIT_GPU_KERNEL(shmem, ShmemParameters)

#elif defined(GDRKIT_GPU_PARAMETERS)
#include <gdrkit/shmem.h>

#include <cstdint>

namespace gdrkit::platform {

enum class ShmemOperation : std::uint32_t { put, get, put_value, ping_pong, barrier };
enum class ShmemScope : std::uint32_t { thread, warp, block };

struct ShmemResult {
  std::uint64_t elapsed_ns;  ///< of all rounds, by the clock of the GPU, seen by the first block
  std::uint64_t wrong;       ///< words of data, all blocks together; ~0: a wait exceeded its limit
};

/// `rounds` times the operation with PE `peer`, by the first group of each block. Blocks share the bytes of put and
/// get; ping_pong and barrier have one block.
struct ShmemParameters {
  gdrkit_shmem_device_state state;
  std::uint64_t target;      ///< a multiple of 8; in the own heap: of puts the other PE's copy, of gets the own
  std::uint64_t source;      ///< likewise
  std::uint64_t size_bytes;  ///< of each block; of ping_pong a multiple of 8
  std::uint64_t signal;      ///< of ping_pong: a word that holds 0 on both PEs
  std::uint64_t result;      ///< ShmemResult, zeroed
  ShmemOperation operation;
  ShmemScope scope;
  std::uint32_t rounds;
  std::uint32_t peer;
  std::uint32_t completes_each;  ///< of puts: quiet after each round, else after the last
  std::uint32_t unused;
};

}  // namespace gdrkit::platform

#elif defined(GDRKIT_GPU_PART)
#include "platform/gpu_code/device_access.cuh"
#include "platform/gpu_code/shmem_work.hpp"

namespace gdrkit::platform {

template <class Group>
__device__ inline void run_shmem(ShmemParameters parameters, Group group) {
  parameters.target += parameters.size_bytes * blockIdx.x;
  parameters.source += parameters.size_bytes * blockIdx.x;
  auto* const result = reinterpret_cast<ShmemResult*>(parameters.result);
  const std::uint64_t begin = clock_ns();
  const std::uint64_t wrong = ShmemWork<Group>(parameters, group).run();
  if (wrong != 0) atomicMax(reinterpret_cast<unsigned long long*>(&result->wrong), wrong);
  if (blockIdx.x == 0 && group.rank() == 0) result->elapsed_ns = clock_ns() - begin;
}

extern "C" __global__ void gdrkit_shmem(const ShmemParameters parameters) {
  switch (parameters.scope) {
    case ShmemScope::thread:
      if (threadIdx.x == 0) run_shmem(parameters, shmem::thread());
      break;
    case ShmemScope::warp:
      if (threadIdx.x < 32) run_shmem(parameters, shmem::warp());
      break;
    default: run_shmem(parameters, shmem::block());
  }
}

}  // namespace gdrkit::platform

#elif defined(GDRKIT_HOST_PART)
#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/shmem_work.hpp"

namespace gdrkit::platform {

base::Status check(const ShmemParameters& parameters, LaunchShape shape, unsigned) noexcept {
  const bool is_alone =
      parameters.operation == ShmemOperation::ping_pong || parameters.operation == ShmemOperation::barrier;
  if (parameters.operation > ShmemOperation::barrier || parameters.scope > ShmemScope::block) {
    return base::fail(EINVAL, "shmem: there is no such operation or scope");
  }
  if (is_alone && shape.blocks != 1) return base::fail(EINVAL, "shmem: %u blocks where one is needed", shape.blocks);
  if (parameters.scope == ShmemScope::warp && shape.threads < 32) {
    return base::fail(EINVAL, "shmem: a warp has 32 threads, the block %u", shape.threads);
  }
  if (parameters.target % 8 != 0 || parameters.source % 8 != 0 || parameters.signal % 8 != 0 ||
      parameters.result % 8 != 0 || parameters.result == 0) {
    return base::fail(EINVAL, "shmem: addresses must be multiples of 8");
  }
  if (parameters.peer >= static_cast<std::uint32_t>(parameters.state.n_pes)) {
    return base::fail(EINVAL, "shmem: there is no PE %u", parameters.peer);
  }
  return {};
}

void play(const ShmemParameters& parameters, LaunchShape shape) noexcept {
  auto* const result = reinterpret_cast<ShmemResult*>(parameters.result);
  const std::int64_t begin = now_ns();
  ShmemParameters part = parameters;
  for (unsigned block = 0; block < shape.blocks; ++block) {
    const std::uint64_t wrong = ShmemWork<shmem::ThreadGroup>(part, shmem::thread()).run();
    if (wrong > result->wrong) result->wrong = wrong;
    part.target += parameters.size_bytes;
    part.source += parameters.size_bytes;
  }
  result->elapsed_ns = static_cast<std::uint64_t>(now_ns() - begin);
}

}  // namespace gdrkit::platform

#else
#error "gpu_kernels.def chooses a part of this file"
#endif
