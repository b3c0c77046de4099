// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// shmem: runs one side of an operation between PEs through gdrkit/shmem_device.cuh.
#include "platform/gpu_code/shmem_groups.cuh"
#include "platform/gpu_code/shmem_library.hpp"
#include "platform/gpu_code/shmem_params.hpp"

namespace gdrkit::platform {

// Allows all registers that 512 threads can use: with fewer, loads of reductions wait for each other.
extern "C" __global__ void __launch_bounds__(512, 1) gdrkit_shmem(const ShmemParameters parameters) {
  run_shmem<GdrkitShmem>(parameters);
}

}  // namespace gdrkit::platform
