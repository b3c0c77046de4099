// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Teams from split_strided, split_2d and a unique id: numbers, translation, and collectives in a GPU kernel.
#include "job.cuh"

__global__ void __launch_bounds__(1024) use(nvshmem_team_t team, int* data, int pe, int n) {
  CHECK(nvshmem_team_my_pe(team) == pe && nvshmem_team_n_pes(team) == n);
  data[threadIdx.x] = pe + 1;
  nvshmemx_team_sync_block(team);
  nvshmemx_int_sum_reduce_block(team, data + 1024, data, 1024);
  nvshmemx_barrier_block(team);
  CHECK(data[1024 + threadIdx.x] == n * (n + 1) / 2);
}

// All PEs in the opposite order.
nvshmem_team_t from_unique_id(int pe, int n) {
  nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  nvshmem_team_t team = NVSHMEM_TEAM_INVALID;
  auto* const id = symmetric<uint64_t>(1);
  if (pe == 0) {
    CHECK(nvshmemx_team_get_uniqueid(&config.uniqueid) == 0);
    for (int to = 0; to < n; ++to) nvshmem_uint64_p(id, config.uniqueid, to);
  }
  nvshmem_barrier_all();
  config.uniqueid = nvshmem_uint64_g(id, pe);
  CHECK(nvshmemx_team_init(&team, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, n, n - 1 - pe) == 0);
  CHECK(nvshmem_team_translate_pe(team, 0, NVSHMEM_TEAM_WORLD) == n - 1);
  return team;
}

void run(int pe, int n) {
  nvshmem_team_t all = NVSHMEM_TEAM_INVALID, last = NVSHMEM_TEAM_INVALID, row = NVSHMEM_TEAM_INVALID,
                 column = NVSHMEM_TEAM_INVALID;
  CHECK(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, n, nullptr, 0, &all) == 0);
  (void)nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, n - 1, 1, 1, nullptr, 0, &last);
  CHECK(nvshmem_team_split_2d(NVSHMEM_TEAM_WORLD, n, nullptr, 0, &row, nullptr, 0, &column) == 0);
  CHECK((last == NVSHMEM_TEAM_INVALID) == (pe != n - 1));
  CHECK(nvshmem_team_my_pe(last) == (pe == n - 1 ? 0 : -1));
  CHECK(nvshmem_team_my_pe(row) == pe && nvshmem_team_n_pes(row) == n && nvshmem_team_n_pes(column) == 1);
  CHECK(nvshmem_team_translate_pe(all, n - 1, NVSHMEM_TEAM_WORLD) == n - 1);
  CHECK(nvshmem_team_translate_pe(column, 0, NVSHMEM_TEAM_WORLD) == pe);
  if (pe == n - 1) CHECK(nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, n - 1, last) == 0);
  auto* const data = symmetric<int>(2048);
  launch(use, 1, 1024, all, data, pe, n);
  launch(use, 1, 1024, row, data, pe, n);
  launch(use, 1, 1024, column, data, 0, 1);
  launch(use, 1, 1024, from_unique_id(pe, n), data, n - 1 - pe, n);
  nvshmem_team_destroy(all);
}
