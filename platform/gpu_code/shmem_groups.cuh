// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Runs ShmemWork in the groups of a grid and times it: for the GPU kernel `shmem` and for its variant with NVSHMEM.
#pragma once

#include "platform/gpu_code/device_access.cuh"
#include "platform/gpu_code/shmem_work.cuh"

namespace gdrkit::platform {

__device__ inline void raise_to(std::uint64_t* word, std::uint64_t value) {
  atomicMax(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(value));
}

template <class Library, class Group>
__device__ inline void run_shmem_group(const ShmemParameters& parameters, Group group, unsigned number) {
  auto* const result = reinterpret_cast<ShmemResult*>(parameters.result);
  ShmemWork<Library, Group> work(parameters, group, number);
  std::uint64_t begin = 0;
  std::uint64_t wrong = 0;
  std::uint64_t found = 0;  // the same in all threads of the group if a wait exceeded its limit
#pragma unroll 1            // the untimed and the timed rounds execute the same instructions
  for (unsigned part = 0; part < 2 && found != ~std::uint64_t{0}; ++part) {
    begin = clock_ns();
    found =
        work.run(part == 0 ? 0 : parameters.untimed_rounds, part == 0 ? parameters.untimed_rounds : parameters.rounds);
    wrong = found > wrong ? found : wrong;
  }
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
