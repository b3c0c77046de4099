// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What the GPU headers of gdrkit use of CUDA's headers, for clang without them: clang 19 rejects those of CUDA 13.
// Included on the command line of scripts/gpu_bitcode.py.
#pragma once

#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define __CUDACC__ 1
#define __CUDACC_RDC__ 1         // inline all functions: Triton's LLVM crashes on structs passed by value
#define __CUDACC_VER_MAJOR__ 13  // inline assembly may use PTX 8.6
#define __CUDACC_VER_MINOR__ 0

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
#include <__clang_cuda_builtin_vars.h>

#define GDRKIT_INTRINSIC static inline __attribute__((device, always_inline))
GDRKIT_INTRINSIC void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
GDRKIT_INTRINSIC int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
GDRKIT_INTRINSIC int __all_sync(unsigned mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
GDRKIT_INTRINSIC void __threadfence_system() { __nvvm_membar_sys(); }
__attribute__((const)) GDRKIT_INTRINSIC bool __isGlobal(const void* address) { return __nvvm_isspacep_global(address); }
GDRKIT_INTRINSIC unsigned long __cvta_generic_to_global(const void* address) {
  return (unsigned long)(const __attribute__((address_space(1))) void*)address;
}
// Triton's pointers are to global memory. A generic load takes longer than a global one.
#define GDRKIT_SHMEM_PLAIN_POINTER(type, address) ((type*)(__attribute__((address_space(1))) type*)(address))
extern "C" __attribute__((device)) inline void* memcpy(void* target, const void* source, unsigned long size) {
  return __builtin_memcpy(target, source, size);
}
