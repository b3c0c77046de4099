// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A module with NVSHMEM's device library, for device_library.cu.
#include <nvshmem.h>
#include <nvshmemx.h>

extern "C" __global__ void exchange(int* target, int* errors) {
  const int pe = nvshmem_my_pe(), other = 1 - pe;
  if (threadIdx.x == 0) nvshmem_int_p(target, 70 + pe, other);
  nvshmemx_barrier_all_block();
  if (threadIdx.x == 0 && *target != 70 + other) atomicAdd(errors, 1);
}
