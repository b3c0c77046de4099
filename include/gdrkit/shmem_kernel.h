/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Host functions for GPU kernels that use gdrkit/shmem_device.cuh. Included by gdrkit/shmem.h.
 */
#ifndef GDRKIT_SHMEM_KERNEL_H
#define GDRKIT_SHMEM_KERNEL_H

#include <gdrkit/shmem_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @defgroup shmem_kernel GPU kernels
 * @ingroup shmem
 * @brief State and launch of GPU kernels that communicate (gdrkit/shmem_device.cuh).
 *
 * @code{.c}
 * #include <gdrkit/shmem.h>
 *
 * // Launches a GPU kernel with as many co-resident blocks as the GPU can run. `function` is a CUfunction.
 * int launch(void* function, struct gdrkit_shmem_device_state* state, void* stream) {
 *   const int blocks = gdrkit_shmem_collective_grid(function, 256, 0);
 *   if (blocks < 0) return blocks;
 *   const int result = gdrkit_shmem_get_device_state(state);
 *   if (result != 0) return result;
 *   const unsigned grid[3] = {(unsigned)blocks, 1, 1}, block[3] = {256, 1, 1};
 *   void* parameters[] = {state};
 *   return gdrkit_shmem_collective_launch(function, grid, block, 0, stream, parameters);
 * }
 * @endcode
 * @{
 */

/**
 * @brief State of a PE for GPU kernels, which take it by value or read a copy.
 *
 * Valid until the PE is finalized. Treat the members other than `pe` and `n_pes` as opaque.
 */
struct gdrkit_shmem_device_state {
  int32_t pe;               /**< PE number. */
  int32_t n_pes;            /**< Number of PEs of the job. */
  uint64_t heap_address;    /**< Address of the caller's heap. */
  uint64_t heap_bytes;      /**< Size of the heap's address range. */
  uint64_t stride_bytes;    /**< Distance between the heaps of successive PEs of this node. */
  uint64_t sync_address;    /**< Words of the caller's heap that barriers use. */
  uint64_t limit_ns;        /**< Limit of each wait in nanoseconds. */
  uint64_t control_address; /**< Words in host memory that end waits and report timeouts; 0: none. */
  uint64_t teams_address;   /**< Descriptions of the teams (gdrkit/detail/shmem_team.cuh). */
  uint64_t proxy_address;   /**< Commands to PEs of other nodes (gdrkit/detail/shmem_proxy.cuh); 0: one node. */
};

#ifndef __CUDACC_RTC__ /* NVRTC rejects functions of the host */
/**
 * @brief Returns the state for GPU kernels on this PE's GPU.
 *
 * Its wait limit is the PE's limit, or 60 s if the PE has none: no GPU kernel waits forever.
 * @param[out] state The state.
 * @return 0 on success.
 *   - `-EAGAIN`: a thread that serves GPU kernels cannot be started.
 *   - See also @ref shmem_errors.
 */
int gdrkit_shmem_get_device_state(struct gdrkit_shmem_device_state* state);

/**
 * @brief Initializes the state of a CUmodule that was compiled with GDRKIT_SHMEM_MODULE (gdrkit/shmem_state.cuh).
 *
 * Call it once after loading the module on the PE's GPU.
 * @param[in] module The CUmodule.
 * @return 0 on success.
 *   - `-EINVAL`: `module` is NULL.
 *   - `-EPROTO`: the module was compiled with the headers of another release.
 *   - An errno for the CUDA error if the module has no symbol `gdrkit_shmem_state`.
 *   - See also @ref shmem_errors.
 */
int gdrkit_shmem_module_init(void* module);

/**
 * @brief Initializes the state of a CUlibrary. See gdrkit_shmem_module_init().
 * @param[in] library The CUlibrary.
 * @return 0, or an error of gdrkit_shmem_module_init().
 *   - `-ENOSYS`: the driver is older than CUDA 12.
 */
int gdrkit_shmem_library_init(void* library);

/**
 * @brief Launches a GPU kernel whose blocks run at the same time (cuLaunchCooperativeKernel).
 *
 * Blocks that wait for each other or for other PEs require this.
 * @param[in] function CUfunction of the GPU kernel.
 * @param[in] grid Number of blocks in x, y and z.
 * @param[in] block Number of threads per block in x, y and z.
 * @param[in] shared_bytes Dynamic shared memory per block in bytes.
 * @param[in] stream Stream of the PE's GPU, or NULL for the legacy default stream.
 * @param[in] parameters Addresses of the GPU kernel's arguments, as for cuLaunchKernel.
 * @return 0 on success.
 *   - `-EINVAL`: a pointer is NULL, or the blocks do not fit on the GPU at the same time.
 *   - `-EAGAIN`: a thread that serves GPU kernels cannot be started.
 *   - See also @ref shmem_errors.
 * @note Every PE must call it, because blocks of one PE may wait for those of another.
 * @note gdrkit_shmem_collective_grid() returns the maximum for one PE. If several PEs share a GPU, divide it by their
 *   number. Otherwise their grids do not run at the same time, and waits between them time out.
 */
int gdrkit_shmem_collective_launch(void* function, const unsigned grid[3], const unsigned block[3], size_t shared_bytes,
                                   void* stream, void** parameters);

/**
 * @brief Returns the maximum number of co-resident blocks of `threads` threads.
 * @param[in] function CUfunction of the GPU kernel.
 * @param[in] threads Number of threads per block, at least 1.
 * @param[in] shared_bytes Dynamic shared memory per block in bytes.
 * @return Number of blocks; 0 if not even one block fits. Other PEs on this GPU are not counted.
 *   - `-EINVAL`: `function` is NULL, or `threads` is 0.
 *   - See also @ref shmem_errors.
 */
int gdrkit_shmem_collective_grid(void* function, unsigned threads, size_t shared_bytes);

#endif

/** @} */

#ifdef __cplusplus
}
#endif
#endif
