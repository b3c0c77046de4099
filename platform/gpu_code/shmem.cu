// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// shmem: one side of an operation between PEs, with the functions of gdrkit/shmem_device.cuh.
#include "platform/gpu_code/shmem_groups.cuh"
#include "platform/gpu_code/shmem_library.hpp"
#include "platform/gpu_code/shmem_params.hpp"

namespace gdrkit::platform {

// Uses all registers of 512 threads: with fewer, loads of reductions wait for each other.
extern "C" __global__ void __launch_bounds__(512, 1) gdrkit_shmem(const ShmemParameters parameters) {
  run_shmem<GdrkitShmem>(parameters);
}

}  // namespace gdrkit::platform
