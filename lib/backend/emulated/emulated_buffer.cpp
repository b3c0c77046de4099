// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/emulated/emulated_buffer.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "cpu/ordering.hpp"
#include "driver/emulated_memory.hpp"

namespace gdrkit::backend::emulated {
namespace {

/// Observers: all threads that use the memory through a mapping or a copy before and after. As a driver's copy,
/// this one sees what the CPU stored before the call, and is complete for all that follows it.
void copy_bytes(void* target, const void* source, std::size_t size_bytes) noexcept {
  cpu::order_before_streaming_loads();
  std::memcpy(target, source, size_bytes);
  cpu::flush_write_combining();
}

}  // namespace

base::Result<std::unique_ptr<BackendBuffer>> EmulatedBuffer::allocate(int device, int device_count,
                                                                      std::size_t size_bytes) noexcept {
  if (device < 0 || device >= device_count) {
    return base::fail(ENODEV,
                      "cannot allocate on emulated device %d: there %s %d, counted from 0; set "
                      "GDRKIT_EMULATED_DEVICES for more",
                      device, device_count == 1 ? "is" : "are", device_count);
  }
  std::unique_ptr<EmulatedBuffer> buffer(new (std::nothrow) EmulatedBuffer);
  if (buffer == nullptr) return base::fail_literal(ENOMEM, "out of memory while allocating a buffer");
  auto address = driver::emulated_allocate(size_bytes, driver::EmulatedKind::device);
  if (!address) return base::pass(address);
  buffer->address_ = *address;
  buffer->size_bytes_ = size_bytes;
  return std::unique_ptr<BackendBuffer>(std::move(buffer));
}

base::Status EmulatedBuffer::copy_from_host(std::size_t offset, const void* source, std::size_t size_bytes) noexcept {
  copy_bytes(reinterpret_cast<void*>(address_ + offset), source, size_bytes);
  return {};
}

base::Status EmulatedBuffer::copy_to_host(std::size_t offset, void* target, std::size_t size_bytes) noexcept {
  copy_bytes(target, reinterpret_cast<const void*>(address_ + offset), size_bytes);
  return {};
}

base::Status EmulatedBuffer::free() noexcept {
  size_bytes_ = 0;
  if (address_ == 0) return {};
  return driver::emulated_free(std::exchange(address_, 0));
}

// The child never had the memory (it is not inherited).
void EmulatedBuffer::abandon_after_fork() noexcept { address_ = 0; }

}  // namespace gdrkit::backend::emulated
