// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Words as observed in handles of driver 580.159.04: 4-5 size of the allocation, 6 size of its block in 4 KiB units, 7
// offset in the block, 12 RM client, 13 RM memory object.
#include "backend/rm/ipc_decoder.hpp"

#include <cstring>

namespace gdrkit::backend::rm {

base::Result<IpcMemory> decode_ipc_handle(const driver::CudaIpcHandle& handle, std::uint64_t range_size) noexcept {
  std::uint32_t words[16];
  static_assert(sizeof words == sizeof handle);
  std::memcpy(words, handle.data(), sizeof words);
  IpcMemory memory;
  memory.allocation.client = words[12];
  memory.allocation.object = words[13];
  memory.allocation.offset = words[7];
  memory.allocation.size_bytes = words[4] | std::uint64_t{words[5]} << 32;
  memory.object_bytes = std::uint64_t{words[6]} * 4096;
  const MemoryPiece& piece = memory.allocation;
  const bool is_plausible = piece.client != 0 && piece.object != 0 && piece.size_bytes == range_size &&
                            range_size != 0 && piece.offset < memory.object_bytes &&
                            piece.size_bytes <= memory.object_bytes - piece.offset;
  if (!is_plausible) return base::fail(EIO, "cannot decode CUDA's IPC handle: unknown layout");
  return memory;
}

}  // namespace gdrkit::backend::rm
