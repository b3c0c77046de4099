// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Home: this PE's own memory, as PEs of other machines put into it and get from it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"

namespace gdrkit::shmem_impl::remote {

/// A piece of the own heap that is registered as one.
struct HomeChunk {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t address = 0;
};

/// Addresses are the own GPU's, offsets those of the own heap. Called under the lock of Remote, by any thread.
class Home {
 public:
  virtual ~Home() = default;
  /// EINVAL for a range that leaves the heap: it came from another machine.
  [[nodiscard]] virtual base::Result<std::uint64_t> address_of(std::uint64_t offset,
                                                               std::uint64_t size_bytes) noexcept = 0;
  [[nodiscard]] virtual base::Result<HomeChunk> chunk_of(std::uint64_t offset) noexcept = 0;

  /// Writes are seen in the order of the calls. `data` may be changed when this returns.
  virtual base::Status write(std::uint64_t address, const void* data, std::size_t size_bytes) noexcept = 0;
  virtual base::Status read(std::uint64_t address, void* data, std::size_t size_bytes) noexcept = 0;
  /// A word of 4 or 8 bytes, atomically; `operation` is a gdrkit_shmem_atomic_operation. *old: what it held, where
  /// wanted.
  virtual base::Status update(std::uint64_t address, std::size_t size_bytes, unsigned operation, std::uint64_t operand,
                              std::uint64_t compare, std::uint64_t* old) noexcept = 0;
  /// All writes and updates before are visible to every PE.
  virtual base::Status complete() noexcept = 0;
};

}  // namespace gdrkit::shmem_impl::remote
