// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What a PE waits for: its own words, and the other PEs.
#include <algorithm>
#include <cinttypes>

#include "platform/device/device_scope.hpp"
#include "shmem/core/comparison.hpp"
#include "shmem/core/pe.hpp"
#include "shmem/core/waiter.hpp"

namespace gdrkit::shmem_impl::core {
base::Result<std::uint64_t> Pe::load(const Word& word) noexcept {
  if (reinterpret_cast<std::uint64_t>(word.address) % word.size_bytes != 0) {
    return base::fail(EINVAL, "%p is not aligned to the %zu bytes of a word", word.address, word.size_bytes);
  }
  std::uint64_t seen = 0;
  if (auto loaded = get(&seen, word.address, word.size_bytes, pe_, false); !loaded) return base::pass(loaded);
  return seen;
}

base::Result<bool> Pe::test(const Word& word, Comparison comparison, std::uint64_t value) noexcept {
  auto seen = load(word);
  if (!seen) return base::pass(seen);
  return compares(word, *seen, comparison, value);
}

base::Result<std::uint64_t> Pe::wait_until(const Word& word, Comparison comparison, std::uint64_t value) noexcept {
  Waiter waiter(*node_, limit(), "wait_until");
  for (;;) {
    auto seen = load(word);
    if (!seen || compares(word, *seen, comparison, value)) return seen;
    if (auto waited = waiter.pause(); !waited) return base::pass(waited);
  }
}

gdrkit_shmem_device_state Pe::device_state() const noexcept {
  constexpr std::int64_t longest_ms = 60'000;
  const std::int64_t limit_ms = limit_ms_.load();
  gdrkit_shmem_device_state state{};
  state.pe = pe_;
  state.n_pes = n_pes_;
  state.heap_address = heap_->own_address(0);
  state.heap_bytes = heap_->max_bytes();
  state.stride_bytes = heap_->stride_bytes();
  state.sync_address = heap_->own_address(0);
  state.control_address = control_->device_address();
  state.limit_ns = static_cast<std::uint64_t>(limit_ms == 0 ? longest_ms : limit_ms) * 1'000'000;
  state.teams_address = collectives_->table_address();
  state.proxy_address = proxy_ != nullptr ? proxy_->device_address() : 0;
  return state;
}

/// Ordering: a PE's accesses before it comes are released by its count, and acquired by all who see it.
base::Status Pe::sync_all(const char* what) noexcept {
  if (remote_ != nullptr) {
    auto met = sync_machines(what, {pe_, 0, {}}, limit());
    return met ? base::Status() : base::Status(base::pass(met));
  }
  const auto own = static_cast<std::size_t>(own_slot_);
  const std::uint64_t arrival = line(own).arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
  for (std::size_t other = 0; other < node_->pes().size(); ++other) {
    Waiter waiter(*node_, limit(), what);
    while (line(other).arrivals.load(std::memory_order_acquire) < arrival) {
      if (auto waited = waiter.pause(); !waited) {
        return base::fail(waited.error().errno_value, "%s (PE %d waits for PE %d)", waited.error().text(), pe_,
                          node_->pes()[other]);
      }
    }
  }
  return {};
}

base::Status Pe::barrier_all() noexcept {
  if (auto done = complete_all(); !done) return done;
  if (auto met = sync_all("barrier_all"); !met) return met;
  // Behind the meeting: the other PEs do not wait in vain for one that reports what its GPU kernels did.
  return check_gpu_waits();
}

base::Status Pe::agree(const char* what, std::uint64_t operation, std::uint64_t first, std::uint64_t second) noexcept {
  if (remote_ != nullptr) {
    auto calls = sync_machines(what, {pe_, operation, {first, second}}, limit());
    return calls ? compare_calls(what, *calls) : base::Status(base::pass(calls));
  }
  PeLine& own = line(static_cast<std::size_t>(own_slot_));
  own.operation.store(operation, std::memory_order_relaxed);
  own.arguments[0].store(first, std::memory_order_relaxed);
  own.arguments[1].store(second, std::memory_order_relaxed);
  if (auto met = sync_all(what); !met) return met;
  // All compare with the first PE, so that all come to the same answer.
  base::Status agreed;
  const PeLine& root = line(0);
  for (std::size_t other = 1; agreed && other < node_->pes().size(); ++other) {
    const PeLine& theirs = line(other);
    const bool is_same =
        theirs.operation.load(std::memory_order_relaxed) == root.operation.load(std::memory_order_relaxed);
    if (!is_same) {
      agreed = base::fail(EPROTO, "%s: PE %d and PE %d called different collective functions", what, node_->pes()[0],
                          node_->pes()[other]);
    } else if (const bool is_first = theirs.arguments[0].load() != root.arguments[0].load();
               is_first || theirs.arguments[1].load() != root.arguments[1].load()) {
      agreed = base::fail(EPROTO, "%s: PE %d passed %" PRIu64 ", PE %d %" PRIu64 "; all PEs must pass the same", what,
                          node_->pes()[0], root.arguments[is_first ? 0 : 1].load(), node_->pes()[other],
                          theirs.arguments[is_first ? 0 : 1].load());
    }
  }
  // Nobody writes its line anew before all have read it.
  if (auto met = sync_all(what); !met) return met;
  return agreed;
}

base::Result<void*> Pe::allocate(std::size_t size_bytes, std::size_t alignment, bool is_zeroed) noexcept {
  constexpr std::size_t largest_alignment = std::size_t{2} << 20;
  const std::lock_guard lock(collective_mutex_);
  if (auto agreed = agree(is_zeroed ? "calloc" : "malloc", allocating, size_bytes, alignment); !agreed)
    return base::pass(agreed);
  if (size_bytes == 0) return base::fail(EINVAL, "malloc: a symmetric object has at least 1 byte");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > largest_alignment) {
    return base::fail(EINVAL, "align: an alignment is a power of two up to 2 MiB, not %zu", alignment);
  }
  const platform::DeviceScope scope(*device_);
  if (auto current = scope.status(); !current) return base::pass(current);
  auto offset = heap_->allocate(size_bytes, std::max<std::size_t>(alignment, heap::BlockList::unit_bytes));
  if (!offset) return base::pass(offset);
  if (is_zeroed) {
    if (auto filled = device_->fill(heap_->own_address(*offset), 0, size_bytes); !filled) return base::pass(filled);
  }
  if (auto met = barrier_all(); !met) return base::pass(met);
  return reinterpret_cast<void*>(heap_->own_address(*offset));
}

base::Status Pe::free(void* address) noexcept {
  const std::lock_guard lock(collective_mutex_);
  // Before the memory may have a new owner: what was put into it has arrived.
  if (auto done = complete_all(); !done) return done;
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - heap_->own_address(0);
  if (auto agreed = agree("free", freeing, offset, 0); !agreed) return agreed;
  return heap_->free(reinterpret_cast<std::uint64_t>(address));
}

base::Result<void*> Pe::pointer(const void* address, int pe) const noexcept {
  auto at = reach(address, 1, pe);
  if (!at) return base::pass(at);
  return reinterpret_cast<void*>(*at);
}

}  // namespace gdrkit::shmem_impl::core
