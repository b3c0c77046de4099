// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// SlotTable: slots that are never freed and are found by index without a lock, so looking up a stale handle is always
// safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>

#include "base/result.hpp"
#include "core/handle.hpp"

namespace gdrkit::core {

inline constexpr std::uint32_t no_slot = UINT32_MAX;

/// The part of a slot that the table uses. `handle` is the handle of the slot while it is in use, else 0.
struct SlotHeader {
  std::atomic<Handle> handle{0};
  std::uint64_t generation = 0;
  std::uint32_t index = no_slot;
  std::uint32_t next_free = no_slot;
};

/// Slots are allocated in chunks that are never freed or moved. The table has no destructor: threads may still call the
/// library while the process exits.
template <class Slot, std::uint32_t slots_per_chunk, std::uint32_t chunk_count>
class SlotTable {
 public:
  /// The last chunk is never allocated: handle 0 decodes to its last index.
  static constexpr std::uint32_t capacity = slots_per_chunk * (chunk_count - 1);
  static_assert(std::uint64_t{slots_per_chunk} * chunk_count <= index_mask + 1);

  /// The slot, in use or not; nullptr if it was never allocated.
  [[nodiscard]] Slot* find(std::uint32_t index) const noexcept {
    if constexpr (std::uint64_t{slots_per_chunk} * chunk_count <= index_mask) {
      if (index >= slots_per_chunk * chunk_count) return nullptr;
    }
    Slot* const chunk = chunks_[index / slots_per_chunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : chunk + index % slots_per_chunk;
  }

  /// The slot with exactly this handle. Another thread may close it at any time unless the caller holds its lock.
  [[nodiscard]] Slot* find_live(Handle handle) const noexcept {
    Slot* const slot = find(index_of(handle));
    return slot != nullptr && slot->handle.load(std::memory_order_acquire) == handle ? slot : nullptr;
  }

  /// Returns an unused slot with a generation that its index has not had before. ENOMEM: all slots are in use. `mutex`
  /// guards the free list; nothing is allocated while it is held.
  [[nodiscard]] base::Result<Slot*> acquire(std::mutex& mutex) noexcept {
    for (;;) {
      std::uint32_t missing_chunk = 0;
      {
        const std::lock_guard lock(mutex);
        if (first_free_ != no_slot) {
          Slot* const slot = find(first_free_);
          first_free_ = slot->next_free;
          return slot;
        }
        if (used_ == capacity)
          return base::fail(
              ENOMEM, "cannot create a handle: %u handles of the same type are already in use; release unused handles",
              capacity);
        if (Slot* const slot = find(used_)) {
          slot->index = used_++;
          return slot;
        }
        missing_chunk = used_ / slots_per_chunk;
      }
      Slot* const fresh = new (std::nothrow) Slot[slots_per_chunk];
      if (fresh == nullptr) return base::fail_literal(ENOMEM, "cannot create a handle: out of memory");
      Slot* none = nullptr;
      if (!chunks_[missing_chunk].compare_exchange_strong(none, fresh, std::memory_order_acq_rel)) delete[] fresh;
    }
  }

  /// Releases a slot whose handle is 0 again. A slot that has used all its generations is not reused.
  void release(Slot* slot, std::mutex& mutex) noexcept {
    const std::lock_guard lock(mutex);
    if (slot->generation == last_generation) return;
    ++slot->generation;
    slot->next_free = first_free_;
    first_free_ = slot->index;
  }

  /// For a forked child, which must not reuse free slots: a thread of the parent may have held their locks.
  void forget_free_slots() noexcept { first_free_ = no_slot; }

  /// Visits every slot that was ever acquired. The caller holds the mutex, or there is no other thread.
  template <class Visitor>
  void for_each(Visitor&& visit) noexcept {
    for (std::uint32_t index = 0; index < used_; ++index) {
      if (Slot* const slot = find(index)) visit(slot);
    }
  }

 private:
  std::array<std::atomic<Slot*>, chunk_count> chunks_{};
  std::uint32_t used_ = 0;
  std::uint32_t first_free_ = no_slot;
};

}  // namespace gdrkit::core
