// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Two PEs on one GPU, without MPS: what a GPU kernel that waits costs the other PE. Prints the time of a launch of the
// other PE without and with such a GPU kernel, and of a round trip between two GPU kernels that wait for each other.
#include <chrono>

#include "job.cuh"

// Hides all GPUs but the first. Runs before CUDA is initialized.
static const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
static const std::string gpus = visible == nullptr ? "0" : visible;
static const int hidden = setenv("CUDA_VISIBLE_DEVICES", gpus.substr(0, gpus.find(',')).c_str(), 1);

__global__ void nothing() {}
__global__ void signal_and_wait(uint64_t* signals, int next) {
  nvshmemx_signal_op(signals, 1, NVSHMEM_SIGNAL_SET, next);
  nvshmem_signal_wait_until(signals + 1, NVSHMEM_CMP_EQ, 1);
}
__global__ void signal_once(uint64_t* signal, int next) { nvshmemx_signal_op(signal, 1, NVSHMEM_SIGNAL_SET, next); }
__global__ void ping_pong(uint64_t* signal, uint64_t rounds, int pe, int next) {
  for (uint64_t round = 1; round <= rounds; ++round) {
    if (pe == 0) nvshmemx_signal_op(signal, round, NVSHMEM_SIGNAL_SET, next);
    nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, round);
    if (pe != 0) nvshmemx_signal_op(signal, round, NVSHMEM_SIGNAL_SET, next);
  }
}
template <class Work>
double milliseconds(int count, Work work) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() / count;
}

void run(int pe, int) {
  const auto launch_nothing = [] {
    nothing<<<1, 1>>>();
    CHECK_CUDA(cudaDeviceSynchronize());
  };
  auto* const signals = symmetric<uint64_t>(3);
  CHECK(hidden == 0);
  launch_nothing();
  nvshmem_barrier_all();
  if (pe == 0) {
    signal_and_wait<<<1, 1>>>(signals, 1);
  } else if (pe == 1) {
    const double alone = milliseconds(50, launch_nothing);
    while (on_host(signals, 1)[0] == 0) continue;
    std::printf("a launch: %.3f ms, next to a GPU kernel that waits: %.3f ms\n", alone,
                milliseconds(50, launch_nothing));
    signal_once<<<1, 1>>>(signals + 1, 0);
  }
  CHECK_CUDA(cudaDeviceSynchronize());
  nvshmem_barrier_all();
  constexpr int rounds = 50;
  const double elapsed = milliseconds(1, [&] {
    if (pe < 2) ping_pong<<<1, 1>>>(signals + 2, rounds, pe, 1 - pe);
    CHECK_CUDA(cudaDeviceSynchronize());
  });
  if (pe == 0) std::printf("a round trip: %.3f ms\n", elapsed / rounds);
}
