// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PeerFiles: paths of the libraries that bench compares with gdrkit.
#pragma once

#include <string>

namespace gdrkit::transfer::shmem {

/// "": the system's loader finds it, or, of a device side, there is none.
struct PeerFiles {
  std::string nvshmem;         ///< libnvshmem_host.so.3
  std::string nvshmem_device;  ///< nvshmem_device.fatbin, built from nvshmem_device.cu with that NVSHMEM
  std::string nccl;            ///< libnccl.so.2
};

/// Finds files with empty names: in $NVSHMEM_HOME or $NCCL_HOME and among Python's packages; the device side in the
/// folder of this program.
[[nodiscard]] PeerFiles find_peer_files(PeerFiles wanted);

}  // namespace gdrkit::transfer::shmem
