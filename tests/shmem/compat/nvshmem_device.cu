// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A program as one would write it for NVSHMEM, with GPU kernels: each function family once, by a thread, a warp and a
// block, between neighbours. Prints "PE n of m: ok". Two files of GPU code, without relocatable device code.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdio>
#include <vector>

// In nvshmem_device_other.cu.
void launch_other(int* target, cudaStream_t stream);

namespace {

constexpr int count = 1000;

struct Objects {
  int* data;         // 8 * count
  int* source;       // count
  uint64_t* signal;  // 16
  long long* words;  // 64
  int* wrong;        // a bit for each step
};

#define DEMAND(bit, condition) \
  if (!(condition)) atomicOr(o.wrong, 1 << (bit))

__global__ void by_thread(Objects o) {
  const int pe = nvshmem_my_pe(), n = nvshmem_n_pes(), next = (pe + 1) % n, before = (pe + n - 1) % n;
  nvshmem_int_put_signal(o.data, o.source, count, o.signal, 1, NVSHMEM_SIGNAL_SET, next);
  DEMAND(0, nvshmem_signal_wait_until(o.signal, NVSHMEM_CMP_EQ, 1) == 1);
  for (int i = 0; i < count; ++i) DEMAND(1, o.data[i] == 1000 * before + i);
  nvshmem_int_p(o.data + count, 7 + pe, next);
  nvshmem_fence();
  nvshmemx_signal_op(o.signal + 1, 5, NVSHMEM_SIGNAL_ADD, next);
  nvshmem_uint64_wait_until(o.signal + 1, NVSHMEM_CMP_GE, 5);
  DEMAND(2, nvshmem_int_g(o.data + count, pe) == 7 + before);
  int seen[4];
  nvshmem_getmem(seen, o.source, sizeof seen, next);
  DEMAND(3, seen[3] == 1000 * next + 3);
  nvshmem_quiet();
  nvshmem_barrier_all();
  for (int i = 0; i < 4; ++i) nvshmem_longlong_p(o.words + i, -10 - i, next);
  const int status[4] = {0, 1, 0, 0};
  size_t indices[4];
  nvshmem_longlong_wait_until_all(o.words, 4, status, NVSHMEM_CMP_LE, -10);
  DEMAND(4, nvshmem_longlong_wait_until_any(o.words, 4, status, NVSHMEM_CMP_EQ, -12) == 2);
  DEMAND(5, nvshmem_longlong_test_some(o.words, 4, indices, status, NVSHMEM_CMP_LT, 0) == 3 && indices[1] == 2);
  DEMAND(6, nvshmem_longlong_test(o.words + 3, NVSHMEM_CMP_EQ, -13) == 1);
  nvshmem_longlong_atomic_add(o.words + 8, 10, 0);
  nvshmem_longlong_atomic_inc(o.words + 8, 0);
  nvshmem_barrier_all();
  DEMAND(7, nvshmem_longlong_atomic_fetch(o.words + 8, 0) == 11 * n);
  DEMAND(8, nvshmem_float_atomic_swap(reinterpret_cast<float*>(o.words + 9), 2.5F, next) == 0.0F);
  nvshmem_barrier_all();
  DEMAND(9, nvshmem_float_g(reinterpret_cast<float*>(o.words + 9), pe) == 2.5F);
  DEMAND(10, nvshmem_team_n_pes(NVSHMEM_TEAM_WORLD) == n);
  DEMAND(11, nvshmem_ptr(o.data, pe) == o.data);
}

__global__ void by_groups(Objects o) {
  const int pe = nvshmem_my_pe(), n = nvshmem_n_pes(), next = (pe + 1) % n, before = (pe + n - 1) % n;
  if (threadIdx.x < 32) {
    nvshmemx_int_put_warp(o.data + 2 * count, o.source, count, next);
    nvshmem_fence();
    nvshmemx_putmem_signal_warp(o.data + 3 * count, o.source, 4 * count, o.signal + 2, 1, NVSHMEM_SIGNAL_SET, next);
    if (threadIdx.x == 0) nvshmem_signal_wait_until(o.signal + 2, NVSHMEM_CMP_EQ, 1);
    __syncwarp();
    DEMAND(12, o.data[2 * count + threadIdx.x] == 1000 * before + static_cast<int>(threadIdx.x));
  }
  __syncthreads();
  nvshmemx_int_put_signal_nbi_block(o.data + 4 * count, o.source, count, o.signal + 3, 1, NVSHMEM_SIGNAL_SET, next);
  if (threadIdx.x == 0) nvshmem_signal_wait_until(o.signal + 3, NVSHMEM_CMP_EQ, 1);
  __syncthreads();
  DEMAND(13, o.data[4 * count + threadIdx.x] == 1000 * before + static_cast<int>(threadIdx.x));
  nvshmemx_getmem_block(o.data + 5 * count, o.source, 4 * count, next);
  DEMAND(14, o.data[5 * count + threadIdx.x] == 1000 * next + static_cast<int>(threadIdx.x));
  nvshmemx_barrier_all_block();
  DEMAND(15, nvshmemx_int_sum_reduce_block(NVSHMEM_TEAM_WORLD, o.data + 6 * count, o.source, 8) == 0);
  if (threadIdx.x == 0) DEMAND(16, o.data[6 * count + 1] == 1000 * (n * (n - 1) / 2) + n);
  DEMAND(17, nvshmemx_fcollectmem_block(NVSHMEM_TEAM_WORLD, o.data + 7 * count, o.source, 16) == 0);
  if (threadIdx.x == 0) DEMAND(18, o.data[7 * count + 4 * (n - 1)] == 1000 * (n - 1));
}

int fail(const char* what) {
  std::fprintf(stderr, "PE %d: %s\n", nvshmem_my_pe(), what);
  return 1;
}

int run(int pe, int n) {
  Objects o{};
  o.data = static_cast<int*>(nvshmem_calloc(8 * count, sizeof(int)));
  o.source = static_cast<int*>(nvshmem_calloc(count, sizeof(int)));
  o.signal = static_cast<uint64_t*>(nvshmem_calloc(16, sizeof(uint64_t)));
  o.words = static_cast<long long*>(nvshmem_calloc(64, sizeof(long long)));
  o.wrong = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  std::vector<int> numbers(count);
  for (int i = 0; i < count; ++i) numbers[static_cast<size_t>(i)] = 1000 * pe + i;
  nvshmem_int_put(o.source, numbers.data(), count, pe);
  nvshmem_barrier_all();
  void* arguments[] = {&o};
  int most = 0;
  if (nvshmemx_collective_launch_query_gridsize(reinterpret_cast<const void*>(&by_groups), dim3(64), arguments, 0,
                                                &most) != 0 ||
      most < 1) {
    return fail(gdrkit_shmem_last_error());
  }
  if (nvshmemx_collective_launch(reinterpret_cast<const void*>(&by_thread), dim3(1), dim3(1), arguments, 0, nullptr) !=
          0 ||
      nvshmemx_collective_launch(reinterpret_cast<const void*>(&by_groups), dim3(1), dim3(64), arguments, 0, nullptr) !=
          0) {
    return fail(gdrkit_shmem_last_error());
  }
  if (nvshmemx_collective_launch(reinterpret_cast<const void*>(&by_groups), dim3(1 << 20), dim3(64), arguments, 0,
                                 nullptr) == 0) {
    return fail("a grid that cannot run at once was launched");
  }
  nvshmemx_barrier_all_on_stream(nullptr);
  launch_other(o.data, nullptr);
  if (cudaDeviceSynchronize() != cudaSuccess) return fail(cudaGetErrorString(cudaGetLastError()));
  nvshmem_barrier_all();
  const int wrong = nvshmem_int_g(o.wrong, pe);
  if (wrong != 0) return std::fprintf(stderr, "PE %d: steps 0x%x of the GPU kernels failed\n", pe, wrong), 1;
  const int before = (pe + n - 1) % n;
  if (nvshmem_int_g(o.data, pe) != 4242 + before) return fail("the other file's GPU kernel had no state");
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
