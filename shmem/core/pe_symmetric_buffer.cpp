// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Buffers of the application's that become symmetric, and cease to be.
#include <cinttypes>

#include "platform/device/device_scope.hpp"
#include "shmem/core/pe.hpp"

namespace gdrkit::shmem_impl::core {

/// Everything that can differ or fail is agreed on before anything is mapped, so that all PEs come to the same place.
base::Result<void*> Pe::register_symmetric(const void* address, std::size_t size_bytes) noexcept {
  const std::lock_guard lock(collective_mutex_);
  if (auto agreed = agree("buffer_register_symmetric", registering, size_bytes, 0); !agreed) return base::pass(agreed);
  if (size_bytes == 0) return base::fail(EINVAL, "buffer_register_symmetric: a buffer has at least 1 byte");
  const platform::DeviceScope scope(*device_);
  const auto word = reinterpret_cast<std::uint64_t>(address);
  auto memory =
      scope.status() ? heap_->share(word, size_bytes) : base::Result<heap::SharedMemory>(base::pass(scope.status()));
  const base::Status shared = memory ? base::Status() : base::Status(base::pass(memory));
  if (auto all = heap_->settle(shared, "sharing a buffer"); !all) return base::pass(all);
  if (auto agreed = agree("buffer_register_symmetric (bytes of the whole allocation)", sharing, memory->size_bytes, 0);
      !agreed) {
    return base::pass(agreed);
  }
  auto offset = heap_->add_buffer(word, size_bytes, *memory);
  if (!offset) return base::pass(offset);
  // Nobody puts into a buffer that its PE does not know yet.
  if (auto met = barrier_all(); !met) return base::pass(met);
  return reinterpret_cast<void*>(heap_->own_address(*offset));
}

base::Status Pe::unregister_symmetric(const void* address) noexcept {
  const std::lock_guard lock(collective_mutex_);
  // What was put into it has arrived before its mappings go.
  if (auto done = complete_all(); !done) return done;
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - heap_->own_address(0);
  if (auto agreed = agree("buffer_unregister_symmetric", unregistering, offset, 0); !agreed) return agreed;
  auto buffer = heap_->find_buffer(offset);
  if (!buffer) return base::pass(buffer);
  const platform::DeviceScope scope(*device_);
  if (auto current = scope.status(); !current) return current;
  for (const auto& transport : transports_) transport->forget(buffer->chunk);
  return heap_->remove_buffer(offset);
}

}  // namespace gdrkit::shmem_impl::core
