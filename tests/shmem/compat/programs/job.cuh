// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Starts a PE of a program that uses NVSHMEM's names, without MPI and without a launcher, and exits with 1 if a check
// failed. run.py sets GDRKIT_TEST_PE, GDRKIT_TEST_PES and GDRKIT_TEST_ID, the file in which PE 0 publishes the unique
// id.
#ifndef GDRKIT_TESTS_SHMEM_COMPAT_PROGRAMS_JOB_CUH
#define GDRKIT_TESTS_SHMEM_COMPAT_PROGRAMS_JOB_CUH

#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

// The first line whose check failed in a GPU kernel.
static __device__ int failed_line;

// On the CPU, a failed check ends the process. run.py then ends the other PEs.
static __host__ __device__ inline void check(bool is_true, int line, const char* text) {
  if (is_true) return;
#if defined(__CUDA_ARCH__)
  (void)text;
  atomicCAS(&failed_line, 0, line);
#else
  std::printf("line %d: %s is false\n", line, text);
  std::fflush(stdout);
  std::_Exit(1);
#endif
}
#define CHECK(...) check((__VA_ARGS__), __LINE__, #__VA_ARGS__)
#define CHECK_CUDA(call) CHECK((call) == cudaSuccess)

// Allocates `count` elements with value 0, or a copy of `values`. Returns after all PEs have stored theirs.
template <class T>
T* symmetric(size_t count) {
  auto* const made = static_cast<T*>(nvshmem_calloc(count, sizeof(T)));
  CHECK(made != nullptr);
  CHECK_CUDA(cudaDeviceSynchronize());
  nvshmem_barrier_all();
  return made;
}
template <class T>
T* symmetric(const std::vector<T>& values) {
  T* const made = symmetric<T>(values.size());
  CHECK_CUDA(cudaMemcpy(made, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaDeviceSynchronize());
  nvshmem_barrier_all();
  return made;
}
template <class T>
std::vector<T> on_host(const T* values, size_t count) {
  std::vector<T> copy(count);
  CHECK_CUDA(cudaMemcpy(copy.data(), values, count * sizeof(T), cudaMemcpyDeviceToHost));
  return copy;
}

// Launches a GPU kernel on all PEs, and waits until it has completed on this one.
template <class... T>
void launch(void (*kernel)(T...), int blocks, int threads, std::common_type_t<T>... arguments) {
  void* addresses[] = {&arguments..., nullptr};
  CHECK(nvshmemx_collective_launch(reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(blocks)),
                                   dim3(static_cast<unsigned>(threads)), addresses, 0, nullptr) == 0);
  CHECK_CUDA(cudaDeviceSynchronize());
}

// The body of a program.
static void run(int pe, int n);

int main() {
  const char* const variables[] = {std::getenv("GDRKIT_TEST_PE"), std::getenv("GDRKIT_TEST_PES"),
                                   std::getenv("GDRKIT_TEST_ID")};
  CHECK(variables[0] != nullptr && variables[1] != nullptr && variables[2] != nullptr);
  const int pe = std::atoi(variables[0]), n = std::atoi(variables[1]);
  int gpus = 0;
  CHECK_CUDA(cudaGetDeviceCount(&gpus));
  CHECK_CUDA(cudaSetDevice(pe % gpus));

  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  const std::string path = variables[2], unfinished = path + ".unfinished";
  if (pe == 0) {
    CHECK(nvshmemx_get_uniqueid(&id) == 0);
    std::FILE* const file = std::fopen(unfinished.c_str(), "wb");
    CHECK(file != nullptr && std::fwrite(&id, sizeof id, 1, file) == 1 && std::fclose(file) == 0);
    CHECK(std::rename(unfinished.c_str(), path.c_str()) == 0);
  } else {
    std::FILE* file = nullptr;
    while ((file = std::fopen(path.c_str(), "rb")) == nullptr) usleep(1000);
    CHECK(std::fread(&id, sizeof id, 1, file) == 1 && std::fclose(file) == 0);
  }
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  CHECK(nvshmemx_set_attr_uniqueid_args(pe, n, &id, &attributes) == 0);
  CHECK(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) == 0);
  CHECK(nvshmem_my_pe() == pe && nvshmem_n_pes() == n);

  run(pe, n);
  CHECK_CUDA(cudaDeviceSynchronize());
  int line = 0;
  CHECK_CUDA(cudaMemcpyFromSymbol(&line, failed_line, sizeof line));
  if (line != 0) std::printf("line %d: a check of a GPU kernel failed\n", line);
  nvshmem_barrier_all();
  nvshmem_finalize();
  return line != 0 ? 1 : 0;
}

#endif
