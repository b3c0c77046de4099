/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Initialization and finalization of a PE of a job. Included by gdrkit/shmem.h.
 */
#ifndef GDRKIT_SHMEM_JOB_H
#define GDRKIT_SHMEM_JOB_H

#include <gdrkit/shmem_pe.h>
#include <gdrkit/shmem_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @defgroup shmem_job Jobs and PEs
 * @ingroup shmem
 * @brief Initialization, finalization and properties of a PE.
 *
 * @code{.c}
 * #include <gdrkit/shmem.h>
 * #include <stdio.h>
 *
 * int join(int pe, int n_pes, const gdrkit_shmem_unique_id_t* id_of_pe_0) {
 *   struct gdrkit_shmem_options options = {0};
 *   options.struct_size = sizeof options;
 *   options.pe = pe;
 *   options.n_pes = n_pes;
 *   options.unique_id = id_of_pe_0;
 *   const int result = gdrkit_shmem_init(&options);
 *   if (result != 0) fprintf(stderr, "%s\n", gdrkit_shmem_last_error());
 *   return result;
 * }
 * @endcode
 * @{
 */

/** @brief Unique ID of a job, made by the process of PE 0 and distributed to the others by the application. */
typedef struct {
  unsigned char bytes[128]; /**< Opaque contents. Keep them secret: they include the key of the job. */
} gdrkit_shmem_unique_id_t;

/**
 * @brief All-gather of the application.
 * @param[in] mine Data of this PE.
 * @param[in] size_bytes Size of the data of one PE.
 * @param[out] all Data of all PEs: part i comes from PE i.
 * @param[in] argument gdrkit_shmem_options::allgather_argument.
 * @return 0 on success, or any other value on failure.
 */
typedef int (*gdrkit_shmem_allgather_t)(const void* mine, size_t size_bytes, void* all, void* argument);

/**
 * @brief Options of gdrkit_shmem_init().
 *
 * Set `struct_size`. A member that is 0 selects its default. If `n_pes` is 0, the environment of a launcher
 * (gdrkit run, mpirun, srun, torchrun) sets the PE and the number of PEs. Without a launcher the job has one PE. Names
 * in capitals are environment variables (docs/environment.md).
 */
struct gdrkit_shmem_options {
  uint32_t struct_size; /**< `sizeof(struct gdrkit_shmem_options)`. */
  int32_t n_pes;        /**< Number of PEs; 0: from the launcher's environment. */
  int32_t pe;           /**< PE number, 0 to `n_pes` - 1. Ignored if `n_pes` is 0. */
  uint32_t has_device;  /**< 1: use `device`. 0: use the PE's local rank on its node, modulo the number of GPUs. */
  int32_t device;       /**< CUDA device number. */
  uint32_t timeout_ms;  /**< Limit of init, collectives and waits; 0: `GDRKIT_SHMEM_TIMEOUT_S`, else 300 s. */
  const gdrkit_shmem_unique_id_t* unique_id; /**< ID from PE 0. With `n_pes` > 1, set this or `allgather`. */
  gdrkit_shmem_allgather_t allgather;        /**< Alternative to `unique_id`. */
  void* allgather_argument;                  /**< Last argument of `allgather`. */
  /** Initial symmetric memory of each PE in bytes; 0: `GDRKIT_SHMEM_HEAP`, else 64 MiB. It grows as needed. */
  uint64_t heap_bytes;
  /** Maximum symmetric memory in bytes; 0: `GDRKIT_SHMEM_HEAP_MAX`, else the memory of the job's largest GPU. */
  uint64_t heap_max_bytes;
  /** 1: if `heap_bytes` is 0 and `GDRKIT_SHMEM_HEAP` is not set, `NVSHMEM_SYMMETRIC_SIZE` sets the initial size of the
   * heap. */
  uint32_t should_read_nvshmem_variables;
  /**
   * 1: select the device as NVSHMEM does. If `has_device` is 1, `device` is used. Otherwise the device of the calling
   * thread's current CUDA context is used, if it is not device 0. In all other cases the PE's local rank selects the
   * device. After init the PE's device is current in that thread. A call of malloc, calloc, align or barrier_all in a
   * thread where another device is current prints a warning to stderr, once per process.
   */
  uint32_t should_follow_current_device;
};

/**
 * @brief Creates the unique ID of a new job.
 *
 * The process listens on a socket for each ID until PE 0 uses the ID.
 * @param[out] id The unique ID.
 * @return 0 on success.
 *   - `-EINVAL`: `id` is NULL.
 *   - `-EADDRNOTAVAIL`: no network address is available to listen on.
 *   - `-ENODEV`: the network interface `GDRKIT_SHMEM_INTERFACE` does not exist or is down.
 *   - Another errno of socket(2), bind(2) or listen(2).
 * @note May be called without a PE.
 */
int gdrkit_shmem_get_unique_id(gdrkit_shmem_unique_id_t* id);

/**
 * @brief Closes the listening socket of an ID that no job has used.
 * @param[in] id ID from gdrkit_shmem_get_unique_id() in this process.
 * @return 0 on success.
 *   - `-EINVAL`: `id` is NULL, or this process has no socket for it.
 * @note May be called without a PE.
 */
int gdrkit_shmem_release_unique_id(const gdrkit_shmem_unique_id_t* id);

/**
 * @brief Joins a job as a new PE of this process, and binds the calling thread to it.
 *
 * It uses the GPU's primary context, as the CUDA runtime does. The calling thread's current context does not change
 * unless `should_follow_current_device` is set.
 * @param[in] options Options, or NULL for the defaults.
 * @return 0 on success.
 *   - `-EINVAL`: an option or an environment variable is invalid.
 *   - `-ENODEV`: no GPU is available, and `GDRKIT_BACKEND=emulated` is not set.
 *   - `-EPROTO`: PEs have different options, versions or numbers of PEs.
 *   - `-EACCES`: a process of another user listens at the address of PE 0.
 *   - `-EHOSTUNREACH`: PE 0 or a PE of this node cannot be reached.
 *   - `-ENOMEM`: the GPU or the host has too little memory for the heap.
 *   - `-ECONNRESET`, `-ETIMEDOUT`, `-EIO`: see @ref shmem_errors.
 * @note Collective over the job.
 */
int gdrkit_shmem_init(const struct gdrkit_shmem_options* options);

/**
 * @brief Ends the calling thread's PE and frees its heap.
 *
 * It waits for calls of other threads on the PE, then for all PEs. Calls on the PE that begin later return `-EINVAL`.
 * @return 0 on success.
 *   - `-EBUSY`: the calling thread is inside another gdrkit_shmem call, for example in a signal handler that
 *     interrupted it. Nothing has changed.
 *   - `-ETIMEDOUT`: a call of another thread did not end within the PE's limit; nothing has changed. If instead the
 *     wait for other PEs timed out, this PE is finalized.
 *   - `-ECONNRESET`: another PE ended early; this PE is finalized nevertheless.
 *   - See also @ref shmem_errors.
 * @note Collective over the job.
 */
int gdrkit_shmem_finalize(void);

/**
 * @brief Initializes a PE that several libraries of this process share.
 *
 * The first call works like gdrkit_shmem_init(). Later calls ignore `options` and bind the calling thread to that PE.
 * @param[in] options Options, or NULL for the defaults.
 * @return 0 on success, or an error of gdrkit_shmem_init().
 * @note The first call is collective.
 */
int gdrkit_shmem_init_shared(const struct gdrkit_shmem_options* options);

/**
 * @brief Releases one use from gdrkit_shmem_init_shared(). The last release finalizes the PE.
 * @return 0 on success.
 *   - `-EINVAL`: every use from gdrkit_shmem_init_shared() has already been released.
 *   - An error of gdrkit_shmem_finalize().
 * @note The last call is collective.
 */
int gdrkit_shmem_finalize_shared(void);

/**
 * @brief Sets `pe`, `n_pes` and the all-gather of `options` from an MPI communicator.
 *
 * It calls the functions of Open MPI, MPICH or an MPI with the ABI of MPICH that this process has loaded.
 * @param[in,out] options Options for gdrkit_shmem_init().
 * @param[in] communicator Address of an MPI_Comm, which must stay valid until gdrkit_shmem_init() returns.
 * @return 0 on success.
 *   - `-EINVAL`: an argument is NULL, or a function of MPI failed.
 *   - `-ENOENT`: the process has not loaded an MPI.
 * @note May be called without a PE.
 */
int gdrkit_shmem_use_mpi(struct gdrkit_shmem_options* options, void* communicator);

/**
 * @brief Returns the error message of the calling thread's last failed call.
 * @return The message, or "" if no call failed. It is valid until the next failing call of the thread.
 */
const char* gdrkit_shmem_last_error(void);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
