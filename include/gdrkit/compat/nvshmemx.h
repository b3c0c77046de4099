/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's extensions (nvshmemx_...) on gdrkit shmem; see nvshmem.h, which has those of them that are made together
 * with the functions that they extend. */
#ifndef GDRKIT_COMPAT_NVSHMEMX_H
#define GDRKIT_COMPAT_NVSHMEMX_H

#include "nvshmem.h"

static inline int nvshmemx_buffer_register(void* address, size_t length) {
  return gdrkit_shmem_buffer_register(address, length);
}
static inline int nvshmemx_buffer_unregister(void* address) { return gdrkit_shmem_buffer_unregister(address); }
static inline void nvshmemx_buffer_unregister_all(void) {
  gdrkit_nvshmem_check(gdrkit_shmem_buffer_unregister_all(), "nvshmemx_buffer_unregister_all");
}
/* Collective. NVSHMEM's flags are hints for its own transports. */
static inline void* nvshmemx_buffer_register_symmetric(void* address, size_t size, int flags) {
  (void)flags;
  return gdrkit_shmem_buffer_register_symmetric(address, size);
}
static inline int nvshmemx_buffer_unregister_symmetric(void* address, size_t size) {
  (void)size;
  return gdrkit_shmem_buffer_unregister_symmetric(address);
}

/* `module` is a CUmodule. */
static inline int nvshmemx_cumodule_init(struct CUmod_st* module) { return gdrkit_shmem_module_init(module); }
static inline int nvshmemx_cumodule_finalize(struct CUmod_st* module) {
  (void)module;
  return 0;
}

#if defined(__CUDACC__) && !defined(GDRKIT_SHMEM_MODULE)
/* The most blocks that run at once: 0 is not one of its answers. */
static inline int nvshmemx_collective_launch_query_gridsize(const void* function, dim3 block, void** arguments,
                                                            size_t shared_bytes, int* grid_size) {
  (void)arguments;
  cudaFunction_t handle = nullptr;
  if (cudaGetFuncBySymbol(&handle, function) != cudaSuccess) return NVSHMEMX_ERROR_INVALID_VALUE;
  const int blocks = gdrkit_shmem_collective_grid(handle, block.x * block.y * block.z, shared_bytes);
  if (blocks < 0) return NVSHMEMX_ERROR_INVALID_VALUE;
  *grid_size = blocks;
  return NVSHMEMX_SUCCESS;
}
/* A grid of 0 blocks: as many as run at once. */
static inline int nvshmemx_collective_launch(const void* function, dim3 grid, dim3 block, void** arguments,
                                             size_t shared_bytes, cudaStream_t stream) {
  cudaFunction_t handle = nullptr;
  if (cudaGetFuncBySymbol(&handle, function) != cudaSuccess) return NVSHMEMX_ERROR_INVALID_VALUE;
  unsigned blocks[3] = {grid.x, grid.y, grid.z};
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) {
    int most = 0;
    const int asked = nvshmemx_collective_launch_query_gridsize(function, block, arguments, shared_bytes, &most);
    if (asked != NVSHMEMX_SUCCESS) return asked;
    blocks[0] = static_cast<unsigned>(most);
    blocks[1] = blocks[2] = 1;
  }
  const unsigned threads[3] = {block.x, block.y, block.z};
  return gdrkit_shmem_collective_launch(handle, blocks, threads, shared_bytes, stream, arguments);
}
#endif

/* What gdrkit does not have. */
#define nvshmemx_mc_ptr(...) GDRKIT_NVSHMEM_LACKS("nvshmemx_mc_ptr: gdrkit has no multicast memory")
#define nvshmemx_buffer_register_symmetric_at_preferred_address(...)                                      \
  GDRKIT_NVSHMEM_LACKS(                                                                                   \
      "nvshmemx_buffer_register_symmetric_at_preferred_address: use nvshmemx_buffer_register_symmetric, " \
      "which chooses the address")
#define nvshmemx_culibrary_init(...) \
  GDRKIT_NVSHMEM_LACKS("nvshmemx_culibrary_init: load a CUmodule and call nvshmemx_cumodule_init")
#define nvshmemx_culibrary_finalize(...) GDRKIT_NVSHMEM_LACKS("nvshmemx_culibrary_finalize: use CUmodules")
#define nvshmemx_qp_create(...) GDRKIT_NVSHMEM_LACKS("nvshmemx_qp_create: gdrkit has no queue pairs")
#define nvshmemx_register_bootstrap(...) GDRKIT_NVSHMEM_LACKS("nvshmemx_register_bootstrap: use nvshmemx_init_attr")
#define nvshmemx_get_device_state(...) \
  GDRKIT_NVSHMEM_LACKS("nvshmemx_get_device_state: use gdrkit_shmem_get_device_state")

#endif
