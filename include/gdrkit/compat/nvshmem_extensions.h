/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's extensions (nvshmemx_...) for buffers, modules, launches and hints. Included by nvshmem.h. */
#ifndef GDRKIT_COMPAT_NVSHMEM_EXTENSIONS_H
#define GDRKIT_COMPAT_NVSHMEM_EXTENSIONS_H

#include "nvshmem_base.h"

GDRKIT_NVSHMEM_HOST int nvshmemx_buffer_register(void* address, size_t length) {
  return GDRKIT_NVSHMEM_RESULT(gdrkit_shmem_buffer_register(address, length));
}
GDRKIT_NVSHMEM_HOST int nvshmemx_buffer_unregister(void* address) {
  return GDRKIT_NVSHMEM_RESULT(gdrkit_shmem_buffer_unregister(address));
}
GDRKIT_NVSHMEM_HOST void nvshmemx_buffer_unregister_all(void) {
  gdrkit_nvshmem_check(gdrkit_shmem_buffer_unregister_all(), "nvshmemx_buffer_unregister_all");
}
/* Collective. NVSHMEM's flags are hints for its own transports. */
GDRKIT_NVSHMEM_HOST void* nvshmemx_buffer_register_symmetric(void* address, size_t size, int flags) {
  void* symmetric = NULL;
  (void)flags;
  const int result = gdrkit_shmem_buffer_register_symmetric(address, size, &symmetric);
  return GDRKIT_NVSHMEM_RESULT(result) == 0 ? symmetric : NULL;
}
/* gdrkit chooses the address. */
GDRKIT_NVSHMEM_HOST void* nvshmemx_buffer_register_symmetric_at_preferred_address(void* address, size_t size,
                                                                                  void* preferred, int flags) {
  (void)preferred;
  return nvshmemx_buffer_register_symmetric(address, size, flags);
}
GDRKIT_NVSHMEM_HOST int nvshmemx_buffer_unregister_symmetric(void* address, size_t size) {
  (void)size;
  return GDRKIT_NVSHMEM_RESULT(gdrkit_shmem_buffer_unregister_symmetric(address));
}

/* `module` is a CUmodule. */
GDRKIT_NVSHMEM_HOST int nvshmemx_cumodule_init(struct CUmod_st* module) {
  return GDRKIT_NVSHMEM_RESULT(gdrkit_shmem_module_init(module));
}
GDRKIT_NVSHMEM_HOST int nvshmemx_cumodule_finalize(struct CUmod_st* module) {
  (void)module;
  return 0;
}

/* `library` is a CUlibrary. */
GDRKIT_NVSHMEM_HOST int nvshmemx_culibrary_init(struct CUlib_st* library) {
  return GDRKIT_NVSHMEM_RESULT(gdrkit_shmem_library_init(library));
}
GDRKIT_NVSHMEM_HOST int nvshmemx_culibrary_finalize(struct CUlib_st* library) {
  (void)library;
  return 0;
}

#if defined(__CUDACC__) && !defined(GDRKIT_SHMEM_MODULE)
/* Returns the maximum number of co-resident blocks; 0 if not even one block fits. */
GDRKIT_NVSHMEM_HOST int nvshmemx_collective_launch_query_gridsize(const void* function, dim3 block, void** arguments,
                                                                  size_t shared_bytes, int* grid_size) {
  (void)arguments;
  cudaFunction_t handle = nullptr;
  if (cudaGetFuncBySymbol(&handle, function) != cudaSuccess) return NVSHMEMX_ERROR_INVALID_VALUE;
  const int blocks = gdrkit_shmem_collective_grid(handle, block.x * block.y * block.z, shared_bytes);
  if (blocks < 0) return NVSHMEMX_ERROR_INVALID_VALUE;
  *grid_size = blocks;
  return NVSHMEMX_SUCCESS;
}
/* A grid with a dimension of 0 stands for the maximum number of co-resident blocks. */
GDRKIT_NVSHMEM_HOST int nvshmemx_collective_launch(const void* function, dim3 grid, dim3 block, void** arguments,
                                                   size_t shared_bytes, cudaStream_t stream) {
  cudaFunction_t handle = nullptr;
  if (cudaGetFuncBySymbol(&handle, function) != cudaSuccess) return NVSHMEMX_ERROR_INVALID_VALUE;
  unsigned blocks[3] = {grid.x, grid.y, grid.z};
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) {
    int most = 0;
    const int queried = nvshmemx_collective_launch_query_gridsize(function, block, arguments, shared_bytes, &most);
    if (queried != NVSHMEMX_SUCCESS) return queried;
    blocks[0] = static_cast<unsigned>(most);
    blocks[1] = blocks[2] = 1;
  }
  const unsigned threads[3] = {block.x, block.y, block.z};
  return gdrkit_shmem_collective_launch(handle, blocks, threads, shared_bytes, stream, arguments);
}
typedef struct {
  cudaLaunchConfig_t cuda_config;
} nvshmemx_collective_launch_attr_t;
/* Attributes of the launch other than its shape, shared memory and stream are ignored. */
GDRKIT_NVSHMEM_HOST int nvshmemx_collective_launch_attr(const nvshmemx_collective_launch_attr_t* attributes,
                                                        const void* function, void** arguments) {
  const cudaLaunchConfig_t& shape = attributes->cuda_config;
  return nvshmemx_collective_launch(function, shape.gridDim, shape.blockDim, arguments, shape.dynamicSmemBytes,
                                    shape.stream);
}
#endif

/* Regions announce many small puts to NVSHMEM. gdrkit sends puts immediately, so no region is ever active. */
typedef uint64_t nvshmemx_region_handle_t;
typedef enum { NVSHMEMX_REGION_HINT_NONE = 0, NVSHMEMX_REGION_HINT_BATCH_RMA = 1 } nvshmemx_region_hint_t;
typedef struct nvshmemx_region_attrs {
  uint32_t hints;
  char reserved[60];
} nvshmemx_region_attrs_t;
#define NVSHMEMX_REGION_ATTRS_INITIALIZER \
  {                                       \
    NVSHMEMX_REGION_HINT_NONE, { 0 }      \
  }
GDRKIT_NVSHMEM_BOTH int nvshmemx_region_is_active(uint32_t hints, int* is_active) {
  (void)hints;
  *is_active = 0;
  return NVSHMEMX_SUCCESS;
}
GDRKIT_NVSHMEM_HOST int nvshmemx_region_start(nvshmemx_region_handle_t* handle,
                                              const nvshmemx_region_attrs_t* attributes) {
  (void)attributes;
  *handle = 0;
  return NVSHMEMX_SUCCESS;
}
GDRKIT_NVSHMEM_HOST int nvshmemx_region_stop(nvshmemx_region_handle_t handle) {
  (void)handle;
  return NVSHMEMX_SUCCESS;
}
GDRKIT_NVSHMEM_GPU(int nvshmemx_region_start_block(nvshmemx_region_handle_t* handle, const nvshmemx_region_attrs_t*) {
  *handle = 0;
  return NVSHMEMX_SUCCESS;
})
GDRKIT_NVSHMEM_GPU(int nvshmemx_region_stop_block(nvshmemx_region_handle_t) { return NVSHMEMX_SUCCESS; })

/* Shared memory for NVSHMEM's copies by TMA: gdrkit's copies need none. */
typedef enum {
  NVSHMEMX_SMEM_RECOMMENDED = 0,
  NVSHMEMX_SMEM_MINIMUM,
  NVSHMEMX_SMEM_BARRIERS_ONLY
} nvshmemx_smem_amount_t;
GDRKIT_NVSHMEM_BOTH int nvshmemx_ask_smem(nvshmemx_smem_amount_t amount) {
  (void)amount;
  return 0;
}
GDRKIT_NVSHMEM_GPU(void nvshmemx_give_smem(void*, size_t){})
GDRKIT_NVSHMEM_GPU(void nvshmemx_release_smem(){})

/* Functions that gdrkit does not have. */
#define nvshmem_realloc(...) GDRKIT_NVSHMEM_LACKS("nvshmem_realloc: allocate anew, copy and free")
#define nvshmemx_register_bootstrap(...) GDRKIT_NVSHMEM_LACKS("nvshmemx_register_bootstrap: use nvshmemx_init_attr")
#define nvshmemx_get_device_state(...) \
  GDRKIT_NVSHMEM_LACKS("nvshmemx_get_device_state: use gdrkit_shmem_get_device_state")
#define nvshmemx_qp_create(...) GDRKIT_NVSHMEM_LACKS("nvshmemx_qp_create: gdrkit has no queue pairs")
#if defined(__CUDACC__)
/* Functions of queue pairs: templates that accept any arguments, and do not compile where they are used. */
typedef int nvshmemx_qp_handle_t;
enum { NVSHMEMX_QP_HOST = 0, NVSHMEMX_QP_DEFAULT = 1, NVSHMEMX_QP_ANY = INT_MAX, NVSHMEMX_QP_ALL = INT_MAX };
#define GDRKIT_NVSHMEM_NO_QP(function)                                                                                \
  template <class... Arguments>                                                                                       \
  __device__ void function(const Arguments&...) {                                                                     \
    static_assert(sizeof...(Arguments) > 1000, #function ": gdrkit has no queue pairs; use the function without qp"); \
  }
#define GDRKIT_NVSHMEM_NO_QP_OF_GROUPS(function) \
  GDRKIT_NVSHMEM_NO_QP(function)                 \
  GDRKIT_NVSHMEM_NO_QP(function##_warp)          \
  GDRKIT_NVSHMEM_NO_QP(function##_block)
#define GDRKIT_NVSHMEM_NO_QP_OF_TYPE(name, type)                  \
  GDRKIT_NVSHMEM_NO_QP(nvshmemx_qp_##name##_p)                    \
  GDRKIT_NVSHMEM_NO_QP(nvshmemx_qp_##name##_g)                    \
  GDRKIT_NVSHMEM_NO_QP_OF_GROUPS(nvshmemx_qp_##name##_put)        \
  GDRKIT_NVSHMEM_NO_QP_OF_GROUPS(nvshmemx_qp_##name##_put_nbi)    \
  GDRKIT_NVSHMEM_NO_QP_OF_GROUPS(nvshmemx_qp_##name##_get)        \
  GDRKIT_NVSHMEM_NO_QP_OF_GROUPS(nvshmemx_qp_##name##_get_nbi)    \
  GDRKIT_NVSHMEM_NO_QP_OF_GROUPS(nvshmemx_qp_##name##_put_signal) \
  GDRKIT_NVSHMEM_NO_QP_OF_GROUPS(nvshmemx_qp_##name##_put_signal_nbi)
GDRKIT_NVSHMEM_FOR_EACH_TYPE(GDRKIT_NVSHMEM_NO_QP_OF_TYPE)
GDRKIT_NVSHMEM_NO_QP_OF_GROUPS(nvshmemx_qp_fence)
GDRKIT_NVSHMEM_NO_QP_OF_GROUPS(nvshmemx_qp_quiet)
#undef GDRKIT_NVSHMEM_NO_QP_OF_TYPE
#undef GDRKIT_NVSHMEM_NO_QP_OF_GROUPS
#undef GDRKIT_NVSHMEM_NO_QP
#endif

#endif
