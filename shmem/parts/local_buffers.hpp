// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// LocalBuffers: the kind of local memory, from its address, from registered buffers, or from the driver.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>

#include "base/result.hpp"
#include "platform/device/cuda_calls.hpp"
#include "shmem/transport/transport.hpp"

namespace gdrkit::shmem_impl::parts {

/// Thread-safe. Ranges do not overlap.
class LocalBuffers {
 public:
  /// Fails with EEXIST if the range overlaps a registered buffer.
  base::Status add(std::uint64_t address, std::uint64_t size_bytes, transport::LocalMemory memory) noexcept;
  /// Fails with EINVAL if no buffer begins there.
  base::Status remove(std::uint64_t address) noexcept;
  void clear() noexcept;
  /// Returns the kind of [address, address + size_bytes) if it is in a registered buffer.
  [[nodiscard]] std::optional<transport::LocalMemory> find(std::uint64_t address,
                                                           std::uint64_t size_bytes) const noexcept;
  /// Returns the kind of [address, address + size_bytes), which is outside the symmetric heap. For small transfers the
  /// result may be `host` for pinned memory. First is_surely_host() tests ranges up to 4 KiB, then find() the
  /// registered buffers. The CUDA driver (`cuda`, nullptr on the emulated device) is queried last, because a query
  /// takes longer than a small put.
  [[nodiscard]] transport::LocalMemory kind_of(const void* address, std::size_t size_bytes,
                                               const platform::CudaCalls* cuda) const noexcept;

 private:
  struct Buffer {
    std::uint64_t size_bytes = 0;
    transport::LocalMemory memory = transport::LocalMemory::host;
  };
  std::atomic<std::size_t> count_{0};  // of buffers; without any, find() costs one load
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, Buffer> buffers_;
};

}  // namespace gdrkit::shmem_impl::parts
