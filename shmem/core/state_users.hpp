// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// StateUsers: code that keeps a copy of each PE's device state where its GPU kernels find it.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "gdrkit/detail/shmem_private.h"
#include "shmem/core/pe.hpp"

namespace gdrkit::shmem_impl::core {

/// Thread-safe. `fill` is called for all PEs that there are, and for each later one (fill_states).
base::Status add_state_user(gdrkit_shmem_fill_state_t fill) noexcept;
/// Its `fill` is not called once this returned. Nothing to do for one that is not there.
void remove_state_user(gdrkit_shmem_fill_state_t fill) noexcept;
/// Calls all of them for this PE, with its GPU current; where there are some, the PE watches for its GPU kernels. The
/// emulated device has none.
base::Status fill_states(Pe& pe) noexcept;
/// Calls all users for a new PE, and adds the PE to the process (keep_pe).
base::Status fill_and_keep(std::unique_ptr<Pe> pe) noexcept;

}  // namespace gdrkit::shmem_impl::core
