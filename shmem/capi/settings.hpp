// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What a PE takes from the environment, beside what its launcher says (shmem/bootstrap).
#pragma once

#include "base/result.hpp"
#include "shmem/core/pe.hpp"

namespace gdrkit::shmem {

/// GDRKIT_SHMEM_HEAP and GDRKIT_SHMEM_HEAP_MAX (bytes, or with K, M, G, T), GDRKIT_SHMEM_TIMEOUT_S; defaults where they
/// are not set. EINVAL names one that is no number.
[[nodiscard]] base::Result<PeOptions> options_from_environment() noexcept;

}  // namespace gdrkit::shmem
