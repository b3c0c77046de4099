// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The key-value store that a launcher provides for its processes. It distributes PE 0's unique id.
#pragma once

#include <chrono>
#include <string>

#include "base/result.hpp"
#include "shmem/bootstrap/exchange.hpp"

namespace gdrkit::shmem_impl::bootstrap {

/// Collective: PE 0 makes an id and puts it, the others get it. By PMIx where the launcher speaks it, else by PMI-1;
/// ENOTSUP with what is missing.
[[nodiscard]] base::Result<UniqueId> share_unique_id(int pe, std::chrono::milliseconds limit);

/// The two ways. `value` of PE 0 under `key`, which no other call of this process has had, for all PEs; "" elsewhere.
[[nodiscard]] base::Result<std::string> share_by_pmix(int pe, const std::string& key, const std::string& value,
                                                      std::chrono::milliseconds limit);
[[nodiscard]] base::Result<std::string> share_by_pmi1(int pe, const std::string& key, const std::string& value,
                                                      std::chrono::milliseconds limit);

}  // namespace gdrkit::shmem_impl::bootstrap
