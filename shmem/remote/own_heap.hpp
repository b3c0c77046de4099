// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// OwnHeap: access to this PE's heap on behalf of PEs of other nodes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"

namespace gdrkit::shmem_impl::remote {

/// Part of this PE's heap with one registration.
struct OwnChunk {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t address = 0;
};

/// Addresses are those of this PE's GPU, offsets are in this PE's heap. Remote calls it with its lock held. The
/// transport ucx calls read() without the lock, also for memory outside the heap, so implementations are thread-safe.
class OwnHeap {
 public:
  virtual ~OwnHeap() = default;
  /// Fails with EINVAL if the range, which a PE of another node sent, exceeds the heap.
  [[nodiscard]] virtual base::Result<std::uint64_t> address_of(std::uint64_t offset,
                                                               std::uint64_t size_bytes) noexcept = 0;
  [[nodiscard]] virtual base::Result<OwnChunk> chunk_of(std::uint64_t offset) noexcept = 0;

  /// Writes become visible in the order of the calls. `data` may be reused after the call.
  virtual base::Status write(std::uint64_t address, const void* data, std::size_t size_bytes) noexcept = 0;
  virtual base::Status read(std::uint64_t address, void* data, std::size_t size_bytes) noexcept = 0;
  /// Updates a word of 4 or 8 bytes atomically. `operation` is a gdrkit_shmem_atomic_operation. Stores the old value in
  /// *old unless it is nullptr.
  virtual base::Status update(std::uint64_t address, std::size_t size_bytes, unsigned operation, std::uint64_t operand,
                              std::uint64_t compare, std::uint64_t* old) noexcept = 0;
  /// Makes all earlier writes and updates visible to every PE.
  virtual base::Status complete() noexcept = 0;
};

}  // namespace gdrkit::shmem_impl::remote
