// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Registration of the application's buffers as symmetric memory.
#include <cinttypes>

#include "platform/device/device_scope.hpp"
#include "shmem/core/pe.hpp"

namespace gdrkit::shmem_impl::core {

/// The PEs agree on everything that can differ or fail before they map memory, so that all PEs get the same offset.
base::Result<void*> Pe::register_symmetric(const void* address, std::size_t size_bytes) noexcept {
  const std::lock_guard lock(collective_mutex_);
  if (auto agreed = synchronization_->agree("buffer_register_symmetric", parts::registering, size_bytes, 0); !agreed)
    return base::pass(agreed);
  if (size_bytes == 0)
    return base::fail(EINVAL, "cannot register a symmetric buffer: the size is 0; pass at least 1 byte");
  const platform::DeviceScope scope(connections_->device());
  const auto word = reinterpret_cast<std::uint64_t>(address);
  auto memory = scope.status() ? connections_->heap().share(word, size_bytes)
                               : base::Result<heap::SharedMemory>(base::pass(scope.status()));
  const base::Status shared = memory ? base::Status() : base::Status(base::pass(memory));
  if (auto all = connections_->heap().settle(shared, "sharing a buffer"); !all) return base::pass(all);
  if (auto agreed = synchronization_->agree("buffer_register_symmetric (bytes of the whole allocation)", parts::sharing,
                                            memory->size_bytes, 0);
      !agreed) {
    return base::pass(agreed);
  }
  auto offset = connections_->heap().add_buffer(word, size_bytes, *memory);
  if (!offset) return base::pass(offset);
  // No PE may put to a buffer that its PE has not registered yet.
  if (auto met = barrier_all(); !met) return base::pass(met);
  return reinterpret_cast<void*>(connections_->heap().own_address(*offset));
}

base::Status Pe::unregister_symmetric(const void* address) noexcept {
  const std::lock_guard lock(collective_mutex_);
  // Puts to the buffer complete before it is unmapped.
  if (auto done = transfers_->complete_all(); !done) return done;
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - connections_->heap().own_address(0);
  if (auto agreed = synchronization_->agree("buffer_unregister_symmetric", parts::unregistering, offset, 0); !agreed)
    return agreed;
  auto buffer = connections_->heap().find_buffer(offset);
  if (!buffer) return base::pass(buffer);
  const platform::DeviceScope scope(connections_->device());
  if (auto current = scope.status(); !current) return current;
  transfers_->forget(buffer->chunk);
  return connections_->heap().remove_buffer(offset);
}

}  // namespace gdrkit::shmem_impl::core
