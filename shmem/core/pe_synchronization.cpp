// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Barriers and completion.
#include <algorithm>

#include "platform/device/device_scope.hpp"
#include "shmem/core/pe.hpp"

namespace gdrkit::shmem_impl::core {

base::Status Pe::barrier_all() noexcept {
  if (auto done = transfers_->complete_all(); !done) return done;
  if (auto met = synchronization_->sync_all("barrier_all"); !met) return met;
  // After the barrier, so that the other PEs do not time out if this PE reports an error of its GPU kernels.
  return check_gpu_waits();
}

base::Status Pe::quiet() noexcept {
  auto done = transfers_->complete_all();
  base::keep_first(done, check_gpu_waits());
  return done;
}

base::Status Pe::check_gpu_waits() noexcept {
  if (auto whole = collectives_->take_fault(); !whole) return whole;
  return gpu_code_->check_waits();
}

base::Status Pe::synchronize_stream(void* stream) noexcept {
  if (auto done = streams_->synchronize(stream); !done) return done;
  return check_gpu_waits();
}

base::Result<void*> Pe::allocate(std::size_t size_bytes, std::size_t alignment, bool is_zeroed) noexcept {
  constexpr std::size_t largest_alignment = heap::HeapSpace::slot_alignment;
  const std::lock_guard lock(collective_mutex_);
  if (auto agreed = synchronization_->agree(is_zeroed ? "calloc" : "malloc", parts::allocating, size_bytes, alignment);
      !agreed)
    return base::pass(agreed);
  if (size_bytes == 0) return base::fail(EINVAL, "cannot allocate 0 bytes of symmetric memory; pass at least 1 byte");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > largest_alignment) {
    return base::fail(EINVAL, "cannot allocate symmetric memory: invalid alignment %zu; use a power of two up to 1 GiB",
                      alignment);
  }
  const platform::DeviceScope scope(connections_->device());
  if (auto current = scope.status(); !current) return base::pass(current);
  auto offset =
      connections_->heap().allocate(size_bytes, std::max<std::size_t>(alignment, heap::BlockList::unit_bytes));
  if (!offset) return base::pass(offset);
  if (is_zeroed) {
    if (auto filled = connections_->device().fill(connections_->heap().own_address(*offset), 0, size_bytes); !filled)
      return base::pass(filled);
  }
  if (auto met = barrier_all(); !met) return base::pass(met);
  return reinterpret_cast<void*>(connections_->heap().own_address(*offset));
}

base::Status Pe::free(void* address) noexcept {
  const std::lock_guard lock(collective_mutex_);
  // Puts to the memory complete before it can be reused.
  if (auto done = transfers_->complete_all(); !done) return done;
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - connections_->heap().own_address(0);
  if (auto agreed = synchronization_->agree("free", parts::freeing, offset, 0); !agreed) return agreed;
  return connections_->heap().free(reinterpret_cast<std::uint64_t>(address));
}

}  // namespace gdrkit::shmem_impl::core
