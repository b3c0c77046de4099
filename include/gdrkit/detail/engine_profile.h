/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * For gdrkit's own programs. The symbol has the version GDRKIT_PRIVATE: it may change or go in any release. */
#ifndef GDRKIT_DETAIL_ENGINE_PROFILE_H
#define GDRKIT_DETAIL_ENGINE_PROFILE_H

#include <gdrkit/gdrkit.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Returns the file from which the automatic engine reads its choices.
 *
 * `gdrkit tune` writes the file for this GPU and driver, below $XDG_CACHE_HOME or $HOME/.cache. A context reads it when
 * it first uses engines on the device. If the file is missing or damaged, the built-in choices are used.
 *
 * @param[in]  context   A context of this process.
 * @param[in]  device    CUDA's number of the device, from 0.
 * @param[out] path      Receives the path, with its terminating zero.
 * @param[in]  capacity  Size of `path` in bytes.
 *
 * @return 0 on success, else a negative errno:
 *         - -EINVAL: `path` is NULL, or the context handle is invalid.
 *         - -ERANGE: `path` is too short.
 *         - -ENOENT: neither XDG_CACHE_HOME nor HOME is set.
 *         - -EOPNOTSUPP: the device is emulated.
 *         - -ENODEV: CUDA is missing, or has no such device.
 */
int gdrkit_engine_profile_path(gdrkit_context_t context, int device, char* path, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
