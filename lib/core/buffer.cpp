// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Buffers: device memory that the library allocates, copies with the driver, and frees.
#include <limits>
#include <utility>

#include "core/core.hpp"
#include "core/fork_guard.hpp"
#include "core/records.hpp"

namespace gdrkit::core {
namespace {

base::Result<HeldBuffer> hold_buffer(Handle buffer) noexcept {
  return HeldBuffer::hold(buffer_table, "buffer", buffer);
}

base::Status check_copy(const BufferInfo& info, std::size_t offset, const void* host, std::size_t size_bytes) noexcept {
  if (!is_inside(offset, size_bytes, info.size_bytes)) {
    return base::fail(EINVAL, "cannot copy %zu bytes at offset %zu: the buffer has %zu bytes", size_bytes, offset,
                      info.size_bytes);
  }
  if (host == nullptr && size_bytes != 0)
    return base::fail(EINVAL, "cannot copy %zu bytes: the host pointer is NULL", size_bytes);
  return {};
}

/// Validates the result of the backend: the requested size at an address that can be pinned. Later code depends on it.
base::Status check_memory(const backend::Traits& traits, std::size_t size_bytes,
                          const backend::BackendBuffer& buffer) noexcept {
  const bool does_fit = buffer.address() <= std::numeric_limits<std::uint64_t>::max() - buffer.size_bytes();
  if (buffer.address() != 0 && buffer.size_bytes() == size_bytes && does_fit) return {};
  return base::fail(EIO, "cannot allocate %zu bytes: backend '%s' returned the invalid range 0x%llx + %zu bytes",
                    size_bytes, traits.name, static_cast<unsigned long long>(buffer.address()), buffer.size_bytes());
}

}  // namespace

base::Result<Handle> allocate_buffer(Handle handle, int device, std::size_t size_bytes) noexcept {
  const base::Result<HeldContext> held = HeldContext::hold(handle);
  if (!held) return base::pass(held);
  ContextSlot& context = **held;
  if (size_bytes == 0) return base::fail(EINVAL, "cannot allocate a buffer: the size is 0 bytes");

  const BackendCall call;  // until the end: a fork must not see the backend's resources before their handle exists
  base::Result<std::unique_ptr<backend::BackendBuffer>> allocated = context.backend->allocate(device, size_bytes);
  if (!allocated) return base::pass(allocated);
  if (base::Status usable = check_memory(context.info.traits, size_bytes, **allocated); !usable)
    return base::pass(usable);
  const base::Result<BufferSlot*> acquired = buffer_table.acquire(registry_mutex);
  if (!acquired) return base::pass(acquired);

  // The slot's lock is not required: holders of a stale handle only read `handle`, which is stored last.
  BufferSlot& buffer = **acquired;
  buffer.info = {device, (*allocated)->address(), size_bytes};
  buffer.backend_buffer = std::move(*allocated);
  return link(context.first_buffer, buffer, HandleKind::buffer, handle);
}

base::Status free_buffer(Handle handle) noexcept {
  const base::Result<HeldBuffer> buffer = hold_buffer(handle);
  if (!buffer) return base::pass(buffer);
  return take_down_buffer(buffer->context(), **buffer);
}

base::Result<BufferInfo> buffer_info(Handle handle) noexcept {
  const base::Result<HeldBuffer> buffer = hold_buffer(handle);
  if (!buffer) return base::pass(buffer);
  return (*buffer)->info;
}

base::Status copy_to_buffer(Handle handle, std::size_t offset, const void* host, std::size_t size_bytes) noexcept {
  const base::Result<HeldBuffer> buffer = hold_buffer(handle);
  if (!buffer) return base::pass(buffer);
  base::Status checked = check_copy((*buffer)->info, offset, host, size_bytes);
  if (!checked || size_bytes == 0) return checked;
  return (*buffer)->backend_buffer->copy_from_host(offset, host, size_bytes);
}

base::Status copy_from_buffer(Handle handle, std::size_t offset, void* host, std::size_t size_bytes) noexcept {
  const base::Result<HeldBuffer> buffer = hold_buffer(handle);
  if (!buffer) return base::pass(buffer);
  base::Status checked = check_copy((*buffer)->info, offset, host, size_bytes);
  if (!checked || size_bytes == 0) return checked;
  return (*buffer)->backend_buffer->copy_to_host(offset, host, size_bytes);
}

base::Status take_down_buffer(ContextSlot& context, BufferSlot& buffer) noexcept {
  const SlotCall call(buffer);
  buffer.handle.store(0, std::memory_order_release);
  base::Status freed = buffer.backend_buffer->free();
  buffer.backend_buffer.reset();
  unlink(context.first_buffer, buffer);
  buffer_table.release(&buffer, registry_mutex);
  return freed;
}

}  // namespace gdrkit::core
