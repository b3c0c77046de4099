/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Constants and types of NVSHMEM's API, and the macros that define its functions. Included by nvshmem.h. */
#ifndef GDRKIT_COMPAT_NVSHMEM_BASE_H
#define GDRKIT_COMPAT_NVSHMEM_BASE_H

/* NVSHMEM's headers include these, so programs rely on them. Host programs also compile without CUDA's headers. */
#include <assert.h>
#include <errno.h>
#include <gdrkit/detail/shmem_private.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if !defined(GDRKIT_NVSHMEM_EXPORTS) && (defined(__CUDACC__) || __has_include(<cuda_runtime.h>))
#include <cuda.h>
#include <cuda_runtime.h>
#define GDRKIT_NVSHMEM_HAS_CUDA 1
#endif
#if defined(__cplusplus)
#include <string>
#if defined(GDRKIT_NVSHMEM_HAS_CUDA)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif
#endif

#if defined(__CUDACC__)
#include <cooperative_groups.h>
#include <gdrkit/shmem_collectives.cuh>
#include <gdrkit/shmem_device_words.cuh>
#include <gdrkit/shmem_state.cuh>

#include "nvshmem_gpu.cuh"
#endif

#include "nvshmem_status.h"

/* The same types as in CUDA's headers, which host programs do not need. */
typedef struct CUstream_st* cudaStream_t;
struct CUmod_st;
struct CUlib_st;

#define NVSHMEM_MAJOR_VERSION 1
#define NVSHMEM_MINOR_VERSION 3
#define NVSHMEM_VENDOR_MAJOR_VERSION 3
#define NVSHMEM_VENDOR_MINOR_VERSION 8
#define NVSHMEM_VENDOR_PATCH_VERSION 0
#define NVSHMEM_VENDOR_VERSION \
  (NVSHMEM_VENDOR_MAJOR_VERSION * 10000 + NVSHMEM_VENDOR_MINOR_VERSION * 100 + NVSHMEM_VENDOR_PATCH_VERSION)
#define NVSHMEM_VENDOR_STRING "gdrkit"
#define NVSHMEM_MAX_NAME_LEN 256

#define NVSHMEM_CMP_EQ 0
#define NVSHMEM_CMP_NE 1
#define NVSHMEM_CMP_GT 2
#define NVSHMEM_CMP_LE 3
#define NVSHMEM_CMP_LT 4
#define NVSHMEM_CMP_GE 5
#define NVSHMEM_SIGNAL_SET 9
#define NVSHMEM_SIGNAL_ADD 10

#define NVSHMEM_THREAD_SINGLE 0
#define NVSHMEM_THREAD_FUNNELED 1
#define NVSHMEM_THREAD_SERIALIZED 2
#define NVSHMEM_THREAD_MULTIPLE 3

#define NVSHMEM_PE_INVALID (-1)

typedef gdrkit_shmem_team_t nvshmem_team_t;
typedef nvshmem_team_t nvshmemx_team_t;
#define NVSHMEM_TEAM_INVALID GDRKIT_SHMEM_TEAM_INVALID
#define NVSHMEM_TEAM_WORLD GDRKIT_SHMEM_TEAM_WORLD
#define NVSHMEM_TEAM_SHARED GDRKIT_SHMEM_TEAM_SHARED
#define NVSHMEMX_TEAM_NODE GDRKIT_SHMEM_TEAM_NODE

/* GDRKIT_NVSHMEM_HOST declares a function for the CPU. shmem/nvshmem/functions.cpp defines GDRKIT_NVSHMEM_EXPORTS,
 * which makes libnvshmem_host.so.3 from these functions. */
#if defined(GDRKIT_NVSHMEM_EXPORTS)
#define GDRKIT_NVSHMEM_HOST extern "C" __attribute__((visibility("default")))
#else
#define GDRKIT_NVSHMEM_HOST static inline
#endif
/* GDRKIT_NVSHMEM_BOTH declares a function for the CPU and, with nvcc, for GPU kernels. GDRKIT_NVSHMEM_SPLIT(host,
 * device) selects its body. GDRKIT_NVSHMEM_GPU(...) declares a function for GPU kernels, with nvcc only. With nvcc they
 * are templates, so that nvcc compiles only the functions that a program uses. */
#if defined(__CUDACC__)
#define GDRKIT_NVSHMEM_BOTH      \
  template <int gdrkit_used = 0> \
  static __host__ __device__ inline
#define GDRKIT_NVSHMEM_GPU(...)  \
  template <int gdrkit_used = 0> \
  static __device__ inline __VA_ARGS__
#define GDRKIT_NVSHMEM_STATE ::gdrkit::shmem::detail::used_state<gdrkit_used>()
namespace gdrkit::shmem::detail {
template <int>
__device__ inline const State& used_state() {
  return state();
}
}  // namespace gdrkit::shmem::detail
#else
#define GDRKIT_NVSHMEM_BOTH GDRKIT_NVSHMEM_HOST
#define GDRKIT_NVSHMEM_GPU(...)
#endif
#if defined(__CUDA_ARCH__)
#define GDRKIT_NVSHMEM_SPLIT(host, device) device
#else
#define GDRKIT_NVSHMEM_SPLIT(host, device) host
#endif

/* Fails to compile with the message `why`. */
#if defined(__cplusplus)
#define GDRKIT_NVSHMEM_LACKS(why) ([] { static_assert(false, why); }())
#else
#define GDRKIT_NVSHMEM_LACKS(why) \
  ((void)sizeof(struct {          \
    int unused;                   \
    _Static_assert(0, why);       \
  }))
#endif

/* Prints why a function failed, and returns `result`. */
static inline int gdrkit_nvshmem_report(int result, const char* name) {
  char line[2304]; /* longer than any error message of the library */
  if (result >= 0) return result;
  /* One write(2): fprintf of glibc 2.37 and newer makes several, so the errors of two PEs would mix. */
  snprintf(line, sizeof line, "%s: %s\n", name, gdrkit_shmem_last_error());
  fputs(line, stderr);
  return result;
}
/* For functions that return a status. Clients of libnvshmem_host.so.3 get only the number, so it prints the reason. */
#if defined(GDRKIT_NVSHMEM_EXPORTS)
#define GDRKIT_NVSHMEM_RESULT(result) gdrkit_nvshmem_report(result, __func__)
#else
#define GDRKIT_NVSHMEM_RESULT(result) (result)
#endif
/* For functions that return void. If another PE has called nvshmem_global_exit, this process exits too. abort()
 * discards buffered output, so stdout is flushed first. */
static inline void gdrkit_nvshmem_check(int result, const char* name) {
  int status = 0;
  if (result >= 0) return;
  if (result == -ECONNRESET && gdrkit_shmem_announced_exit(&status) == 0) {
    fflush(NULL);
    _Exit(status);
  }
  gdrkit_nvshmem_report(result, name);
  fflush(stdout);
  abort();
}
/* For allocations of these headers, which do not set the library's error message. */
static inline void gdrkit_nvshmem_out_of_memory(const char* name) {
  char line[128];
  snprintf(line, sizeof line, "%s: out of memory\n", name);
  fputs(line, stderr);
  fflush(stdout);
  abort();
}
/* For functions that return a PE number. */
static inline int gdrkit_nvshmem_or_invalid(int result) { return result < 0 ? NVSHMEM_PE_INVALID : result; }

#define GDRKIT_NVSHMEM_CMP(comparison) GDRKIT_SHMEM_CAST(enum gdrkit_shmem_comparison, comparison)
#define GDRKIT_NVSHMEM_SIG(operation) GDRKIT_SHMEM_CAST(enum gdrkit_shmem_signal, operation)

/* Lists of types from which all typed functions are generated: X(name, type). */
/* clang-format off */
#if defined(__cplusplus) && (defined(GDRKIT_NVSHMEM_HAS_CUDA) || defined(GDRKIT_NVSHMEM_EXPORTS))
#define GDRKIT_NVSHMEM_HAS_HALF 1
#define GDRKIT_NVSHMEM_FOR_EACH_HALF(X) X(half, __half) X(bfloat16, __nv_bfloat16)
#else
#define GDRKIT_NVSHMEM_FOR_EACH_HALF(X)
#endif
#define GDRKIT_NVSHMEM_FOR_EACH_TYPE(X) GDRKIT_SHMEM_FOR_EACH_TYPE(X) GDRKIT_NVSHMEM_FOR_EACH_HALF(X)
/* Integers of 4 or 8 bytes, for waits and atomic updates. */
#define GDRKIT_NVSHMEM_FOR_EACH_WORD(X)                                                                     \
  X(int, int) X(uint, unsigned) X(long, long) X(ulong, unsigned long) X(longlong, long long)                \
  X(ulonglong, unsigned long long) X(int32, int32_t) X(uint32, uint32_t) X(int64, int64_t)                  \
  X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
/* Integers of 2 bytes, for waits, in addition to the words. */
#define GDRKIT_NVSHMEM_FOR_EACH_SHORT(X) X(short, short) X(ushort, unsigned short)
/* Integers of 1 or 2 bytes, for bitwise reductions, in addition to the words. */
#define GDRKIT_NVSHMEM_FOR_EACH_NARROW(X)                                                                   \
  X(uchar, unsigned char) X(ushort, unsigned short) X(int8, int8_t) X(uint8, uint8_t) X(int16, int16_t)     \
  X(uint16, uint16_t)
/* Sizes of elements in bits: X(bits). */
#define GDRKIT_NVSHMEM_FOR_EACH_SIZE(X) X(8) X(16) X(32) X(64) X(128)
/* clang-format on */

#endif
