// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/parts/local_buffers.hpp"

#include <cinttypes>
#include <iterator>
#include <mutex>
#include <new>

#include "shmem/parts/host_range.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

/// Up to this size transports treat pinned memory like other host memory. Only the engine "automatic" differs, for gets
/// above 3 KiB. It gains less than 1 us, but each small transfer would have to query the driver.
constexpr std::size_t alike_bytes = 4096;

}  // namespace

base::Status LocalBuffers::add(std::uint64_t address, std::uint64_t size_bytes, transport::LocalMemory memory) noexcept
    try {
  if (address == 0 || size_bytes == 0 || size_bytes > UINT64_MAX - address) {
    return base::fail(
        EINVAL, "cannot register %" PRIu64 " bytes at 0x%" PRIx64 ": invalid range; pass an address and a size above 0",
        size_bytes, address);
  }
  const std::unique_lock lock(mutex_);
  const auto after = buffers_.lower_bound(address);
  const bool overlaps_next = after != buffers_.end() && after->first < address + size_bytes;
  const bool overlaps_previous =
      after != buffers_.begin() && std::prev(after)->first + std::prev(after)->second.size_bytes > address;
  if (overlaps_next || overlaps_previous) {
    return base::fail(EEXIST,
                      "cannot register %" PRIu64 " bytes at 0x%" PRIx64
                      ": the range overlaps a registered buffer; unregister that buffer first",
                      size_bytes, address);
  }
  buffers_.emplace(address, Buffer{size_bytes, memory});
  count_.store(buffers_.size(), std::memory_order_release);
  return {};
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while registering a buffer");
}

base::Status LocalBuffers::remove(std::uint64_t address) noexcept {
  const std::unique_lock lock(mutex_);
  if (buffers_.erase(address) == 0) {
    return base::fail(EINVAL,
                      "cannot unregister 0x%" PRIx64
                      ": no registered buffer starts there; pass the address that was registered",
                      address);
  }
  count_.store(buffers_.size(), std::memory_order_release);
  return {};
}

void LocalBuffers::clear() noexcept {
  const std::unique_lock lock(mutex_);
  buffers_.clear();
  count_.store(0, std::memory_order_release);
}

std::optional<transport::LocalMemory> LocalBuffers::find(std::uint64_t address,
                                                         std::uint64_t size_bytes) const noexcept {
  if (count_.load(std::memory_order_acquire) == 0) return std::nullopt;
  const std::shared_lock lock(mutex_);
  const auto after = buffers_.upper_bound(address);
  if (after == buffers_.begin()) return std::nullopt;
  const auto& [start, buffer] = *std::prev(after);
  const std::uint64_t offset = address - start;
  if (offset > buffer.size_bytes || size_bytes > buffer.size_bytes - offset) return std::nullopt;
  return buffer.memory;
}

transport::LocalMemory LocalBuffers::kind_of(const void* address, std::size_t size_bytes,
                                             const platform::CudaCalls* cuda) const noexcept {
  if (size_bytes <= alike_bytes && is_surely_host(address, size_bytes)) return transport::LocalMemory::host;
  const auto word = reinterpret_cast<std::uint64_t>(address);
  if (const auto known = find(word, size_bytes)) return *known;
  if (cuda == nullptr) return transport::LocalMemory::host;
  unsigned type = 0;
  int attribute = platform::cuda_pointer_attribute_memory_type;
  void* values[] = {&type};
  if (cuda->pointer_get_attributes(1, &attribute, values, word) != 0) return transport::LocalMemory::host;
  if (type == platform::cuda_memory_type_device) return transport::LocalMemory::device;
  // For unknown memory the driver returns no type and no error.
  return type == platform::cuda_memory_type_host ? transport::LocalMemory::pinned : transport::LocalMemory::host;
}

}  // namespace gdrkit::shmem_impl::parts
