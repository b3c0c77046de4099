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

/** @brief How the CPU caches a mapping. */
enum gdrkit_mapping_type {
  GDRKIT_MAPPING_DEFAULT = 0,         /**< @brief What the platform supports best. */
  GDRKIT_MAPPING_WRITE_COMBINING = 1, /**< @brief Stores are combined into lines; loads are not cached. */
  GDRKIT_MAPPING_CACHED = 2,          /**< @brief Coherent memory, cached by the CPU. */
  GDRKIT_MAPPING_DEVICE = 3           /**< @brief Neither combined nor cached. */
};

/** @brief What performs the copies of a mapping: gdrkit_write(), gdrkit_read() and those of segments. */
enum gdrkit_engine {
  GDRKIT_ENGINE_DEFAULT = 0,     /**< @brief $GDRKIT_ENGINE, else the CPU. */
  GDRKIT_ENGINE_CPU = 1,         /**< @brief CPU stores and loads. */
  GDRKIT_ENGINE_LANES = 2,       /**< @brief Several threads, for large copies. */
  GDRKIT_ENGINE_COPY_ENGINE = 3, /**< @brief CUDA's asynchronous copies. */
  GDRKIT_ENGINE_MOVER = 4,       /**< @brief A GPU kernel, resident until 100 us after the last copy. */
  GDRKIT_ENGINE_AUTOMATIC = 5    /**< @brief The fastest engine for each copy; $GDRKIT_ENGINE, if set, replaces it. */
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
 * With an engine other than the CPU:
 * - The device memory must not be freed during a copy.
 * - A copy may take locks and make system calls. A failed copy sets gdrkit_last_error().
 * - A copy is complete when the call returns. If the engine cannot perform it, another one does.
 * - Opening the engine retains the device's primary CUDA context.
 * - A busy GPU delays a copy but does not make it fail. If a named engine has no room on the GPU, or too many
 * outstanding copies, a copy waits for it up to 50 ms; then the CPU performs the copy. For the next 500 ms the CPU
 * performs every copy that the engine cannot start at once.
 * - If an engine is out of memory, or has reached its limit of started copies or segments, the CPU performs the copy
 *   immediately.
 * - If the mover does not complete a copy in 60 s, the GPU counts as lost: the call returns -ETIMEDOUT, and the host
 *   memory must not be reused.
 *
 * GDRKIT_ENGINE_AUTOMATIC chooses by direction, size and kind of host memory, from a profile that `gdrkit tune`
 * measured, or from built-in figures. The CPU performs what the GPU cannot.
 *
 * @param[in]  pin      The pin.
 * @param[in]  options  Mapping type and engine; may be NULL.
 * @param[out] address  Receives the CPU address of the first byte that was passed to gdrkit_pin().
 *
 * @return 0 on success, else a negative errno:
 *         - -EAGAIN: the pin is already mapped.
 *         - -EINVAL: `address` is NULL, an option is invalid, $GDRKIT_ENGINE contains an unknown word, the memory was
 *           freed, or the handle is invalid.
 *         - -EOPNOTSUPP: the platform does not support the mapping type, or the named engine cannot run here.
 *         - -E2BIG: the program sets an option that this library does not have.
 *         - -ENOMEM: BAR1 is full, or out of memory.
 *         - -EIO: the mapping shows other memory, or an earlier gdrkit_unmap() of this pin failed.
 *         - -EACCES: the pin belongs to the parent process.
 *         - Another errno of the driver; gdrkit_last_error() contains its code.
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
 *         - Another errno of the driver; the pin cannot be mapped again then.
 */
int gdrkit_unmap(gdrkit_pin_t pin);

/**
 * @brief Returns the word that selects an engine in $GDRKIT_ENGINE and $GDRKIT_DROPIN_ENGINE.
 *
 * @param[in] engine  enum gdrkit_engine.
 *
 * @return A static word, for instance "copy_engine"; "" for GDRKIT_ENGINE_DEFAULT; NULL for any other number.
 */
const char* gdrkit_engine_name(int engine);

#ifdef __cplusplus
}
#endif
#endif
