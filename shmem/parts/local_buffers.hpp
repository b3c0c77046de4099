// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// LocalBuffers: what local memory is: by its place, by what the application said of its buffers, or as the driver says.
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
  /// EEXIST: it overlaps one that is there.
  base::Status add(std::uint64_t address, std::uint64_t size_bytes, transport::LocalMemory memory) noexcept;
  /// EINVAL: none begins there.
  base::Status remove(std::uint64_t address) noexcept;
  void clear() noexcept;
  /// What [address, address + size_bytes) is, if it lies in one of them.
  [[nodiscard]] std::optional<transport::LocalMemory> find(std::uint64_t address,
                                                           std::uint64_t size_bytes) const noexcept;
  /// What [address, address + size_bytes), outside of the symmetric heap, is. Small transfers may get `host` where the
  /// memory is pinned. `cuda`: nullptr where there is no device memory; asked only where nothing else tells, as that
  /// takes longer than a small put.
  [[nodiscard]] transport::LocalMemory kind_of(const void* address, std::size_t size_bytes,
                                               const platform::CudaCalls* cuda) const noexcept;

 private:
  struct Buffer {
    std::uint64_t size_bytes = 0;
    transport::LocalMemory memory = transport::LocalMemory::host;
  };
  std::atomic<std::size_t> count_{0};  // programs that register nothing pay for a load
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, Buffer> buffers_;
};

}  // namespace gdrkit::shmem_impl::parts
