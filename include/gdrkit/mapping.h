/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Mappings: pinned device memory in the address space of the process, and the engine that performs its copies.
 */
#ifndef GDRKIT_MAPPING_H
#define GDRKIT_MAPPING_H

#include <gdrkit/pin.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Memory type of a CPU mapping. */
enum gdrkit_mapping_type {
  GDRKIT_MAPPING_DEFAULT = 0,         /**< @brief The type that the platform supports best. */
  GDRKIT_MAPPING_WRITE_COMBINING = 1, /**< @brief Stores are combined into lines; loads are not cached. */
  GDRKIT_MAPPING_CACHED = 2,          /**< @brief Coherent memory, cached by the CPU. */
  GDRKIT_MAPPING_DEVICE = 3           /**< @brief Neither combined nor cached. */
};

/** @brief Engine that performs the copies of all functions of copy.h. */
enum gdrkit_engine {
  GDRKIT_ENGINE_DEFAULT = 0,     /**< @brief $GDRKIT_ENGINE, else the CPU. */
  GDRKIT_ENGINE_CPU = 1,         /**< @brief CPU stores and loads. */
  GDRKIT_ENGINE_LANES = 2,       /**< @brief Several threads, for large copies. */
  GDRKIT_ENGINE_COPY_ENGINE = 3, /**< @brief CUDA's asynchronous copies. */
  GDRKIT_ENGINE_MOVER = 4,       /**< @brief A GPU kernel, resident until 100 us after the last copy. */
  /** @brief The fastest engine for each copy. $GDRKIT_ENGINE overrides this option and DEFAULT, but no other option. */
  GDRKIT_ENGINE_AUTOMATIC = 5
};

/** @brief Options of gdrkit_map(). */
struct gdrkit_map_options {
  uint32_t struct_size; /**< @brief sizeof(struct gdrkit_map_options). */
  int32_t mapping_type; /**< @brief enum gdrkit_mapping_type. */
  int32_t engine;       /**< @brief enum gdrkit_engine. */
  int32_t reserved;     /**< @brief 0. */
};

/**
 * @brief Maps a pin. A pin can have one mapping at a time.
 *
 * A named engine is LANES, COPY_ENGINE or MOVER, chosen by the option or by $GDRKIT_ENGINE. With an engine other than
 * the CPU:
 * - The device memory must not be freed during a copy.
 * - A copy may take locks and make system calls.
 * - gdrkit_write(), gdrkit_read() and the *_segments() calls return when the copy is complete. If a named engine has no
 *   free resources, the CPU performs the copy; other errors of a named engine are returned.
 * - Opening the engine retains the device's primary CUDA context.
 * - A busy GPU delays a copy but does not make it fail, except with the mover after 60 s (below). If a named engine is
 *   busy with other copies or cannot be scheduled on the GPU, a copy waits for it up to 50 ms; then the CPU performs
 *   the copy. For the next 500 ms, the CPU performs every copy that the engine cannot start at once.
 * - If an engine is out of memory, or if all of its slots are in use by started copies and segments, the CPU performs
 *   the copy at once.
 * - If the mover does not complete a copy in 60 s, the GPU is treated as lost: the call returns -ETIMEDOUT. The process
 *   must neither reuse nor free the host memory, because the GPU may still access it.
 *
 * GDRKIT_ENGINE_AUTOMATIC chooses the engine by direction, size and kind of host memory. It uses a profile from `gdrkit
 * tune`, or built-in figures. The CPU performs copies that the GPU cannot perform.
 *
 * @param[in]  pin      The pin.
 * @param[in]  options  Mapping type and engine; may be NULL.
 * @param[out] address  Receives the CPU address of the first byte that was passed to gdrkit_pin().
 *
 * @return 0 on success, else a negative errno:
 *         - -EAGAIN: the pin is already mapped.
 *         - -EINVAL: `address` is NULL, an option is invalid, $GDRKIT_ENGINE has an unknown value, the memory was
 *           freed, or the handle is invalid.
 *         - -EOPNOTSUPP: the platform does not support the mapping type, or the named engine cannot run here.
 *         - -E2BIG: the program sets an option that this library does not have.
 *         - -ENOMEM: BAR1 is full, or out of memory.
 *         - -EIO: the mapping refers to other memory, or an earlier gdrkit_unmap() of this pin failed.
 *         - -EACCES: the pin belongs to the parent process.
 *         - Another errno for a driver error; gdrkit_last_error() contains the driver's code.
 *
 * @code{.c}
 * int map_for_large_copies(gdrkit_pin_t pin, void** address) {
 *   struct gdrkit_map_options options;
 *   memset(&options, 0, sizeof options);
 *   options.struct_size = sizeof options;
 *   options.engine = GDRKIT_ENGINE_AUTOMATIC;
 *   return gdrkit_map(pin, &options, address);
 * }
 * @endcode
 */
int gdrkit_map(gdrkit_pin_t pin, const struct gdrkit_map_options* options, void** address);

/**
 * @brief Unmaps a pin. Waits for started copies through it, whose handles must still be passed to gdrkit_finish_copy().
 *
 * @param[in] pin  The pin, which stays pinned.
 *
 * @return 0 on success, else a negative errno:
 *         - -EINVAL: the pin is not mapped, or the handle is invalid.
 *         - -EACCES: the pin belongs to the parent process.
 *         - Another errno for a driver error; after that, the pin cannot be mapped again.
 */
int gdrkit_unmap(gdrkit_pin_t pin);

/**
 * @brief Returns the name of an engine: the value of $GDRKIT_ENGINE and $GDRKIT_DROPIN_ENGINE that selects it.
 *
 * @param[in] engine  enum gdrkit_engine.
 *
 * @return A static string, for instance "copy_engine"; "" for GDRKIT_ENGINE_DEFAULT; NULL for any other number.
 */
const char* gdrkit_engine_name(int engine);

#ifdef __cplusplus
}
#endif
#endif
