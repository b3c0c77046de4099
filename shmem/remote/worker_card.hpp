// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// WorkerCard: the data that PEs exchange when they start UCX.
#pragma once

#include <cstdint>

#include "shmem/bootstrap/token.hpp"

namespace gdrkit::shmem_impl::remote {

struct WorkerCard {
  std::uint64_t address_bytes = 0;
  std::int32_t leader = 0;
  std::int32_t errno_value = 0;  ///< 0, or why UCX could not be started on this PE
  std::int32_t vendor_code = 0;
  char text[200] = "";
  bootstrap::Token nonce{};  ///< the keys of the job's messages are derived from PE 0's nonce
};

}  // namespace gdrkit::shmem_impl::remote
