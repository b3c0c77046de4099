// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// WorkerCard: what PEs tell each other at the start of UCX.
#pragma once

#include <cstdint>

#include "shmem/bootstrap/token.hpp"

namespace gdrkit::shmem_impl::remote {

struct WorkerCard {
  std::uint64_t address_bytes = 0;
  std::int32_t leader = 0;
  std::int32_t errno_value = 0;  ///< how the PE came through it
  std::int32_t vendor_code = 0;
  char text[200] = "";
  bootstrap::Token nonce{};  ///< PE 0's makes the keys of the job's messages
};

}  // namespace gdrkit::shmem_impl::remote
