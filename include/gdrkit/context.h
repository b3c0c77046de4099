/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Contexts: opening a backend, and what can run on this machine.
 */
#ifndef GDRKIT_CONTEXT_H
#define GDRKIT_CONTEXT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @brief A context: an open backend with its pins and buffers. */
typedef struct {
  uint64_t value; /**< @brief Never 0 in a valid handle. */
} gdrkit_context_t;

/** @brief Options of gdrkit_open(). */
struct gdrkit_open_options {
  uint32_t struct_size; /**< @brief sizeof(struct gdrkit_open_options). */
  uint32_t reserved;    /**< @brief 0. */
  /** @brief Name of a backend. NULL: $GDRKIT_BACKEND, else the first automatic one that can run. */
  const char* backend;
  const char* copy_kernel; /**< @brief Name of a copy kernel. NULL: $GDRKIT_COPY_KERNEL, else the best for this CPU. */
};

/** @brief Description of a context. All strings are static. */
struct gdrkit_context_info {
  uint32_t struct_size;          /**< @brief sizeof(struct gdrkit_context_info). */
  uint32_t page_size_bytes;      /**< @brief Size of the pages that are pinned. */
  const char* backend_name;      /**< @brief Name of the backend. */
  const char* store_kernel_name; /**< @brief Copy kernel from the host to the device. */
  const char* load_kernel_name;  /**< @brief Copy kernel from the device to the host. */
  /** @brief 1: mappings normally stay valid after the owner frees the memory; see gdrkit_is_invalidated(). */
  int32_t is_persistent;
  int32_t is_emulated; /**< @brief 1: the device is emulated in host memory. */
};

/** @brief Whether a backend can run on this machine. */
struct gdrkit_backend_report {
  uint32_t struct_size; /**< @brief sizeof(struct gdrkit_backend_report). */
  int32_t is_usable;    /**< @brief 1: a context can be opened on it now. */
  int32_t is_automatic; /**< @brief 1: gdrkit_open() may choose it when no backend is named. */
  int32_t error;        /**< @brief Negative errno if it is not usable, else 0. */
  const char* name;     /**< @brief Name of the backend; static. */
  const char* summary;  /**< @brief One sentence about it; static. */
  char reason[1024];    /**< @brief Why it is not usable; "" if it is usable. */
};

/**
 * @brief Opens a context.
 *
 * @param[in]  options  Backend and copy kernel; may be NULL.
 * @param[out] context  Receives the handle.
 *
 * @return 0 on success, else a negative errno:
 *         - -EINVAL: `context` is NULL, an option is invalid, or the backend or copy kernel named in the options or the
 *           environment is unknown.
 *         - -ENODEV: no automatic backend can run; gdrkit_last_error() gives the reason for each.
 *         - -EOPNOTSUPP: this CPU cannot run the named copy kernel.
 *         - -E2BIG: the program sets an option that this library does not have.
 *         - -ENOMEM: out of memory or handles.
 *         - If a backend is named and cannot run: its own error, for instance -EACCES for a device file.
 * @note Creates no CUDA context. If the process already has a primary CUDA context, the call may temporarily allocate
 *       64 KiB of device memory in it.
 */
int gdrkit_open(const struct gdrkit_open_options* options, gdrkit_context_t* context);

/**
 * @brief Unmaps, unpins and frees what is left in a context, then closes it.
 *
 * @param[in] context  The context. The handle is invalid afterwards, even on error.
 *
 * @return 0 on success, else a negative errno. Cleanup continues after an error; the first error is returned.
 *         - -EINVAL: the handle is invalid.
 *         - -EACCES: the context belongs to the parent process and has pins or buffers. It stays open in the parent.
 * @note In a forked child, closing an inherited context without pins and buffers returns 0 and only invalidates the
 *       child's handle. The context stays open in the parent.
 */
int gdrkit_close(gdrkit_context_t context);

/**
 * @brief Describes a context. Makes no system call.
 *
 * @param[in]  context  The context.
 * @param[out] info     Receives the description; set its struct_size before the call.
 *
 * @return 0 on success, else a negative errno:
 *         - -EINVAL: `info` is NULL, its struct_size is invalid, or the handle is invalid.
 *         - -EACCES: the context belongs to the parent process.
 */
int gdrkit_get_context_info(gdrkit_context_t context, struct gdrkit_context_info* info);

/**
 * @brief Reports whether a backend can run on this machine.
 *
 * @param[in]  index   Number of the backend in probe order, from 0.
 * @param[out] report  Receives the report; set its struct_size before the call.
 *
 * @return 0 on success, even if the backend is not usable; else a negative errno:
 *         - -ENOENT: `index` is past the last backend.
 *         - -EINVAL: `report` is NULL, or its struct_size is invalid.
 *         - -ENOMEM: out of memory.
 *
 * @code{.c}
 * void print_backends(void) {
 *   struct gdrkit_backend_report report;
 *   unsigned index;
 *   memset(&report, 0, sizeof report);
 *   report.struct_size = sizeof report;
 *   for (index = 0; gdrkit_probe_backend(index, &report) == 0; ++index)
 *     printf("%s: %s\n", report.name, report.is_usable ? "usable" : report.reason);
 * }
 * @endcode
 */
int gdrkit_probe_backend(unsigned index, struct gdrkit_backend_report* report);

/**
 * @brief Returns the name of a copy kernel.
 *
 * @param[in]  index      Number of the copy kernel, from 0, in order of preference.
 * @param[out] is_usable  Receives 1 if this CPU can run it, else 0. May be NULL.
 *
 * @return A static name; NULL if `index` is past the last copy kernel.
 */
const char* gdrkit_copy_kernel_name(unsigned index, int* is_usable);

#ifdef __cplusplus
}
#endif
#endif
