/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Functions of libgdrkit_shmem for gdrkit's own headers and programs. They have the symbol version GDRKIT_SHMEM_PRIVATE
 * and may change in every release. */
#ifndef GDRKIT_SHMEM_PRIVATE_H
#define GDRKIT_SHMEM_PRIVATE_H

#include <gdrkit/shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies the state to the place where GPU code of the current GPU reads it. Returns 0, or an error of its own. */
typedef int (*gdrkit_shmem_fill_state_t)(const struct gdrkit_shmem_device_state* state);

/* Calls `fill` once per PE of this process with the PE's GPU current: now, in each later init, and after each change of
 * the time limit. Does not call it for the emulated device. Any thread. -EINVAL: `fill` is NULL. -ENOMEM. */
int gdrkit_shmem_register_state(gdrkit_shmem_fill_state_t fill);
/* Returns 0, also for a function that was not registered. */
int gdrkit_shmem_unregister_state(gdrkit_shmem_fill_state_t fill);

/* For GPU code that keeps another state than gdrkit's. All use the GPU of the calling thread's PE. */

/* Calls `function(argument)` while the GPU is current. */
int gdrkit_shmem_call_with_gpu(void (*function)(void* argument), void* argument);
/* Copy to and from an address of the GPU's memory, symmetric or not. The copy is complete when the call returns. */
int gdrkit_shmem_copy_to_gpu(void* target, const void* source, size_t size_bytes);
int gdrkit_shmem_copy_from_gpu(void* target, const void* source, size_t size_bytes);
/* Finds a variable of a CUmodule. `size_bytes` may be NULL. Fails with an errno for the CUDA error if the module lacks
 * it, and with -EINVAL if `module` is NULL. */
int gdrkit_shmem_find_variable(void* module, const char* name, void** address, size_t* size_bytes);
/* Stores the CUmodule of a CUlibrary. -EINVAL: `library` is NULL. -ENOSYS: the driver is older than CUDA 12. */
int gdrkit_shmem_module_of_library(void* library, void** module);

/* Announces to the PEs of this node that this PE ends the job with the exit status `status`. The caller must then exit
 * from the process. Calls of the other PEs that wait for this PE fail with -ECONNRESET. */
int gdrkit_shmem_announce_exit(int status);
/* Stores the status that a PE of this node announced in *status (may be NULL). -ENOENT: none did. Does not change
 * gdrkit_shmem_last_error(). */
int gdrkit_shmem_announced_exit(int* status);

#ifdef __cplusplus
}
#endif
#endif
