// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Functions of libnvshmem_host.so.3 that gdrkit does not have. They print the reason and return an error.
#include <nvshmem.h>

#include <cstdio>

#undef nvshmemx_qp_create
#undef nvshmemx_team_get_uniqueid
#undef nvshmemx_team_init

#pragma GCC visibility push(default)
extern "C" {
int nvshmemx_team_get_uniqueid(nvshmemx_team_uniqueid_t* id);
int nvshmemx_team_init(nvshmem_team_t* team, nvshmem_team_config_t* config, long mask, int n_pes, int pe);
int nvshmemx_qp_create(int count, int** handles);
}
#pragma GCC visibility pop

static int reject(const char* message) {
  std::fputs(message, stderr);
  return NVSHMEMX_ERROR_NOT_SUPPORTED;
}

int nvshmemx_team_get_uniqueid(nvshmemx_team_uniqueid_t* /*id*/) {
  return reject(
      "nvshmemx_team_get_uniqueid: gdrkit cannot create a team from a unique id; use nvshmem_team_split_strided or "
      "nvshmem_team_split_2d\n");
}
int nvshmemx_team_init(nvshmem_team_t* team, nvshmem_team_config_t* /*config*/, long /*mask*/, int /*n_pes*/,
                       int /*pe*/) {
  if (team != nullptr) *team = NVSHMEM_TEAM_INVALID;
  return reject(
      "nvshmemx_team_init: gdrkit cannot create a team from a unique id; use nvshmem_team_split_strided or "
      "nvshmem_team_split_2d\n");
}
int nvshmemx_qp_create(int /*count*/, int** /*handles*/) {
  return reject("nvshmemx_qp_create: gdrkit has no queue pairs; use the functions without qp\n");
}
