// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MachineName: PEs with different ones cannot share memory.
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace gdrkit::shmem {

/// Equal ones are no proof: virtual machines that were copied while they ran have the same boot identifier.
struct MachineName {
  char boot_id[40] = {};
  std::uint64_t network_namespace = 0;  ///< its inode: names of abstract sockets hold within one
  std::uint64_t user = 0;
  bool operator==(const MachineName&) const = default;
};

/// Of this process.
[[nodiscard]] base::Result<MachineName> read_machine_name();

}  // namespace gdrkit::shmem
