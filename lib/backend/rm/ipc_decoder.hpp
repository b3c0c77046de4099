// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Decodes the memory object out of a CUDA IPC handle. The layout is libcuda's own and not documented; used only on
// request (GDRKIT_ALLOW_IPC_HANDLE=1), and its result is used only after the driver confirmed the object's size.
#pragma once

#include "backend/rm/memory_piece.hpp"
#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend::rm {

struct IpcMemory {
  MemoryPiece allocation;          ///< the whole allocation inside its object
  std::uint64_t object_bytes = 0;  ///< size of the enclosing object
};

/// `range_size` is the allocation's size by cuPointerGetAttributes; EIO when the handle's words contradict it.
[[nodiscard]] base::Result<IpcMemory> decode_ipc_handle(const driver::CudaIpcHandle& handle,
                                                        std::uint64_t range_size) noexcept;

}  // namespace gdrkit::backend::rm
