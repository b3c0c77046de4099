/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief One-sided communication between GPUs, for C (C99 or newer) and C++ (C++11 or newer). Includes all parts.
 *
 * Names and layouts may change until version 1.0.
 */
#ifndef GDRKIT_SHMEM_H
#define GDRKIT_SHMEM_H

/**
 * @defgroup shmem One-sided communication
 * @brief Puts, gets, atomic operations, signals and collectives between GPUs.
 *
 * A job has `n_pes` processing elements (PEs), numbered from 0, each with one GPU. The GPU of each PE holds a symmetric
 * heap. All PEs allocate the same objects in the same order. A PE names another PE's copy of an object by the address
 * of its own copy.
 *
 * @code{.c}
 * #include <gdrkit/shmem.h>
 *
 * int main(void) {
 *   long numbers[100] = {0}, *inbox = NULL;
 *   uint64_t* signal = NULL;
 *   if (gdrkit_shmem_init(NULL) != 0) return 1;
 *   const int next = (gdrkit_shmem_my_pe() + 1) % gdrkit_shmem_n_pes();
 *   if (gdrkit_shmem_long_calloc(100, &inbox) != 0 || gdrkit_shmem_uint64_calloc(1, &signal) != 0) return 1;
 *   gdrkit_shmem_put_signal(inbox, numbers, sizeof numbers, signal, 1, GDRKIT_SHMEM_SIGNAL_SET, next);
 *   gdrkit_shmem_signal_wait_until(signal, GDRKIT_SHMEM_EQ, 1, NULL);
 *   return gdrkit_shmem_finalize() == 0 ? 0 : 1;
 * }
 * @endcode
 *
 * @section shmem_errors Errors
 * A function returns 0 or a positive value on success, and a negative errno on failure. After a failure,
 * gdrkit_shmem_last_error() names the PE, the step and the cause. Outputs are set only on success. Each
 * function lists its errors. Every function that operates on a PE also returns the common errors:
 * - `-EINVAL`: the calling thread has no PE, or the process has several PEs and the thread is bound to none.
 * - `-EINVAL`: an argument is invalid, such as a PE number that is not less than `n_pes`, an address outside the
 *   symmetric heap, a range that exceeds its allocation, or a NULL output. Nothing is written then.
 * - `-EACCES`: the calling process is a forked child of the PE's process.
 * - `-ENOMEM`: the host is out of memory.
 * - `-EIO`: the CUDA driver or UCX reported an error that has no errno of its own.
 *
 * A function that waits for other PEs also returns the errors of waits:
 * - `-ECONNRESET`: the process of a PE exited without finalizing the PE, or the connection to a PE of another node was
 *   lost. Both are detected within seconds.
 * - `-ETIMEDOUT`: the wait exceeded the PE's time limit.
 *
 * @section shmem_threads Threads
 * All functions are thread-safe, with one exception: two threads of a PE must not be in collectives of the same team at
 * the same time. Every member PE of the job or team must call its collectives in the same order. A thread operates on
 * the PE to which it was last bound by gdrkit_shmem_init(), gdrkit_shmem_init_shared() or gdrkit_shmem_use(). A thread
 * that is bound to none operates on the only PE of the process.
 *
 * @section shmem_memory Memory
 * The `target` of a put and the `source` of a get are addresses in the caller's own symmetric heap. The other argument
 * is local: host memory, or memory of the caller's GPU inside or outside its heap. Symmetric memory is device memory,
 * which the CPU must not dereference. To access it from the CPU, call gdrkit_shmem_put() or gdrkit_shmem_get() with the
 * caller's own PE number.
 *
 * @section shmem_order Ordering
 * docs/shmem-memory-model.md defines what each call guarantees. The source of gdrkit_shmem_put() may be reused when the
 * call returns. gdrkit_shmem_fence() orders earlier puts before later puts to the same PE. After gdrkit_shmem_quiet(),
 * all earlier puts are visible at their targets.
 */

#include <gdrkit/shmem_types.h>

#include <gdrkit/shmem_job.h>

#include <gdrkit/shmem_memory.h>

#include <gdrkit/shmem_transfer.h>

#include <gdrkit/shmem_atomic.h>
#include <gdrkit/shmem_collectives.h>
#include <gdrkit/shmem_kernel.h>
#include <gdrkit/shmem_stream.h>
#include <gdrkit/shmem_team.h>
#include <gdrkit/shmem_wait.h>

#endif
