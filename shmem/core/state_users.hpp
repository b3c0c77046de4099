// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// StateUsers: code that keeps a copy of each PE's device state for its GPU kernels.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "gdrkit/detail/shmem_private.h"
#include "shmem/core/pe.hpp"

namespace gdrkit::shmem_impl::core {

/// Calls `fill` for all PEs of the process. fill_and_keep() calls it for each later PE. Thread-safe.
base::Status add_state_user(gdrkit_shmem_fill_state_t fill) noexcept;
/// `fill` is not called after this function has returned. Ignores an unknown `fill`.
void remove_state_user(gdrkit_shmem_fill_state_t fill) noexcept;
/// Calls all users again for this PE, whose state has changed, while its GPU is current. If there are any, the PE
/// starts to watch for its GPU kernels.
/// Does nothing on the emulated device.
base::Status fill_states(Pe& pe) noexcept;
/// Calls all users for a new PE, and adds the PE to the process (keep_pe).
base::Status fill_and_keep(std::unique_ptr<Pe> pe) noexcept;

}  // namespace gdrkit::shmem_impl::core
