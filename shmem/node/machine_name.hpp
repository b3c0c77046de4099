// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MachineName: PEs with different ones cannot share memory.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace gdrkit::shmem {

/// Equal ones are no proof: virtual machines that were copied while they ran have the same boot identifier.
struct MachineName {
  char boot_id[40] = {};
  std::uint64_t network_namespace = 0;  ///< its inode: names of abstract sockets hold within one
  std::uint64_t user = 0;
  std::uint64_t is_stated = 0;  ///< the user joins PEs by StatedMachine: equal names must reach each other
  bool operator==(const MachineName&) const = default;
};

/// What a user says about the machine of this process.
struct StatedMachine {
  std::string host_id;      ///< in place of the boot identifier; "": not stated
  bool has_folder = false;  ///< PEs meet in a folder, across network namespaces
};

/// Of this process. Of a stated machine neither the network namespace nor the user is a part: a connection shows both.
/// EINVAL: the host id is too long.
[[nodiscard]] base::Result<MachineName> read_machine_name(const StatedMachine& stated = {});

}  // namespace gdrkit::shmem
