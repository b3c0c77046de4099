// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Decodes the memory object from a CUDA IPC handle. The layout is internal to libcuda and undocumented. It is used only
// on request (GDRKIT_ALLOW_IPC_HANDLE=1), and only after the driver has confirmed the size of the object.
#pragma once

#include "backend/rm/memory_piece.hpp"
#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend::rm {

struct IpcMemory {
  MemoryPiece allocation;          ///< the whole allocation inside its object
  std::uint64_t object_bytes = 0;  ///< size of the enclosing object
};

/// `range_size` is the size of the allocation from cuPointerGetAttributes. EIO: the words of the handle contradict it.
[[nodiscard]] base::Result<IpcMemory> decode_ipc_handle(const driver::CudaIpcHandle& handle,
                                                        std::uint64_t range_size) noexcept;

}  // namespace gdrkit::backend::rm
