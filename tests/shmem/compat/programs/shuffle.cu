// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A shuffle: each thread reserves a place at the PE of its key with fetch_add, and puts its item there.
#include <algorithm>

#include "job.cuh"

constexpr int items = 16 * 1024;

__host__ __device__ int key(int item) { return item * 7919 % 10007; }
__global__ void __launch_bounds__(1024) send(int* received, unsigned* count, int pe, int n) {
  const int item = pe * items + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), owner = key(item) % n;
  nvshmem_int_p(received + nvshmem_uint_atomic_fetch_add(count, 1, owner), item, owner);
}

void run(int pe, int n) {
  auto* const received = symmetric<int>(static_cast<size_t>(n * items));
  auto* const count = symmetric<unsigned>(1);
  send<<<items / 1024, 1024>>>(received, count, pe, n);
  CHECK_CUDA(cudaDeviceSynchronize());
  nvshmem_barrier_all();
  std::vector<int> expected;
  for (int item = 0; item < n * items; ++item) {
    if (key(item) % n == pe) expected.push_back(item);
  }
  CHECK(on_host(count, 1)[0] == expected.size());
  auto seen = on_host(received, expected.size());
  std::sort(seen.begin(), seen.end());
  CHECK(seen == expected);
}
