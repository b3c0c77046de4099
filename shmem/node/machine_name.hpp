// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MachineName: PEs with different names cannot share memory.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace gdrkit::shmem_impl::node {

/// Equal names do not prove the same machine: copies of a running virtual machine have the same boot identifier.
struct MachineName {
  char boot_id[40] = {};
  std::uint64_t network_namespace = 0;  ///< its inode: names of abstract sockets hold within one
  std::uint64_t user = 0;
  std::uint64_t is_stated = 0;  ///< 1: from a StatedMachine, so PEs with equal names must reach each other
  bool operator==(const MachineName&) const = default;
};

/// The user's settings of the machine of this process.
struct StatedMachine {
  std::string host_id;         ///< replaces the boot identifier; "": not set
  bool has_directory = false;  ///< PEs connect through a directory, across network namespaces
};

/// Returns the name of this process's machine. If the user stated the machine, the name excludes the network namespace
/// and the user, which a connection proves. EINVAL: the host id is too long.
[[nodiscard]] base::Result<MachineName> read_machine_name(const StatedMachine& stated = {});

}  // namespace gdrkit::shmem_impl::node
