// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// collective: runs one PE's part of a team collective through gdrkit/shmem_collectives.cuh.
#include "platform/gpu_code/collective_params.hpp"
#include "platform/gpu_code/collective_work.cuh"

namespace gdrkit::platform {

extern "C" __global__ void __launch_bounds__(512, 1) gdrkit_collective(const CollectiveParameters parameters) {
  (void)run_collective(parameters, shmem::block(), {blockIdx.x, gridDim.x});
}

}  // namespace gdrkit::platform
