// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What nvshmem_families.cpp does from the CPU, in GPU kernels: by a thread, a warp, a warp group and a block, between
// neighbours. Also what only this program does: a launch of too many blocks, and a second file of GPU code without
// relocatable device code. Prints "PE n of m: ok".
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdio>

// In nvshmem_families_other.cu.
void launch_other(int* target, cudaStream_t stream);

namespace {

struct Objects {
  char* heap;  // 64 KiB of zeros
  int* line;   // of the first check that failed
};

#define DEMAND(condition) \
  if (!(condition)) atomicCAS(o.line, 0, __LINE__)

template <class T>
__device__ T* at(Objects o, int offset) {
  return reinterpret_cast<T*>(o.heap + offset);
}

__global__ void by_thread(Objects o) {
  const int pe = nvshmem_my_pe(), n = nvshmem_n_pes(), next = (pe + 1) % n, before = (pe + n - 1) % n;
  // Strided elements.
  auto* const shorts = at<short>(o, 0);
  for (short i = 0; i < 12; ++i) shorts[i] = static_cast<short>(50 * pe + i);
  nvshmem_barrier_all();
  nvshmem_iput16(at<short>(o, 256), shorts, 3, 2, 5, next);
  short gathered[6];
  nvshmem_short_iget(gathered, shorts, 1, 2, 6, next);
  DEMAND(gathered[5] == 50 * next + 10);
  nvshmem_barrier_all();
  DEMAND(at<short>(o, 256)[12] == 50 * before + 8 && at<short>(o, 256)[11] == 0);
  // Waits for words of 2 bytes that do not begin at a multiple of 4.
  auto* const words = at<short>(o, 514);
  for (short i = 0; i < 3; ++i) nvshmem_short_p(words + i, static_cast<short>(-7 - i), next);
  nvshmem_short_wait_until(words + 2, NVSHMEM_CMP_EQ, -9);
  nvshmem_short_wait_until_all(words, 3, nullptr, NVSHMEM_CMP_LT, 0);
  DEMAND(nvshmem_short_test_any(words, 3, nullptr, NVSHMEM_CMP_EQ, -8) == 1);
  DEMAND(nvshmem_short_test(words, NVSHMEM_CMP_GE, 0) == 0);
  // Every word holds: each must be found.
  unsigned found = 0;
  for (int i = 0; i < 10000 && found != 7; ++i)
    found |= 1U << nvshmem_short_test_any(words, 3, nullptr, NVSHMEM_CMP_LT, 0);
  DEMAND(found == 7);
  // Sums of floating-point words.
  nvshmemx_float_atomic_add(at<float>(o, 1024), 1.5F, 0);
  nvshmemx_double_atomic_add(at<double>(o, 1032), 0.25, 0);
  nvshmemx_half_atomic_add(at<__half>(o, 1042), __float2half(0.5F), 0);
  DEMAND(nvshmem_float_atomic_swap(at<float>(o, 1044), 2.5F, next) == 0.0F);
  nvshmem_barrier_all();
  DEMAND(nvshmem_float_g(at<float>(o, 1044), pe) == 2.5F);
  DEMAND(nvshmem_float_atomic_fetch(at<float>(o, 1024), 0) == 1.5F * n);
  DEMAND(nvshmem_double_atomic_fetch(at<double>(o, 1032), 0) == 0.25 * n);
  DEMAND(__half2float(nvshmem_half_atomic_fetch(at<__half>(o, 1042), 0)) == 0.5F * n);
  DEMAND(__half2float(nvshmem_half_g(at<__half>(o, 1040), 0)) == 0.0F);
  // Alltoall of strided elements.
  auto* const source = at<int>(o, 2048);
  for (int i = 0; i < 3 * n; ++i) source[2 * i] = 1000 * pe + i;
  nvshmem_barrier_all();
  DEMAND(nvshmem_int_alltoalls(NVSHMEM_TEAM_WORLD, at<int>(o, 4096), source, 4, 2, 3) == 0);
  for (int from = 0; from < n; ++from) {
    DEMAND(at<int>(o, 4096)[12 * from + 8] == 1000 * from + 3 * pe + 2 && at<int>(o, 4096)[12 * from + 9] == 0);
  }
  // Elements of 1 and 2 bytes.
  auto* const bytes = at<uint8_t>(o, 8192);
  for (int i = 0; i < 20; ++i) bytes[i] = static_cast<uint8_t>((1 << pe) | 0x40);
  nvshmem_barrier_all();
  DEMAND(nvshmem_uint8_or_reduce(NVSHMEM_TEAM_WORLD, at<uint8_t>(o, 8448), bytes, 20) == 0);
  DEMAND(at<uint8_t>(o, 8448)[19] == (((1 << n) - 1) | 0x40));
  nvshmem_bfloat16_p(at<__nv_bfloat16>(o, 9000), __float2bfloat16(pe + 1.0F), pe);
  nvshmem_barrier_all();
  DEMAND(nvshmem_bfloat16_sum_reduce(NVSHMEM_TEAM_WORLD, at<__nv_bfloat16>(o, 9002), at<__nv_bfloat16>(o, 9000), 1) ==
         0);
  DEMAND(__bfloat162float(*at<__nv_bfloat16>(o, 9002)) == n * (n + 1) / 2.0F);
  // What programs rely on beyond the results.
  int local = 0;
  DEMAND(nvshmem_ptr(&local, pe) == nullptr && nvshmem_ptr(o.heap, n) == nullptr && nvshmem_ptr(o.heap, pe) == o.heap);
  DEMAND(nvshmem_team_my_pe(NVSHMEM_TEAM_INVALID) == -1 && nvshmem_team_n_pes(NVSHMEM_TEAM_INVALID) == -1);
  nvshmem_putmem(nullptr, nullptr, 0, next);
  DEMAND(nvshmemx_mc_ptr(NVSHMEM_TEAM_WORLD, o.heap) == nullptr);
  nvshmem_barrier_all();
}

__global__ void by_groups(Objects o) {
  const int pe = nvshmem_my_pe(), n = nvshmem_n_pes(), next = (pe + 1) % n, before = (pe + n - 1) % n;
  const int i = static_cast<int>(threadIdx.x);
  auto* const source = at<__half>(o, 16384);
  auto* const numbers = at<int>(o, 45056);
  source[i] = __float2half(static_cast<float>(pe + 1));
  numbers[i] = 1000 * pe + i;
  __syncthreads();
  nvshmemx_half_put_block(at<__half>(o, 20480), source, blockDim.x, next);
  nvshmemx_half_iput_block(at<__half>(o, 24576), source, 2, 1, blockDim.x, next);
  if (i < 32) nvshmemx_int_iget_warp(at<int>(o, 32768), at<int>(o, 2048), 2, 2, 3, next);
  nvshmemx_barrier_all_block();
  DEMAND(__half2float(at<__half>(o, 20480)[i]) == before + 1.0F);
  DEMAND(__half2float(at<__half>(o, 24576)[2 * i]) == before + 1.0F);
  if (i < 3) DEMAND(at<int>(o, 32768)[2 * i] == 1000 * next + i);
  DEMAND(nvshmemx_half_max_reduce_block(NVSHMEM_TEAM_WORLD, at<__half>(o, 36864), source, 8) == 0);
  if (i < 8) DEMAND(__half2float(at<__half>(o, 36864)[i]) == static_cast<float>(n));
  auto* const pair = at<double2>(o, 40960);
  if (i == 0) *pair = {pe == 0 ? 9.0 : 1.0, 10.0 + pe};
  __syncthreads();
  DEMAND(nvshmemx_double2_maxloc_reduce_block(NVSHMEM_TEAM_WORLD, pair + 1, pair, 1) == 0);
  DEMAND(pair[1].x == 9.0 && pair[1].y == 10.0);
  // The first four warps; the others go on.
  if (i < 128) DEMAND(nvshmemx_barrier_warpgroup(NVSHMEM_TEAM_WORLD) == 0);
  if (i < 32) DEMAND(nvshmemx_team_sync_warp(NVSHMEM_TEAM_WORLD) == 0);
  __syncthreads();
  DEMAND(nvshmemx_team_sync_block(NVSHMEM_TEAM_WORLD) == 0);
  if (i < 32) {
    auto* const signal = at<uint64_t>(o, 49152);
    nvshmemx_putmem_signal_warp(at<int>(o, 50176), numbers, 1024, signal, 1, NVSHMEM_SIGNAL_SET, next);
    if (i == 0) nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, 1);
    __syncwarp();
    DEMAND(at<int>(o, 50176)[i] == 1000 * before + i);
  }
  __syncthreads();
  nvshmemx_getmem_block(at<int>(o, 53248), numbers, 1024, next);
  DEMAND(at<int>(o, 53248)[i] == 1000 * next + i);
  DEMAND(nvshmemx_fcollectmem_block(NVSHMEM_TEAM_WORLD, at<int>(o, 57344), numbers, 16) == 0);
  if (i == 0) DEMAND(at<int>(o, 57344)[4 * (n - 1)] == 1000 * (n - 1));
}

// Every tile function, on tiles of 4 x 12 floats in rows of 16, of which 4 x 9 elements are inside the boundary. The
// parts of tile_allgather are stacked vertically.
constexpr int tile_rows = 4, tile_columns = 12, row_stride = 16, tile_room = tile_rows * row_stride;
__host__ __device__ constexpr auto tile(float* data, int rows = tile_rows) {
  return nvshmemx::Tensor(data, nvshmemx::make_layout(nvshmemx::make_shape(rows, ConstInt<tile_columns>()),
                                                      nvshmemx::make_stride(ConstInt<row_stride>(), ConstInt<1>())));
}
using Tile = decltype(tile(nullptr));
using Coordinates = nvshmemx::shape<int, int>;
// Returns whether element `i` has the value, or is 0 outside the boundary.
__device__ bool holds(const float* tile, int i, int value) {
  return tile[i] == (i % row_stride < 9 ? static_cast<float>(value) : 0.F);
}
#define TILES(suffix, threads)                                                                                        \
  __device__ void tiles##suffix(Objects o, float* source, float* target) {                                            \
    using namespace nvshmemx;                                                                                         \
    const int pe = nvshmem_my_pe(), n = nvshmem_n_pes(), next = (pe + 1) % n, last = n - 1;                           \
    const int rank = static_cast<int>(threadIdx.x % threads);                                                         \
    const auto team = NVSHMEM_TEAM_WORLD;                                                                             \
    const Coordinates start(8, 3), boundary(100, 12);                                                                 \
    const auto from = tile(source);                                                                                   \
    const auto to = [=](int number) { return tile(target + number * tile_room); };                                    \
    int failed = 0;                                                                                                   \
    failed |= tile_put##suffix<Tile, Tile, Coordinates, PEER_PUSH_NBI>(from, to(0), start, boundary, next, 0);        \
    failed |= tile_get##suffix<Tile, Tile, Coordinates, PEER_PULL_NBI>(from, to(1), start, boundary, next, 0);        \
    REDUCE(sum, suffix, 2);                                                                                           \
    REDUCE(min, suffix, 5);                                                                                           \
    REDUCE(max, suffix, 8);                                                                                           \
    if (pe == last) {                                                                                                 \
      failed |= tile_broadcast##suffix<Tile, Tile, Coordinates, NVLS_ONE_SHOT_PUSH_NBI>(team, from, to(11), start,    \
                                                                                        boundary, 0);                 \
    }                                                                                                                 \
    failed |= tile_allgather##suffix<Tile, Tile, Coordinates, NVLS_ONE_SHOT_PUSH_NBI>(                                \
        team, from, tile(target + 12 * tile_room, n * tile_rows), start, boundary, 0);                                \
    failed |= tile_collective_wait##suffix<NVLS_TWO_SHOT_PUSH_NBI>(team, 0);                                          \
    const int sum = n * (n + 1) / 2;                                                                                  \
    const bool is_last = pe == last;                                                                                  \
    const int expected[] = {(pe + n - 1) % n + 1, next + 1, sum, sum, is_last ? sum : 0, 1, 1, is_last ? 1 : 0, n, n, \
                            is_last ? n : 0,      n};                                                                 \
    for (int i = rank; i < tile_room; i += threads) {                                                                 \
      for (int number = 0; number < 12; ++number) {                                                                   \
        if (!holds(target + number * tile_room, i, expected[number])) failed = 1;                                     \
      }                                                                                                               \
      for (int part = 0; part < n; ++part) {                                                                          \
        if (!holds(target + (12 + part) * tile_room, i, part + 1)) failed = 1;                                        \
      }                                                                                                               \
    }                                                                                                                 \
    DEMAND(failed == 0);                                                                                              \
  }
#define REDUCE(reduction, suffix, number)                                                                              \
  failed |= tile_##reduction##_reduce##suffix<Tile, Tile, Coordinates, NVLS_ONE_SHOT_PULL_NBI>(team, from, to(number), \
                                                                                               start, boundary, 0);    \
  failed |= tile_##reduction##_reduce##suffix<Tile, Tile, Coordinates, NVLS_TWO_SHOT_PUSH_NBI>(                        \
      team, from, to(number + 1), start, boundary, last, 0);                                                           \
  failed |= tile_##reduction##_rooted_reduce##suffix<Tile, Tile, Coordinates, NVLS_ONE_SHOT_PULL_NBI>(                 \
      team, from, to(number + 2), start, boundary, last, 0)
TILES(, 1)
TILES(_warp, 32)
TILES(_warpgroup, 128)
TILES(_block, 256)

__global__ void by_tiles(Objects o, float* source) {
  const int i = static_cast<int>(threadIdx.x), room = (12 + nvshmem_n_pes()) * tile_room;
  if (i < tile_room) source[i] = static_cast<float>(nvshmem_my_pe() + 1);
  nvshmemx_barrier_all_block();
  float* const target = source + tile_room;
  if (i < 1) tiles(o, source, target);
  if (i < 32) tiles_warp(o, source, target + room);
  if (i < 128) tiles_warpgroup(o, source, target + 2 * room);
  tiles_block(o, source, target + 3 * room);
}

int fail(const char* what) {
  std::fprintf(stderr, "PE %d: %s\n", nvshmem_my_pe(), what);
  return 1;
}

int run(int pe, int n) {
  Objects o{};
  o.heap = static_cast<char*>(nvshmem_calloc(65536, 1));
  o.line = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  void* arguments[] = {&o};
  auto* tiles = static_cast<float*>(nvshmem_calloc(static_cast<size_t>((1 + 4 * (12 + n)) * tile_room), sizeof(float)));
  void* tile_arguments[] = {&o, &tiles};
  nvshmemx_collective_launch_attr_t shape{};
  shape.cuda_config.gridDim = dim3(1);
  shape.cuda_config.blockDim = dim3(256);
  if (nvshmemx_collective_launch(reinterpret_cast<const void*>(&by_thread), dim3(1), dim3(1), arguments, 0, nullptr) !=
          0 ||
      nvshmemx_collective_launch_attr(&shape, reinterpret_cast<const void*>(&by_groups), arguments) != 0 ||
      nvshmemx_collective_launch_attr(&shape, reinterpret_cast<const void*>(&by_tiles), tile_arguments) != 0) {
    return fail(gdrkit_shmem_last_error());
  }
  shape.cuda_config.gridDim = dim3(1 << 20);
  if (nvshmemx_collective_launch_attr(&shape, reinterpret_cast<const void*>(&by_groups), arguments) == 0) {
    return fail("a grid that cannot run at once was launched");
  }
  auto* const word = reinterpret_cast<int*>(o.heap + 61440);
  launch_other(word, nullptr);
  if (const cudaError_t ended = cudaDeviceSynchronize(); ended != cudaSuccess) return fail(cudaGetErrorString(ended));
  nvshmem_barrier_all();
  const int line = nvshmem_int_g(o.line, pe);
  if (line != 0) return std::fprintf(stderr, "PE %d: line %d: a check of a GPU kernel failed\n", pe, line), 1;
  if (nvshmem_int_g(word, pe) != 4242 + (pe + n - 1) % n) return fail("the other file's GPU kernel had no state");
  std::printf("PE %d of %d: ok\n", pe, n);
  return 0;
}

}  // namespace

int main() {
  nvshmem_init();
  cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE));
  const int result = run(nvshmem_my_pe(), nvshmem_n_pes());
  nvshmem_finalize();
  return result;
}
