// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// litmus: two PEs repeatedly write and read a few words at the same time, and count violations of gdrkit's memory model
// (docs/shmem-memory-model.md).
#include "platform/gpu_code/litmus_params.hpp"
#include "platform/gpu_code/litmus_work.cuh"

namespace gdrkit::platform {

__device__ inline void count(std::uint64_t address, std::uint64_t LitmusResult::*member, std::uint64_t value) {
  auto* const word = &(reinterpret_cast<LitmusResult*>(address)->*member);
  if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(value));
}

template <class Group>
__device__ inline void run_litmus(const LitmusParameters& parameters, Group group, unsigned instance) {
  const LitmusResult found = LitmusWork<Group>(parameters, group, instance).run();
  count(parameters.result, &LitmusResult::reads, found.reads);
  count(parameters.result, &LitmusResult::raced, found.raced);
  count(parameters.result, &LitmusResult::broken, found.broken);
  count(parameters.result, &LitmusResult::expired, found.expired);
}

extern "C" __global__ void gdrkit_litmus(const LitmusParameters parameters) {
  if (parameters.shape == LitmusShape::put_signal || parameters.shape == LitmusShape::store_buffering) {
    run_litmus(parameters, shmem::block(), blockIdx.x);
  } else {
    run_litmus(parameters, shmem::thread(), blockIdx.x * blockDim.x + threadIdx.x);
  }
}

}  // namespace gdrkit::platform
