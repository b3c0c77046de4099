// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A program whose GPU kernels use NVSHMEM's device library (libnvshmem_device.a) on gdrkit's libnvshmem_host.so.3. Two
// processes are two PEs, on one GPU or two. Prints a line for each step and PE. Exits with 1 if a step failed.
// usage: device_library [-s SECONDS] [-m FILE]     FILE: the cubin of device_module.cu, which is also loaded and run
#include <cuda.h>
#include <nvshmem.h>
#include <nvshmemx.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int count = 1000;
constexpr int threads = 128;
constexpr int rounds = 10;

/// Symmetric memory is zeroed before each step.
struct Arguments {
  int* source;       ///< symmetric: 1000 * PE + i
  int* target;       ///< symmetric
  uint64_t* signal;  ///< symmetric
  int* local;
  nvshmem_team_t team;  ///< of all PEs
};

__device__ int differences(const int* actual, int first, int n = count) {
  int wrong = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) wrong += actual[i] != first + i;
  return wrong;
}
__device__ int other() { return (nvshmem_my_pe() + 1) % nvshmem_n_pes(); }

// Steps. Each returns the number of errors that the calling thread found.

__device__ int numbers(const Arguments& use) {
  int wrong = nvshmem_my_pe() != nvshmem_team_my_pe(NVSHMEM_TEAM_WORLD) || nvshmem_n_pes() != 2;
  wrong += nvshmem_team_n_pes(NVSHMEMX_TEAM_NODE) != 2 || nvshmem_team_n_pes(NVSHMEM_TEAM_SHARED) != 2;
  wrong += nvshmem_team_n_pes(use.team) != 2 || nvshmem_team_my_pe(use.team) != 1 - nvshmem_my_pe();
  return wrong + (nvshmem_team_translate_pe(use.team, 0, NVSHMEM_TEAM_WORLD) != 1);
}
__device__ int pointers(const Arguments& use) {
  const auto* peer = static_cast<int*>(nvshmem_ptr(use.source, other()));
  if (peer == nullptr || nvshmem_ptr(use.source, nvshmem_my_pe()) != use.source) return 1;
  return differences(peer, 1000 * other()) + (nvshmem_ptr(use.local, other()) != nullptr);
}
__device__ int barriers_by_block(const Arguments&) {
  for (int i = 0; i < rounds; ++i) nvshmemx_barrier_all_block();
  return 0;
}
__device__ int barriers_by_warp_and_thread(const Arguments& use) {
  if (threadIdx.x < 32) {
    for (int i = 0; i < rounds; ++i) nvshmemx_barrier_all_warp();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < rounds; ++i) nvshmem_barrier_all();
    nvshmem_sync_all();
  }
  __syncthreads();
  nvshmemx_sync_all_block();
  return 0;
}
__device__ int p_and_g(const Arguments& use) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) nvshmem_int_p(use.target + i, use.source[i], other());
  nvshmemx_barrier_all_block();
  int wrong = differences(use.target, 1000 * other());
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    wrong += nvshmem_int_g(use.target + i, other()) != use.source[i];
  }
  return wrong;
}
__device__ int block_puts(const Arguments& use) {
  int* const target = use.target;
  constexpr int part = count / 4;
  nvshmemx_putmem_block(target, use.source, part * sizeof(int), other());
  nvshmemx_putmem_nbi_block(target + part, use.source + part, part * sizeof(int), other());
  if (threadIdx.x < 32) {
    nvshmemx_int_put_warp(target + 2 * part, use.source + 2 * part, part, other());
    if (threadIdx.x == 0) nvshmem_int_put(target + 3 * part, use.source + 3 * part, part, other());
  }
  nvshmem_quiet();
  nvshmemx_barrier_all_block();
  return differences(target, 1000 * other());
}
__device__ int block_gets(const Arguments& use) {
  constexpr int half = count / 2;
  nvshmemx_getmem_block(use.local, use.source, half * sizeof(int), other());
  nvshmemx_getmem_nbi_block(use.local + half, use.source + half, half * sizeof(int), other());
  nvshmem_quiet();
  __syncthreads();
  return differences(use.local, 1000 * other());
}
__device__ int signal_words(const Arguments& use) {
  nvshmemx_putmem_signal_block(use.target, use.source, count * sizeof(int), use.signal, 7, NVSHMEM_SIGNAL_SET, other());
  if (threadIdx.x == 0) nvshmem_signal_wait_until(use.signal, NVSHMEM_CMP_EQ, 7);
  __syncthreads();
  const int wrong = differences(use.target, 1000 * other());
  if (threadIdx.x == 0) {
    nvshmem_fence();
    nvshmemx_signal_op(use.signal + 1, 5, NVSHMEM_SIGNAL_ADD, other());
    nvshmem_signal_wait_until(use.signal + 1, NVSHMEM_CMP_GE, 5);
    nvshmem_uint64_wait_until(use.signal, NVSHMEM_CMP_NE, 0);
  }
  __syncthreads();
  return wrong;
}
__device__ int atomics(const Arguments& use) {
  nvshmem_int_atomic_add(use.target, 1, other());
  nvshmem_int_atomic_inc(use.target + 1, other());
  nvshmemx_barrier_all_block();
  if (threadIdx.x != 0) return 0;
  int wrong = nvshmem_int_atomic_fetch(use.target, other()) != threads;
  wrong += nvshmem_int_g(use.target + 1, other()) != threads;
  wrong += nvshmem_int_atomic_compare_swap(use.target + 2, 0, 9, other()) != 0;
  return wrong + (nvshmem_int_atomic_swap(use.target + 2, 8, other()) != 9);
}
__device__ int team_barriers(const Arguments& use) {
  int wrong = 0;
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x == 0) nvshmem_int_p(use.target, i + 1, other());
    nvshmemx_barrier_block(use.team);
    wrong += *static_cast<volatile int*>(use.target) != i + 1;
    nvshmemx_team_sync_block(use.team);
  }
  return wrong;
}
__device__ int broadcasts(const Arguments& use) {
  nvshmemx_int_broadcast_block(NVSHMEM_TEAM_WORLD, use.target, use.source, count, 1);
  return differences(use.target, 1000);
}
__device__ int fcollects(const Arguments& use) {
  nvshmemx_int_fcollect_block(use.team, use.target, use.source, count / 2);
  return differences(use.target, 1000, count / 2) + differences(use.target + count / 2, 0, count / 2);
}
__device__ int alltoalls(const Arguments& use) {
  const int half = count / 2, first = half * nvshmem_my_pe();
  nvshmemx_int_alltoall_block(NVSHMEM_TEAM_WORLD, use.target, use.source, half);
  return differences(use.target, first, half) + differences(use.target + half, 1000 + first, half);
}
__device__ int reductions(const Arguments& use) {
  int wrong = 0;
  for (int round = 0; round < 3; ++round) {
    nvshmemx_int_sum_reduce_block(NVSHMEM_TEAM_WORLD, use.target, use.source, count);
    for (int i = threadIdx.x; i < count; i += blockDim.x) wrong += use.target[i] != 1000 + 2 * i;
    nvshmemx_int_max_reduce_block(use.team, use.target, use.source, count);
    wrong += differences(use.target, 1000);
  }
  return wrong;
}

template <int (*step)(const Arguments&)>
__global__ void kernel(Arguments use, int* errors) {
  if (const int wrong = step(use); wrong != 0) atomicAdd(errors, wrong);
}

static int pe = -1, failures = 0;
static const char* current = "initialization";

static void stop(int) {
  char line[128];
  const int length = snprintf(line, sizeof line, "PE %d %s: failed: time limit\n", pe, current);
  if (write(STDOUT_FILENO, line, static_cast<size_t>(length)) < 0) _exit(2);
  _exit(1);
}

static void require(cudaError_t status) {
  if (status == cudaSuccess) return;
  printf("PE %d %s: failed: %s\n", pe, current, cudaGetErrorString(status));
  fflush(stdout);
  _exit(1);  // the error is permanent, and the end of the library waits for the other PE
}

struct Job {
  Arguments use;
  int* errors;
};

static void start(Job& job) {
  require(cudaMemset(job.use.target, 0, count * sizeof(int)));
  require(cudaMemset(job.use.signal, 0, 2 * sizeof(uint64_t)));
  require(cudaMemset(job.use.local, 0, count * sizeof(int)));
  require(cudaMemset(job.errors, 0, sizeof(int)));
  require(cudaDeviceSynchronize());
  nvshmem_barrier_all();
}

/// `result` of the launch.
static void finish(Job& job, int result) {
  require(cudaDeviceSynchronize());
  int errors = 0;
  require(cudaMemcpy(&errors, job.errors, sizeof errors, cudaMemcpyDeviceToHost));
  if (result == 0 && errors == 0) {
    printf("PE %d %s: ok\n", pe, current);
  } else {
    ++failures;
    printf("PE %d %s: failed: the launch returned %d, %d wrong results\n", pe, current, result, errors);
  }
  fflush(stdout);
  nvshmem_barrier_all();
}

static void run(const char* name, const void* kernel, Job& job) {
  current = name;
  start(job);
  void* parameters[] = {&job.use, &job.errors};
  finish(job, nvshmemx_collective_launch(kernel, 1, threads, parameters, 0, nullptr));
}
#define RUN(step) run(#step, reinterpret_cast<const void*>(kernel<step>), job)

static void run_module(const char* file, Job& job) {
  current = "module";
  start(job);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  int result = cuModuleLoad(&module, file);
  if (result == 0) result = nvshmemx_cumodule_init(module);
  if (result == 0) result = cuModuleGetFunction(&function, module, "exchange");
  void* parameters[] = {&job.use.target, &job.errors};
  if (result == 0) result = cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr);
  finish(job, result);
}

static void team_of(Job& job) {
  current = "team_split";
  if (nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 1, -1, 2, nullptr, 0, &job.use.team) != 0) {
    printf("PE %d team_split: failed\n", pe);
    _exit(1);
  }
}

static int as_pe(nvshmemx_uniqueid_t& id, const char* module) {
  int devices = 0;
  require(cudaGetDeviceCount(&devices));
  require(cudaSetDevice(pe % devices));
  require(cudaFree(nullptr));
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  nvshmemx_set_attr_uniqueid_args(pe, 2, &id, &attributes);
  if (nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) != 0) return 1;
  Job job{};
  job.use.source = static_cast<int*>(nvshmem_malloc(count * sizeof(int)));
  job.use.target = static_cast<int*>(nvshmem_malloc(count * sizeof(int)));
  job.use.signal = static_cast<uint64_t*>(nvshmem_malloc(2 * sizeof(uint64_t)));
  require(cudaMalloc(&job.use.local, count * sizeof(int)));
  require(cudaMalloc(&job.errors, sizeof(int)));
  int content[count];
  for (int i = 0; i < count; ++i) content[i] = 1000 * pe + i;
  require(cudaMemcpy(job.use.source, content, sizeof content, cudaMemcpyHostToDevice));
  team_of(job);
  RUN(numbers);
  RUN(pointers);
  RUN(barriers_by_block);
  RUN(barriers_by_warp_and_thread);
  RUN(p_and_g);
  RUN(block_puts);
  RUN(block_gets);
  RUN(signal_words);
  RUN(atomics);
  RUN(team_barriers);
  // Another team in the same place, whose words must be clear.
  nvshmem_team_destroy(job.use.team);
  team_of(job);
  RUN(team_barriers);
  RUN(broadcasts);
  RUN(fcollects);
  RUN(alltoalls);
  RUN(reductions);
  if (module != nullptr) run_module(module, job);
  current = "finalization";
  nvshmem_free(job.use.source);
  nvshmem_free(job.use.target);
  nvshmem_free(job.use.signal);
  nvshmem_finalize();
  printf("PE %d: %d steps failed\n", pe, failures);
  fflush(stdout);
  return failures;
}

int main(int argc, char** argv) {
  unsigned seconds = 60;
  const char* module = nullptr;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "-s") == 0) seconds = static_cast<unsigned>(atoi(argv[i + 1]));
    if (strcmp(argv[i], "-m") == 0) module = argv[i + 1];
  }
  nvshmemx_uniqueid_t id;
  if (nvshmemx_get_uniqueid(&id) != 0) return 1;
  const pid_t child = fork();
  pe = child == 0 ? 1 : 0;
  signal(SIGALRM, stop);
  alarm(seconds);
  const int failed = as_pe(id, module);
  if (child == 0) _exit(failed != 0);
  int status = 1;
  waitpid(child, &status, 0);
  printf("device library %d.%d.%d: %s\n", NVSHMEM_VENDOR_MAJOR_VERSION, NVSHMEM_VENDOR_MINOR_VERSION,
         NVSHMEM_VENDOR_PATCH_VERSION, failed == 0 && status == 0 ? "all steps ok" : "failed");
  return failed != 0 || status != 0;
}
