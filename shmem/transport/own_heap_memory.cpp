// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/transport/own_heap_memory.hpp"

#include <cinttypes>
#include <new>

namespace gdrkit::shmem_impl::transport {

base::Result<std::unique_ptr<OwnHeapMemory>> OwnHeapMemory::make(platform::Device& device,
                                                                 const heap::SymmetricHeap& heap,
                                                                 Atomics& atomics) noexcept try {
  std::unique_ptr<OwnHeapMemory> own_heap(new OwnHeapMemory(device, heap, atomics));
  const platform::DeviceScope scope(device);
  if (auto current = scope.status(); !current) return base::pass(current);
  auto stream = device.create_stream();
  if (!stream) return base::pass(stream);
  own_heap->stream_ = *stream;
  return own_heap;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while preparing access to this PE's heap");
}

OwnHeapMemory::~OwnHeapMemory() {
  if (stream_.handle == 0) return;
  const platform::DeviceScope scope(device_);
  (void)device_.synchronize(stream_);
  (void)device_.destroy_stream(stream_);
}

base::Result<std::uint64_t> OwnHeapMemory::address_of(std::uint64_t offset, std::uint64_t size_bytes) noexcept {
  if (heap_.has_memory(offset, size_bytes)) return heap_.own_address(offset);
  return base::fail(EINVAL,
                    "%" PRIu64 " bytes at heap offset %" PRIu64 " exceed the symmetric heap of %" PRIu64 " bytes",
                    size_bytes, offset, heap_.size_bytes());
}

base::Result<remote::OwnChunk> OwnHeapMemory::chunk_of(std::uint64_t offset) noexcept {
  if (auto known = address_of(offset, 1); !known) return base::pass(known);
  const heap::HeapChunk chunk = heap_.chunk_at(offset);
  return remote::OwnChunk{chunk.offset, chunk.size_bytes, heap_.own_address(chunk.offset)};
}

heap::HeapPosition OwnHeapMemory::position_of(std::uint64_t address) const noexcept {
  const std::uint64_t offset = address - heap_.own_address(0);
  return {offset, heap_.chunk_at(offset)};
}

bool OwnHeapMemory::should_use_bar1(std::uint64_t address, std::size_t size_bytes, bool is_write) noexcept {
  if (bar1_ == nullptr || !heap_.contains(reinterpret_cast<const void*>(address))) return false;
  const TransportLimits& limits = bar1_->limits();
  const auto host = static_cast<std::size_t>(LocalMemory::host);
  if (size_bytes > (is_write ? limits.put[host] : limits.get[host])) return false;
  return bar1_->serves(heap_.own_slot()).has_value();
}

bool OwnHeapMemory::is_bar1_failure(const base::Status& failed) noexcept {
  return failed.error().errno_value != EOPNOTSUPP && bar1_->serves(heap_.own_slot()).has_value();
}

base::Status OwnHeapMemory::write(std::uint64_t address, const void* data, std::size_t size_bytes) noexcept {
  if (should_use_bar1(address, size_bytes, true)) {
    auto written = bar1_->put(heap_.own_slot(), position_of(address), data, size_bytes, LocalMemory::host, false);
    if (written || is_bar1_failure(written)) return written;
    // Only now it turned out that the memory cannot be mapped.
  }
  // A copy by the GPU does not wait for stores that are still on the bus.
  if (auto there = complete_stores(); !there) return there;
  const platform::DeviceScope scope(device_);
  if (auto current = scope.status(); !current) return current;
  if (auto started = device_.copy_to_device_async(address, data, size_bytes, stream_); !started) return started;
  return device_.synchronize(stream_);
}

base::Status OwnHeapMemory::read(std::uint64_t address, void* data, std::size_t size_bytes) noexcept {
  if (should_use_bar1(address, size_bytes, false)) {
    auto done = bar1_->get(heap_.own_slot(), position_of(address), data, size_bytes, LocalMemory::host, false);
    if (done || is_bar1_failure(done)) return done;
  }
  if (auto there = complete(); !there) return there;  // as in write
  const platform::DeviceScope scope(device_);
  if (auto current = scope.status(); !current) return current;
  if (auto started = device_.copy_to_host_async(data, address, size_bytes, stream_); !started) return started;
  return device_.synchronize(stream_);
}

base::Status OwnHeapMemory::update(std::uint64_t address, std::size_t size_bytes, unsigned operation,
                                   std::uint64_t operand, std::uint64_t compare, std::uint64_t* old) noexcept {
  const bool is_known = operation >= static_cast<unsigned>(GDRKIT_SHMEM_ATOMIC_ADD) &&
                        operation <= static_cast<unsigned>(GDRKIT_SHMEM_ATOMIC_XOR);
  if (!is_known || (size_bytes != 4 && size_bytes != 8) || address % size_bytes != 0) {
    return base::fail(EINVAL, "unsupported atomic operation %u on a %zu-byte word", operation, size_bytes);
  }
  if (auto there = complete_stores(); !there) return there;
  return atomics_.run(address, size_bytes, static_cast<gdrkit_shmem_atomic_operation>(operation), operand, compare,
                      old);
}

base::Status OwnHeapMemory::complete_stores() noexcept {
  if (bar1_ == nullptr || !bar1_->is_pending(heap_.own_slot())) return {};
  return bar1_->complete(heap_.own_slot());
}

base::Status OwnHeapMemory::complete() noexcept {
  base::Status done = atomics_.complete();
  base::keep_first(done, complete_stores());
  return done;
}

}  // namespace gdrkit::shmem_impl::transport
