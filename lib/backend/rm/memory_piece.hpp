// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MemoryPiece: part of one RM memory object, with the handles of the memory's owner, and where libcuda shows it: in the
// ioctls of a dma-buf export, or in an IPC handle.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::backend::rm {

struct MemoryPiece {
  std::uint32_t client = 0;  ///< the RM client that owns the object: CUDA's client in this process
  std::uint32_t object = 0;
  std::uint64_t offset = 0;  ///< bytes from the object's start
  std::uint64_t size_bytes = 0;

  bool operator==(const MemoryPiece&) const = default;
};

/// The pieces of exactly `size_bytes`, in address order. Only the size in the request word selects the layout. EIO: an
/// unknown size, a failed or missing call, inconsistent counts, or values that overlap or overflow.
[[nodiscard]] base::Result<std::vector<MemoryPiece>> decode_export(const std::vector<driver::ObservedIoctl>& ioctls,
                                                                   std::uint64_t size_bytes) noexcept;

/// Decodes object and offset from an export that the driver rejected. libcuda sends a wrong size for ranges that start
/// inside a block of a pool (observed in 580.159.04). EIO unless exactly one call was observed, the driver rejected its
/// arguments, and its offset is `expected_offset`, which the caller computes from the pointer's attributes.
[[nodiscard]] base::Result<MemoryPiece> decode_rejected_export(const std::vector<driver::ObservedIoctl>& ioctls,
                                                               std::uint64_t expected_offset,
                                                               std::uint64_t size_bytes) noexcept;

struct IpcMemory {
  MemoryPiece allocation;          ///< the whole allocation inside its object
  std::uint64_t object_bytes = 0;  ///< size of the enclosing object
};

/// Decodes the memory object from a CUDA IPC handle. The layout is internal to libcuda and undocumented. It is used
/// only on request (GDRKIT_ALLOW_IPC_HANDLE=1), and only after the driver has confirmed the size of the object.
/// `range_size` is the size of the allocation from cuPointerGetAttributes. EIO: the words of the handle contradict it.
[[nodiscard]] base::Result<IpcMemory> decode_ipc_handle(const driver::CudaIpcHandle& handle,
                                                        std::uint64_t range_size) noexcept;

}  // namespace gdrkit::backend::rm
