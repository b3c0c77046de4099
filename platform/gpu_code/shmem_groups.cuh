// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Which groups of a grid do ShmemWork, and their times: of the GPU kernel `shmem` and of the same one over NVSHMEM.
#pragma once

#include "platform/gpu_code/device_access.cuh"
#include "platform/gpu_code/shmem_work.hpp"

namespace gdrkit::platform {

__device__ inline void raise_to(std::uint64_t* word, std::uint64_t value) {
  atomicMax(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(value));
}

template <class Library, class Group>
__device__ inline void run_shmem_group(const ShmemParameters& parameters, Group group, unsigned number) {
  auto* const result = reinterpret_cast<ShmemResult*>(parameters.result);
  const std::uint64_t begin = clock_ns();
  const std::uint64_t wrong = ShmemWork<Library, Group>(parameters, group, number).run();
  const std::uint64_t end = clock_ns();
  if (wrong != 0) raise_to(&result->wrong, wrong);
  if (group.rank() == 0) {
    raise_to(&result->begin_inverted_ns, ~begin);
    raise_to(&result->end_ns, end);
  }
}

template <class Library>
__device__ inline void run_shmem(const ShmemParameters& parameters) {
  constexpr unsigned warp_threads = 32;
  const bool has_every_group = parameters.has_every_group != 0;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  switch (parameters.scope) {
    case ShmemScope::thread:
      if (has_every_group || threadIdx.x == 0) {
        run_shmem_group<Library>(parameters, shmem::thread(), has_every_group ? thread : blockIdx.x);
      }
      break;
    case ShmemScope::warp:
      if (has_every_group || threadIdx.x < warp_threads) {
        run_shmem_group<Library>(parameters, shmem::warp(), has_every_group ? thread / warp_threads : blockIdx.x);
      }
      break;
    default: run_shmem_group<Library>(parameters, shmem::block(), blockIdx.x);
  }
}

}  // namespace gdrkit::platform
