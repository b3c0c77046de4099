// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What a PE waits for: its own words, and the other PEs.
#include <algorithm>
#include <cinttypes>

#include "platform/device/device_scope.hpp"
#include "shmem/core/comparison.hpp"
#include "shmem/core/pe.hpp"
#include "shmem/parts/waiter.hpp"

namespace gdrkit::shmem_impl::core {
base::Result<std::uint64_t> Pe::load(const Word& word) noexcept {
  if (reinterpret_cast<std::uint64_t>(word.address) % word.size_bytes != 0) {
    return base::fail(EINVAL, "%p is not aligned to the %zu bytes of a word", word.address, word.size_bytes);
  }
  std::uint64_t seen = 0;
  if (auto loaded = transfers_->get(&seen, word.address, word.size_bytes, connections_->pe(), false); !loaded)
    return base::pass(loaded);
  return seen;
}

base::Result<bool> Pe::test(const Word& word, gdrkit_shmem_comparison comparison, std::uint64_t value) noexcept {
  auto seen = load(word);
  if (!seen) return base::pass(seen);
  return compares(word, *seen, comparison, value);
}

base::Result<std::uint64_t> Pe::wait_until(const Word& word, gdrkit_shmem_comparison comparison,
                                           std::uint64_t value) noexcept {
  parts::Waiter waiter(connections_->node(), connections_->limit(), "wait_until");
  for (;;) {
    auto seen = load(word);
    if (!seen || compares(word, *seen, comparison, value)) return seen;
    if (auto waited = waiter.pause(); !waited) return base::pass(waited);
  }
}

base::Status Pe::barrier_all() noexcept {
  if (auto done = transfers_->complete_all(); !done) return done;
  if (auto met = synchronization_->sync_all("barrier_all"); !met) return met;
  // Behind the meeting: the other PEs do not wait in vain for one that reports what its GPU kernels did.
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

base::Result<void*> Pe::allocate(std::size_t size_bytes, std::size_t alignment, bool is_zeroed) noexcept {
  constexpr std::size_t largest_alignment = std::size_t{2} << 20;
  const std::lock_guard lock(collective_mutex_);
  if (auto agreed = synchronization_->agree(is_zeroed ? "calloc" : "malloc", parts::allocating, size_bytes, alignment);
      !agreed)
    return base::pass(agreed);
  if (size_bytes == 0) return base::fail(EINVAL, "malloc: a symmetric object has at least 1 byte");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > largest_alignment) {
    return base::fail(EINVAL, "align: an alignment is a power of two up to 2 MiB, not %zu", alignment);
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
  // Before the memory may have a new owner: what was put into it has arrived.
  if (auto done = transfers_->complete_all(); !done) return done;
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - connections_->heap().own_address(0);
  if (auto agreed = synchronization_->agree("free", parts::freeing, offset, 0); !agreed) return agreed;
  return connections_->heap().free(reinterpret_cast<std::uint64_t>(address));
}

base::Result<void*> Pe::pointer(const void* address, int pe) const noexcept {
  auto at = connections_->reach(address, 1, pe);
  if (!at) return base::pass(at);
  return reinterpret_cast<void*>(*at);
}

}  // namespace gdrkit::shmem_impl::core
