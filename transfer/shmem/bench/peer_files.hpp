// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PeerFiles: paths of the libraries that bench compares with gdrkit.
#pragma once

#include <memory>
#include <string>

#include "platform/device/device.hpp"

namespace gdrkit::transfer::shmem {

/// "": the system's loader finds it, or, of a device side, there is none.
struct PeerFiles {
  std::string nvshmem;         ///< libnvshmem_host.so.3
  std::string nvshmem_device;  ///< nvshmem_device.fatbin, built from nvshmem_device.cu with that NVSHMEM
  std::string nccl;            ///< libnccl.so.2
};

/// Finds files with empty names: in $NVSHMEM_HOME or $NCCL_HOME and among Python's packages; the device side in the
/// directory of this program.
[[nodiscard]] PeerFiles find_peer_files(PeerFiles files);

/// The emulated device only where bench has chosen it: a stand-in for the library runs there. Throws
/// Failure(cannot_run).
[[nodiscard]] std::unique_ptr<platform::Device> open_peer_gpu(int pe, const char* library);

}  // namespace gdrkit::transfer::shmem
