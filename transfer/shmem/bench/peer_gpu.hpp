// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The GPU of a PE of another library than gdrkit.
#pragma once

#include <memory>

#include "platform/device/device.hpp"

namespace gdrkit::transfer::shmem {

/// The emulated device only where bench has chosen it: a stand-in for the library runs there. Throws
/// Failure(cannot_run).
[[nodiscard]] std::unique_ptr<platform::Device> open_peer_gpu(int pe, const char* library);

}  // namespace gdrkit::transfer::shmem
