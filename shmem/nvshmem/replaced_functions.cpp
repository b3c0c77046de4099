// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Functions of libnvshmem_host.so.3 that keep the state of NVSHMEM's GPU code up to date, in addition to what the
// functions of nvshmem.h do.
#include "shmem/nvshmem/renamed_functions.hpp"
//
#include <nvshmem.h>

#include "shmem/nvshmem/device_states.hpp"

#undef nvshmem_finalize
#undef nvshmem_team_destroy
#undef nvshmem_team_split_2d
#undef nvshmem_team_split_strided
#undef nvshmemx_culibrary_init
#undef nvshmemx_cumodule_init
#undef nvshmemx_hostlib_finalize
#undef nvshmemx_team_init

using gdrkit::shmem_impl::nvshmem::DeviceStates;

#pragma GCC visibility push(default)
extern "C" {
void nvshmem_finalize();
void nvshmemx_hostlib_finalize();
int nvshmem_team_split_strided(nvshmem_team_t parent, int start, int stride, int size,
                               const nvshmem_team_config_t* config, long mask, nvshmem_team_t* team);
int nvshmem_team_split_2d(nvshmem_team_t parent, int x_range, const nvshmem_team_config_t* x_config, long x_mask,
                          nvshmem_team_t* x_team, const nvshmem_team_config_t* y_config, long y_mask,
                          nvshmem_team_t* y_team);
void nvshmem_team_destroy(nvshmem_team_t team);
int nvshmemx_team_init(nvshmem_team_t* team, nvshmem_team_config_t* config, long mask, int n_pes, int pe);
int nvshmemx_cumodule_init(CUmod_st* module);
int nvshmemx_culibrary_init(CUlib_st* library);
}
#pragma GCC visibility pop

void nvshmem_finalize() {
  gdrkit_nvshmem_check(gdrkit_shmem_finalize_shared(), "nvshmem_finalize");
  DeviceStates::of_process().forget_ended_pe();
}

void nvshmemx_hostlib_finalize() { nvshmem_finalize(); }

int nvshmem_team_split_strided(nvshmem_team_t parent, int start, int stride, int size,
                               const nvshmem_team_config_t* /*config*/, long /*mask*/, nvshmem_team_t* team) {
  const int result = gdrkit_nvshmem_report(gdrkit_shmem_team_split_strided(parent, start, stride, size, team),
                                           "nvshmem_team_split_strided");
  return result == 0 ? DeviceStates::of_process().add_team(*team) : result;
}

int nvshmem_team_split_2d(nvshmem_team_t parent, int x_range, const nvshmem_team_config_t* /*x_config*/,
                          long /*x_mask*/, nvshmem_team_t* x_team, const nvshmem_team_config_t* /*y_config*/,
                          long /*y_mask*/, nvshmem_team_t* y_team) {
  const int result =
      gdrkit_nvshmem_report(gdrkit_shmem_team_split_2d(parent, x_range, x_team, y_team), "nvshmem_team_split_2d");
  if (result != 0) return result;
  const int of_x = DeviceStates::of_process().add_team(*x_team);
  const int of_y = DeviceStates::of_process().add_team(*y_team);
  return of_x != 0 ? of_x : of_y;
}

int nvshmemx_team_init(nvshmem_team_t* team, nvshmem_team_config_t* config, long mask, int n_pes, int pe) {
  const int result = gdrkit_nvshmemx_team_init(team, config, mask, n_pes, pe);
  return result == 0 ? DeviceStates::of_process().add_team(*team) : result;
}

void nvshmem_team_destroy(nvshmem_team_t team) {
  const int result = gdrkit_nvshmem_report(gdrkit_shmem_team_destroy(team), "nvshmem_team_destroy");
  if (result == 0) DeviceStates::of_process().remove_team(team);
}

int nvshmemx_cumodule_init(CUmod_st* module) {
  bool is_nvshmem = false;
  const int result = DeviceStates::of_process().fill_module(module, &is_nvshmem);
  if (is_nvshmem) return result;
  return gdrkit_nvshmem_report(gdrkit_shmem_module_init(module), "nvshmemx_cumodule_init");
}

int nvshmemx_culibrary_init(CUlib_st* library) {
  void* module = nullptr;
  const int result = gdrkit_nvshmem_report(gdrkit_shmem_module_of_library(library, &module), "nvshmemx_culibrary_init");
  return result == 0 ? nvshmemx_cumodule_init(static_cast<CUmod_st*>(module)) : result;
}
