// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Transfers from the host between symmetric buffers: put, get, p, g, strided, nonblocking.
#include "job.cuh"

void run(int pe, int n) {
  const int next = (pe + 1) % n, before = (pe + n - 1) % n;
  const auto values = [](int of) {
    std::vector<int> made;
    for (int i = 0; i < 1000; ++i) made.push_back(10000 * of + i);
    return made;
  };
  auto* const source = symmetric(values(pe));
  auto* const target = symmetric<int>(5 * 1000);
  nvshmem_int_put(target, source, 1000, next);
  nvshmem_int_get(target + 1000, source, 1000, next);
  nvshmem_putmem_nbi(target + 2000, source, 4000, next);
  nvshmem_int_p(target + 3000, 77 + pe, next);
  nvshmem_fence();
  nvshmem_int_iput(target + 4000, source, 2, 3, 300, next);
  nvshmem_quiet();
  CHECK(nvshmem_int_g(source + 5, next) == 10000 * next + 5);
  nvshmem_barrier_all();
  CHECK(on_host(target, 1000) == values(before));
  CHECK(on_host(target + 1000, 1000) == values(next));
  CHECK(on_host(target + 2000, 1000) == values(before));
  CHECK(on_host(target + 3000, 1)[0] == 77 + before);
  const auto strided = on_host(target + 4000, 600);
  for (size_t i = 0; i < 600; ++i) CHECK(strided[i] == (i % 2 == 0 ? values(before)[i / 2 * 3] : 0));
}
