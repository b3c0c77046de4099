// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The second file of nvshmem_families.cu, with its own copy of the state.
#include <nvshmem.h>

namespace {

__global__ void other(int* target) {
  nvshmem_int_p(target, 4242 + nvshmem_my_pe(), (nvshmem_my_pe() + 1) % nvshmem_n_pes());
}

}  // namespace

void launch_other(int* target, cudaStream_t stream) { other<<<1, 1, 0, stream>>>(target); }
