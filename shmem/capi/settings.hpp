// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Options of a PE from the environment, except those of launchers (shmem/bootstrap).
#pragma once

#include "base/result.hpp"
#include "shmem/core/pe.hpp"

namespace gdrkit::shmem_impl::capi {

/// Reads GDRKIT_SHMEM_HEAP and GDRKIT_SHMEM_HEAP_MAX (base/size.hpp), GDRKIT_SHMEM_TIMEOUT_S and the others; a variable
/// that is not set has its default. With `reads_nvshmem`, NVSHMEM_SYMMETRIC_SIZE is read if GDRKIT_SHMEM_HEAP is not
/// set. EINVAL: the message names the variable whose value is invalid.
[[nodiscard]] base::Result<core::PeOptions> options_from_environment(bool reads_nvshmem) noexcept;

}  // namespace gdrkit::shmem_impl::capi
