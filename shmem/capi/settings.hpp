// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What a PE takes from the environment, beside what its launcher says (shmem/bootstrap).
#pragma once

#include "base/result.hpp"
#include "shmem/core/pe.hpp"

namespace gdrkit::shmem {

/// GDRKIT_SHMEM_HEAP and GDRKIT_SHMEM_HEAP_MAX (base/size.hpp), GDRKIT_SHMEM_TIMEOUT_S; defaults where they are not
/// set. With `reads_nvshmem`, NVSHMEM_SYMMETRIC_SIZE in place of a GDRKIT_SHMEM_HEAP that is not set. EINVAL names the
/// variable whose value is invalid.
[[nodiscard]] base::Result<PeOptions> options_from_environment(bool reads_nvshmem) noexcept;

}  // namespace gdrkit::shmem
