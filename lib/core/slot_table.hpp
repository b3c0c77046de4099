// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// SlotTable: slots that live as long as the process, found by index without a lock, so that a stale handle can be
// looked up safely at any time.
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

/// What the table needs of a slot. `handle` is the slot's name while it is in use, else 0.
struct SlotHeader {
  std::atomic<Handle> handle{0};
  std::uint64_t generation = 0;
  std::uint32_t index = no_slot;
  std::uint32_t next_free = no_slot;
};

/// Slots come in chunks that are never freed nor moved. Has no destructor of its own: threads may still call in while
/// the process exits.
template <class Slot, std::uint32_t slots_per_chunk, std::uint32_t chunk_count>
class SlotTable {
 public:
  /// The last chunk never exists: its last index is what handle 0 decodes to.
  static constexpr std::uint32_t capacity = slots_per_chunk * (chunk_count - 1);
  static_assert(std::uint64_t{slots_per_chunk} * chunk_count <= index_mask + 1);

  /// The slot, in use or not; nullptr if there has never been one.
  [[nodiscard]] Slot* find(std::uint32_t index) const noexcept {
    if constexpr (std::uint64_t{slots_per_chunk} * chunk_count <= index_mask) {
      if (index >= slots_per_chunk * chunk_count) return nullptr;
    }
    Slot* const chunk = chunks_[index / slots_per_chunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : chunk + index % slots_per_chunk;
  }

  /// The slot that carries this very handle now; it may be closed at any moment unless the caller holds its lock.
  [[nodiscard]] Slot* find_live(Handle handle) const noexcept {
    Slot* const slot = find(index_of(handle));
    return slot != nullptr && slot->handle.load(std::memory_order_acquire) == handle ? slot : nullptr;
  }

  /// An unused slot, with a generation no slot at this index has had; ENOMEM when all are in use. `mutex` guards the
  /// free list; nothing is allocated while it is held.
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
        if (used_ == capacity) return base::fail(ENOMEM, "all %u handles of this kind are in use", capacity);
        if (Slot* const slot = find(used_)) {
          slot->index = used_++;
          return slot;
        }
        missing_chunk = used_ / slots_per_chunk;
      }
      Slot* const fresh = new (std::nothrow) Slot[slots_per_chunk];
      if (fresh == nullptr) return base::fail_literal(ENOMEM, "out of memory for handles");
      Slot* none = nullptr;
      if (!chunks_[missing_chunk].compare_exchange_strong(none, fresh, std::memory_order_acq_rel)) delete[] fresh;
    }
  }

  /// Gives back a slot whose handle is 0 again. A slot that has used up its generations is never given out again.
  void release(Slot* slot, std::mutex& mutex) noexcept {
    const std::lock_guard lock(mutex);
    if (slot->generation == last_generation) return;
    ++slot->generation;
    slot->next_free = first_free_;
    first_free_ = slot->index;
  }

  /// In a forked child: unused slots may have locks that a thread of the parent held; leave them alone for good.
  void forget_free_slots() noexcept { first_free_ = no_slot; }

  /// Every slot that was ever given out. Under the mutex, or with no other thread.
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
