/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's status constants, and the macros that its examples and tests check them with. Included by nvshmem.h. */
#ifndef GDRKIT_COMPAT_NVSHMEM_STATUS_H
#define GDRKIT_COMPAT_NVSHMEM_STATUS_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* gdrkit's functions return a negative errno instead, which is nonzero as well. */
enum nvshmemx_status {
  NVSHMEMX_SUCCESS = 0,
  NVSHMEMX_ERROR_INVALID_VALUE,
  NVSHMEMX_ERROR_OUT_OF_MEMORY,
  NVSHMEMX_ERROR_NOT_SUPPORTED,
  NVSHMEMX_ERROR_SYMMETRY,
  NVSHMEMX_ERROR_GPU_NOT_SELECTED,
  NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED,
  NVSHMEMX_ERROR_INTERNAL,
  NVSHMEMX_ERROR_SENTINEL = INT_MAX
};
static inline const char* nvshmemx_status_string(int status) {
  switch (status) {
    case NVSHMEMX_SUCCESS: return "NVSHMEMX_SUCCESS";
    case NVSHMEMX_ERROR_INVALID_VALUE: return "NVSHMEMX_ERROR_INVALID_VALUE";
    case NVSHMEMX_ERROR_OUT_OF_MEMORY: return "NVSHMEMX_ERROR_OUT_OF_MEMORY";
    case NVSHMEMX_ERROR_NOT_SUPPORTED: return "NVSHMEMX_ERROR_NOT_SUPPORTED";
    case NVSHMEMX_ERROR_SYMMETRY: return "NVSHMEMX_ERROR_SYMMETRY";
    case NVSHMEMX_ERROR_GPU_NOT_SELECTED: return "NVSHMEMX_ERROR_GPU_NOT_SELECTED";
    case NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED: return "NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED";
    case NVSHMEMX_ERROR_INTERNAL: return "NVSHMEMX_ERROR_INTERNAL";
    default: return status < 0 ? strerror(-status) : "unknown NVSHMEM status";
  }
}

/* Prints the file and line of the caller, then a printf-style message. */
#define GDRKIT_NVSHMEM_PRINT(...) \
  (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), fprintf(stderr, __VA_ARGS__), (void)fputc('\n', stderr))
#define GDRKIT_NVSHMEM_LEAVE_IF(condition, status, error, label, ...) \
  do {                                                                \
    if (condition) {                                                  \
      GDRKIT_NVSHMEM_PRINT(__VA_ARGS__);                              \
      status = error;                                                 \
      goto label;                                                     \
    }                                                                 \
  } while (0)
#define NVSHMEMI_ERROR_PRINT(...)      \
  do {                                 \
    GDRKIT_NVSHMEM_PRINT(__VA_ARGS__); \
  } while (0)
#define NVSHMEMI_ERROR_EXIT(...)       \
  do {                                 \
    GDRKIT_NVSHMEM_PRINT(__VA_ARGS__); \
    exit(-1);                          \
  } while (0)
#define NVSHMEMI_WARN_PRINT(...)                                                        \
  do {                                                                                  \
    fprintf(stdout, "WARN: "), fprintf(stdout, __VA_ARGS__), (void)fputc('\n', stdout); \
  } while (0)
#define NVSHMEMI_ERROR_JMP(status, error, label, ...) GDRKIT_NVSHMEM_LEAVE_IF(1, status, error, label, __VA_ARGS__)
#define NVSHMEMI_NULL_ERROR_JMP(pointer, status, error, label, ...) \
  GDRKIT_NVSHMEM_LEAVE_IF((pointer) == NULL, status, error, label, __VA_ARGS__)
#define NVSHMEMI_EQ_ERROR_JMP(status, unexpected, error, label, ...) \
  GDRKIT_NVSHMEM_LEAVE_IF((status) == (unexpected), status, error, label, __VA_ARGS__)
#define NVSHMEMI_NE_ERROR_JMP(status, expected, error, label, ...) \
  GDRKIT_NVSHMEM_LEAVE_IF((status) != (expected), status, error, label, __VA_ARGS__)
#define NVSHMEMI_NZ_ERROR_JMP(status, error, label, ...) \
  GDRKIT_NVSHMEM_LEAVE_IF((status) != 0, status, error, label, __VA_ARGS__)
#define NVSHMEMI_CHECK_ERROR_JMP(is_failed, status, error, label, ...) \
  GDRKIT_NVSHMEM_LEAVE_IF(is_failed, status, error, label, __VA_ARGS__)
#define NVSHMEMI_NZ_EXIT(status, ...)                    \
  do {                                                   \
    if ((status) != 0) NVSHMEMI_ERROR_EXIT(__VA_ARGS__); \
  } while (0)
#define NONZERO_EXIT(status, ...) NVSHMEMI_NZ_EXIT(status, __VA_ARGS__)
#define GDRKIT_NVSHMEM_RETURN_IF(condition, status, error, ...) \
  do {                                                          \
    if (condition) {                                            \
      GDRKIT_NVSHMEM_PRINT(__VA_ARGS__);                        \
      status = error;                                           \
      return status;                                            \
    }                                                           \
  } while (0)
#define NVSHMEMI_ERROR_RET(status, error, ...) GDRKIT_NVSHMEM_RETURN_IF(1, status, error, __VA_ARGS__)
#define NVSHMEMI_NULL_ERROR_RET(pointer, status, error, ...) \
  GDRKIT_NVSHMEM_RETURN_IF((pointer) == NULL, status, error, __VA_ARGS__)
#define NVSHMEMI_NZ_ERROR_RET(status, error, ...) GDRKIT_NVSHMEM_RETURN_IF((status) != 0, status, error, __VA_ARGS__)
#define NVSHMEMI_NE_ERROR_RET(status, expected, error, ...) \
  GDRKIT_NVSHMEM_RETURN_IF((status) != (expected), status, error, __VA_ARGS__)

#endif
