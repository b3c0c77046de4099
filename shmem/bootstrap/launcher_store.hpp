// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The store of keys and values that a launcher keeps for the processes it started: PE 0's unique id goes through it.
#pragma once

#include <chrono>

#include "base/result.hpp"
#include "shmem/bootstrap/exchange.hpp"

namespace gdrkit::shmem {

/// Collective: PE 0 makes an id and puts it, the others get it. By PMIx, else by PMI-1; ENOTSUP with what is missing.
[[nodiscard]] base::Result<UniqueId> share_unique_id(int pe, int n_pes, std::chrono::milliseconds limit);

}  // namespace gdrkit::shmem
