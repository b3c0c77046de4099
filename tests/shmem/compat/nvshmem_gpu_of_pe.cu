// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Programs choose the GPU before nvshmem_init, after it, or never. In all three, CUDA's calls and the PE use the same
// GPU, and an event that was created right after nvshmem_init can be recorded at the end.
// usage: nvshmem_gpu_of_pe before|after|never
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int count = 4096;

__global__ void send(float* to, const float* from, int pe) { nvshmemx_float_put_block(to, from, count, pe); }

void require(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::printf("PE %d: %s: %s\n", nvshmem_my_pe(), what, cudaGetErrorName(result));
  nvshmem_global_exit(1);
}

}  // namespace

int main(int, char** arguments) {
  const char* const position = std::getenv("GDRKIT_SHMEM_LOCAL_INDEX");
  int gpus = 0;
  require(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
  const int own = (position == nullptr ? 0 : std::atoi(position)) % gpus;
  if (std::strcmp(arguments[1], "before") == 0) require(cudaSetDevice(own), "cudaSetDevice");
  nvshmem_init();
  cudaEvent_t event;
  require(cudaEventCreate(&event), "cudaEventCreate");
  if (std::strcmp(arguments[1], "after") == 0) require(cudaSetDevice(own), "cudaSetDevice");
  int used = -1;
  require(cudaGetDevice(&used), "cudaGetDevice");
  auto* const from = static_cast<float*>(nvshmem_malloc(count * sizeof(float)));
  auto* const to = static_cast<float*>(nvshmem_malloc(count * sizeof(float)));
  static float host[count];
  for (int i = 0; i < count; ++i) host[i] = static_cast<float>(nvshmem_my_pe() * count + i);
  require(cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice), "copy to the heap");
  nvshmem_barrier_all();
  send<<<1, 256>>>(to, from, (nvshmem_my_pe() + 1) % nvshmem_n_pes());
  require(cudaDeviceSynchronize(), "send");
  require(cudaEventRecord(event), "cudaEventRecord");
  nvshmem_barrier_all();
  require(cudaMemcpy(host, to, sizeof host, cudaMemcpyDeviceToHost), "copy from the heap");
  const int before = (nvshmem_my_pe() + nvshmem_n_pes() - 1) % nvshmem_n_pes();
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += host[i] != static_cast<float>(before * count + i);
  std::printf("PE %d: GPU %d, expected %d; %d wrong values\n", nvshmem_my_pe(), used, own, wrong);
  nvshmem_finalize();
  return used != own || wrong != 0 ? 1 : 0;
}
