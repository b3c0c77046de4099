// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PeerFiles: where the libraries are that bench measures beside gdrkit.
#pragma once

#include <string>

namespace gdrkit::transfer::shmem {

/// "": the system's loader finds it, or, of a device side, there is none.
struct PeerFiles {
  std::string nvshmem;         ///< libnvshmem_host.so.3
  std::string nvshmem_device;  ///< nvshmem_device.fatbin, built from nvshmem_device.cu with that NVSHMEM
  std::string nccl;            ///< libnccl.so.2
};

/// Names that are empty are looked for: in $NVSHMEM_HOME or $NCCL_HOME and among Python's packages; the device side
/// beside this program.
[[nodiscard]] PeerFiles find_peer_files(PeerFiles wanted);

}  // namespace gdrkit::transfer::shmem
