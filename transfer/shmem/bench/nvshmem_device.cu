// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The GPU kernel `shmem` over NVSHMEM's device API instead of gdrkit's, for `gdrkit shmem bench --peer nvshmem`. Built
// by nvcc where an NVSHMEM is (GDRKIT_NVSHMEM) and linked with its device library; bench's NVSHMEM processes load it.
#include <nvshmem.h>
#include <nvshmemx.h>

#include "platform/gpu_code/shmem_groups.cuh"

namespace gdrkit::transfer::shmem {
namespace {

using gdrkit::shmem::BlockGroup;
using gdrkit::shmem::ThreadGroup;
using gdrkit::shmem::WarpGroup;

/// What ShmemWork calls. The state is gdrkit's and not used.
struct NvshmemDevice {
  using State = gdrkit::shmem::State;

  static __device__ void put_nbi(const State&, void* to, const void* from, std::size_t bytes, int pe, ThreadGroup) {
    nvshmem_putmem_nbi(to, from, bytes, pe);
  }
  static __device__ void put_nbi(const State&, void* to, const void* from, std::size_t bytes, int pe, WarpGroup) {
    nvshmemx_putmem_nbi_warp(to, from, bytes, pe);
  }
  static __device__ void put_nbi(const State&, void* to, const void* from, std::size_t bytes, int pe, BlockGroup) {
    nvshmemx_putmem_nbi_block(to, from, bytes, pe);
  }

  static __device__ void get(const State&, void* to, const void* from, std::size_t bytes, int pe, ThreadGroup) {
    nvshmem_getmem(to, from, bytes, pe);
  }
  static __device__ void get(const State&, void* to, const void* from, std::size_t bytes, int pe, WarpGroup) {
    nvshmemx_getmem_warp(to, from, bytes, pe);
  }
  static __device__ void get(const State&, void* to, const void* from, std::size_t bytes, int pe, BlockGroup) {
    nvshmemx_getmem_block(to, from, bytes, pe);
  }

  static __device__ void put_signal(const State&, void* to, const void* from, std::size_t bytes, std::uint64_t* signal,
                                    std::uint64_t value, int pe, ThreadGroup) {
    nvshmem_putmem_signal(to, from, bytes, signal, value, NVSHMEM_SIGNAL_SET, pe);
  }
  static __device__ void put_signal(const State&, void* to, const void* from, std::size_t bytes, std::uint64_t* signal,
                                    std::uint64_t value, int pe, WarpGroup) {
    nvshmemx_putmem_signal_warp(to, from, bytes, signal, value, NVSHMEM_SIGNAL_SET, pe);
  }
  static __device__ void put_signal(const State&, void* to, const void* from, std::size_t bytes, std::uint64_t* signal,
                                    std::uint64_t value, int pe, BlockGroup) {
    nvshmemx_putmem_signal_block(to, from, bytes, signal, value, NVSHMEM_SIGNAL_SET, pe);
  }
  static __device__ void signal_set(const State&, std::uint64_t* signal, std::uint64_t value, int pe) {
    nvshmemx_signal_op(signal, value, NVSHMEM_SIGNAL_SET, pe);
  }
  /// NVSHMEM has no limit for a wait; bench ends a process that does not reply.
  static __device__ bool wait(const State&, std::uint64_t* signal, std::uint64_t value) {
    nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, value);
    return true;
  }

  static __device__ void p(const State&, std::uint64_t* to, std::uint64_t value, int pe) {
    nvshmem_uint64_p(to, value, pe);
  }
  static __device__ std::uint64_t g(const State&, const std::uint64_t* from, int pe) {
    return nvshmem_uint64_g(from, pe);
  }
  static __device__ void atomic_add(const State&, std::uint64_t* word, std::uint64_t value, int pe) {
    nvshmem_uint64_atomic_add(word, value, pe);
  }
  static __device__ std::uint64_t atomic_fetch_add(const State&, std::uint64_t* word, std::uint64_t value, int pe) {
    return nvshmem_uint64_atomic_fetch_add(word, value, pe);
  }
  static __device__ std::uint64_t atomic_compare_swap(const State&, std::uint64_t* word, std::uint64_t compare,
                                                      std::uint64_t value, int pe) {
    return nvshmem_uint64_atomic_compare_swap(word, compare, value, pe);
  }
  static __device__ void quiet(const State&) { nvshmem_quiet(); }

  static __device__ bool barrier_all(const State&, ThreadGroup) {
    nvshmem_barrier_all();
    return true;
  }
  static __device__ bool barrier_all(const State&, WarpGroup) {
    nvshmemx_barrier_all_warp();
    return true;
  }
  static __device__ bool barrier_all(const State&, BlockGroup) {
    nvshmemx_barrier_all_block();
    return true;
  }
  static __device__ bool sync_all(const State&, ThreadGroup) {
    nvshmem_sync_all();
    return true;
  }
  static __device__ bool sync_all(const State&, WarpGroup) {
    nvshmemx_sync_all_warp();
    return true;
  }
  static __device__ bool sync_all(const State&, BlockGroup) {
    nvshmemx_sync_all_block();
    return true;
  }

  static __device__ bool broadcast(const State&, void* to, const void* from, std::size_t bytes, BlockGroup) {
    return nvshmemx_char_broadcast_block(NVSHMEM_TEAM_WORLD, static_cast<char*>(to), static_cast<const char*>(from),
                                         bytes, 0) == 0;
  }
  static __device__ bool fcollect(const State&, void* to, const void* from, std::size_t bytes, BlockGroup) {
    return nvshmemx_fcollectmem_block(NVSHMEM_TEAM_WORLD, to, from, bytes) == 0;
  }
  static __device__ bool alltoall(const State&, void* to, const void* from, std::size_t bytes, BlockGroup) {
    return nvshmemx_alltoallmem_block(NVSHMEM_TEAM_WORLD, to, from, bytes) == 0;
  }
  static __device__ bool reduce(const State&, float* to, const float* from, std::size_t count, BlockGroup) {
    return nvshmemx_float_sum_reduce_block(NVSHMEM_TEAM_WORLD, to, from, count) == 0;
  }
  static __device__ bool reducescatter(const State&, float* to, const float* from, std::size_t count, BlockGroup) {
    return nvshmemx_float_sum_reducescatter_block(NVSHMEM_TEAM_WORLD, to, from, count) == 0;
  }
};

}  // namespace

// As many threads as bench's largest block has (device_batch.cpp): NVSHMEM's collectives would take more registers than
// are left for that many.
extern "C" __global__ void __launch_bounds__(512) gdrkit_nvshmem(const platform::ShmemParameters parameters) {
  platform::run_shmem<NvshmemDevice>(parameters);
}

}  // namespace gdrkit::transfer::shmem
