// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// One GPU kernel for each operation. BOUNDS is empty or __launch_bounds__(1024). registers_test.py reads how many
// registers each needs.
#include <nvshmem.h>
#include <nvshmemx.h>

#define OPERATION(name, call) \
  __global__ void BOUNDS use_##name(float* to, const float* from, uint64_t* signal, size_t count, int pe) { call; }
OPERATION(p, nvshmem_float_p(to, 1, pe))
OPERATION(g, *to = nvshmem_float_g(from, pe))
OPERATION(put, nvshmem_float_put(to, from, count, pe))
OPERATION(put_warp, nvshmemx_float_put_warp(to, from, count, pe))
OPERATION(put_block, nvshmemx_float_put_block(to, from, count, pe))
OPERATION(put_nbi, nvshmem_float_put_nbi(to, from, count, pe))
OPERATION(get, nvshmem_float_get(to, from, count, pe))
OPERATION(get_warp, nvshmemx_float_get_warp(to, from, count, pe))
OPERATION(get_block, nvshmemx_float_get_block(to, from, count, pe))
OPERATION(put_signal, nvshmem_float_put_signal_nbi(to, from, count, signal, 1, NVSHMEM_SIGNAL_SET, pe))
OPERATION(put_signal_warp, nvshmemx_float_put_signal_nbi_warp(to, from, count, signal, 1, NVSHMEM_SIGNAL_SET, pe))
OPERATION(put_signal_block, nvshmemx_float_put_signal_nbi_block(to, from, count, signal, 1, NVSHMEM_SIGNAL_SET, pe))
OPERATION(signal_op, nvshmemx_signal_op(signal, 1, NVSHMEM_SIGNAL_ADD, pe))
OPERATION(wait, nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, 1))
OPERATION(atomic_add, nvshmem_uint64_atomic_add(signal, 1, pe))
OPERATION(fetch_add, *signal = nvshmem_uint64_atomic_fetch_add(signal, 1, pe))
OPERATION(fence, nvshmem_fence())
OPERATION(quiet, nvshmem_quiet())
OPERATION(barrier, nvshmem_barrier_all())
OPERATION(barrier_block, nvshmemx_barrier_all_block())
OPERATION(sync_block, nvshmemx_sync_all_block())
OPERATION(broadcast_block, nvshmemx_float_broadcast_block(NVSHMEM_TEAM_WORLD, to, from, count, pe))
OPERATION(fcollect_block, nvshmemx_float_fcollect_block(NVSHMEM_TEAM_WORLD, to, from, count))
OPERATION(alltoall_block, nvshmemx_float_alltoall_block(NVSHMEM_TEAM_WORLD, to, from, count))
OPERATION(reduce_block, nvshmemx_float_sum_reduce_block(NVSHMEM_TEAM_WORLD, to, from, count))
OPERATION(reducescatter_block, nvshmemx_float_sum_reducescatter_block(NVSHMEM_TEAM_WORLD, to, from, count))

// Tiles of `count` rows of 64 elements.
__host__ __device__ constexpr auto tile(const float* data, size_t count) {
  const int rows = static_cast<int>(count);
  return nvshmemx::Tensor(const_cast<float*>(data), nvshmemx::make_layout(nvshmemx::make_shape(rows, ConstInt<64>()),
                                                                          nvshmemx::make_stride(rows, ConstInt<1>())));
}
using Tile = decltype(tile(nullptr, 0));
using Ends = nvshmemx::shape<int, int>;
#define TILE(name, algorithm) nvshmemx::name<Tile, Tile, Ends, nvshmemx::algorithm>
#define TILES tile(from, count), tile(to, count), Ends(pe, 8), Ends(100, pe)
OPERATION(tile_put_block, (TILE(tile_put_block, PEER_PUSH_NBI)(TILES, pe, 0)))
OPERATION(tile_get_block, (TILE(tile_get_block, PEER_PULL_NBI)(TILES, pe, 0)))
OPERATION(tile_broadcast_block, (TILE(tile_broadcast_block, NVLS_ONE_SHOT_PUSH_NBI)(NVSHMEM_TEAM_WORLD, TILES, 0)))
OPERATION(tile_allgather_block, (TILE(tile_allgather_block, NVLS_ONE_SHOT_PUSH_NBI)(NVSHMEM_TEAM_WORLD, TILES, 0)))
OPERATION(tile_pull_block, (TILE(tile_sum_reduce_block, NVLS_ONE_SHOT_PULL_NBI)(NVSHMEM_TEAM_WORLD, TILES, 0)))
OPERATION(tile_push_block, (TILE(tile_sum_reduce_block, NVLS_TWO_SHOT_PUSH_NBI)(NVSHMEM_TEAM_WORLD, TILES, pe, 0)))
OPERATION(tile_wait_block, nvshmemx::tile_collective_wait_block<nvshmemx::NVLS_ONE_SHOT_PUSH_NBI>(0, 0))
