// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The records of contexts, pins and buffers, their tables, and the lock order.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>

#include "backend/backend.hpp"
#include "copy/copier.hpp"
#include "core/core.hpp"
#include "core/fork_guard.hpp"
#include "core/slot_table.hpp"
#include "cpu/features.hpp"
#include "engine/path.hpp"

// Lock order:
//   1. ContextSlot::mutex   shared for every call on the context, its pins or its buffers; exclusive to close it
//   2. OwnedSlot::mutex     serializes the slow calls on one pin or buffer; a thread never holds two of them
//   3. BackendCall          around calls of a backend; calls and forks wait for each other, with a timeout
//                           (fork_guard.hpp)
//   4. registry_mutex       free lists, and the contexts' lists of pins and buffers. A leaf: no calls and no allocation
//                           while it is held. Not held across a fork: the child starts with a new one
// The locks of a slot are never destroyed, so the holder of a stale handle may lock first and check the handle again.

namespace gdrkit::core {

/// The data of a mapping for copies. Written under the pin's lock before the release store to `live`; copies read it
/// without a lock.
struct alignas(64) MappingView {
  std::atomic<Handle> live{0};   ///< the pin's handle while it is mapped, else 0
  std::uintptr_t base = 0;       ///< first mapped byte
  std::size_t size_bytes = 0;    ///< mapped bytes
  std::uintptr_t user_base = 0;  ///< first byte of the user's range
  std::size_t user_bytes = 0;    ///< mapped bytes of the user's range
  copy::Copier copier;
  engine::Path* path = nullptr;             ///< with an engine only; size_bytes and user_bytes are then 0
  std::size_t path_bytes = 0;               ///< with an engine: the mapped bytes
  std::size_t largest_for_cpu[2] = {0, 0};  ///< with an engine: the CPU performs writes and reads up to here
};
// A copy reads only the first cache line of the record.
static_assert(offsetof(MappingView, copier) + offsetof(copy::Copier, store_name) == 64);

[[nodiscard]] inline bool is_inside(std::size_t offset, std::size_t size_bytes, std::size_t limit) noexcept {
  return offset <= limit && size_bytes <= limit - offset;
}

/// The common part of pins and buffers.
struct OwnedSlot : SlotHeader {
  std::mutex mutex;
  std::atomic<Handle> owner{0};              ///< the context's handle
  std::atomic<int> running_calls{0};         ///< backend calls on it: its state may be inconsistent
  bool is_abandoned = false;                 ///< inherited by a forked child
  OwnedSlot* next_of_context = nullptr;      ///< guarded by registry_mutex
  OwnedSlot* previous_of_context = nullptr;  ///< guarded by registry_mutex
};

struct ContextSlot : SlotHeader {
  std::shared_mutex mutex;
  std::atomic<pid_t> owner_pid{0};
  std::atomic<bool> is_abandoned{false};  ///< inherited by a forked child
  std::unique_ptr<backend::Backend> backend;
  std::unique_ptr<engine::Engines> engines;  ///< on the backend
  ContextInfo info;
  cpu::Features features;
  std::string forced_copy_kernel;
  OwnedSlot* first_pin = nullptr;     ///< guarded by registry_mutex
  OwnedSlot* first_buffer = nullptr;  ///< guarded by registry_mutex
};

/// What a query of a pin returns, readable without a lock, in one cache line. Written under the pin's lock. `handle` is
/// the pin's while the members are valid, else 0. A slot never has the same handle twice, so a reader that finds the
/// handle before and after it reads the members has read those of its pin.
struct alignas(64) PinSummary {
  std::atomic<Handle> handle{0};
  std::atomic<Handle> owner{0};  ///< the context's handle
  std::atomic<std::uint64_t> page_address{0};
  std::atomic<std::uint64_t> page_bytes{0};
  std::atomic<std::uint64_t> cycles{0};
  std::atomic<std::uint32_t> cycles_per_ms{0};
  std::atomic<std::uint32_t> page_size_bytes{0};
  std::atomic<pid_t> owner_pid{0};
  std::atomic<cpu::MappingType> mapping_type{cpu::MappingType::none};

  /// Makes the summary valid. Only for a pin that keeps its memory: others must query the backend.
  void publish(Handle pin, Handle context, const PinInfo& info) noexcept;
  void withdraw() noexcept { handle.store(0, std::memory_order_relaxed); }
};
static_assert(sizeof(PinSummary) == 64);

// A power of two, so that the copy path finds a slot by a shift.
struct alignas(512) PinSlot : OwnedSlot {
  MappingView view;
  PinSummary summary;
  std::unique_ptr<backend::BackendPin> backend_pin;
  std::unique_ptr<engine::Path> path;
  PinInfo info;
  bool has_failed_unmap = false;  ///< the backend's state is unknown, so further maps are rejected
};

struct BufferSlot : OwnedSlot {
  std::unique_ptr<backend::BackendBuffer> backend_buffer;
  BufferInfo info;
};

extern SlotTable<ContextSlot, 64, 1024> context_table;
extern SlotTable<PinSlot, 256, 4096> pin_table;
extern SlotTable<BufferSlot, 64, 1024> buffer_table;
extern std::mutex registry_mutex;

/// Adds a pin or buffer with a complete record to its context's list, then publishes its handle.
[[nodiscard]] Handle link(OwnedSlot*& first, OwnedSlot& slot, HandleKind kind, Handle context) noexcept;
/// Removes a pin or buffer from its context's list.
void unlink(OwnedSlot*& first, OwnedSlot& slot) noexcept;
/// Any slot of such a list; nullptr if it is empty.
[[nodiscard]] OwnedSlot* any_of(OwnedSlot* const& first) noexcept;

/// A live context of this process. Holds its shared lock, so that it cannot be closed.
class HeldContext {
 public:
  /// EINVAL: not a live context of this library. EACCES: inherited from another process.
  [[nodiscard]] static base::Result<HeldContext> hold(Handle context) noexcept;
  [[nodiscard]] ContextSlot& operator*() const noexcept { return *slot_; }
  [[nodiscard]] ContextSlot* operator->() const noexcept { return slot_; }

 private:
  HeldContext(ContextSlot* slot, std::shared_lock<std::shared_mutex> lock) noexcept
      : slot_(slot), lock_(std::move(lock)) {}
  ContextSlot* slot_;
  std::shared_lock<std::shared_mutex> lock_;
};

/// Returns EINVAL for the copy calls, which find a mapping by its handle only.
[[nodiscard]] inline tl::unexpected<base::Error> pin_is_not_mapped() noexcept {
  return base::fail_literal(EINVAL,
                            "cannot copy data: the pin is not mapped, or its handle is invalid; map the pin first");
}
/// Returns EINVAL with a text that names the expected kind of handle.
[[nodiscard]] tl::unexpected<base::Error> not_a_handle(const char* kind, Handle handle) noexcept;

/// A live pin or buffer, locked, together with its context.
template <class Slot>
class Held {
 public:
  /// EINVAL: `handle` is not a live handle of this table, whose slots are of `kind`. EACCES: inherited.
  template <class Table>
  [[nodiscard]] static base::Result<Held> hold(const Table& table, const char* kind, Handle handle) noexcept {
    Slot* const slot = table.find_live(handle);
    if (slot == nullptr) return not_a_handle(kind, handle);
    base::Result<HeldContext> context = HeldContext::hold(slot->owner.load(std::memory_order_acquire));
    if (!context) return base::pass(context);
    std::unique_lock lock(slot->mutex);
    // The slot may have been reused since it was looked up.
    if (slot->handle.load(std::memory_order_acquire) != handle) return not_a_handle(kind, handle);
    return Held(std::move(*context), slot, std::move(lock));
  }
  [[nodiscard]] ContextSlot& context() const noexcept { return *context_; }
  [[nodiscard]] Slot& operator*() const noexcept { return *slot_; }
  [[nodiscard]] Slot* operator->() const noexcept { return slot_; }

 private:
  Held(HeldContext context, Slot* slot, std::unique_lock<std::mutex> lock) noexcept
      : context_(std::move(context)), slot_(slot), lock_(std::move(lock)) {}
  HeldContext context_;
  Slot* slot_;
  std::unique_lock<std::mutex> lock_;
};
using HeldPin = Held<PinSlot>;
using HeldBuffer = Held<BufferSlot>;

/// EINVAL: the pin belongs to another context than `context`; nullopt: any.
[[nodiscard]] base::Result<HeldPin> hold_pin(std::optional<Handle> context, Handle pin) noexcept;

/// EACCES: the context belongs to another process, inherited by fork, or by a plain clone that runs no fork handlers.
[[nodiscard]] base::Status check_process(const ContextSlot& context) noexcept;

/// Waits for the started copies of this pin. Their results are kept for finish_copy().
void finish_copies_of(Handle pin) noexcept;

/// Invalidates the mapping for copies, then unmaps it in the backend. The pin is locked and mapped.
base::Status take_down_mapping(PinSlot& pin) noexcept;
/// Unpins a pin whose lock is held. The handle is invalid and the slot free afterwards, even if the backend fails.
base::Status take_down_pin(ContextSlot& context, PinSlot& pin) noexcept;
/// The same for a buffer.
base::Status take_down_buffer(ContextSlot& context, BufferSlot& buffer) noexcept;

/// Held during each change of a pin or buffer, including the backend's part; may be nested. A fork that timed out uses
/// the count.
class SlotCall {
 public:
  explicit SlotCall(OwnedSlot& slot) noexcept : slot_(slot) { ++slot_.running_calls; }
  SlotCall(const SlotCall&) = delete;
  SlotCall& operator=(const SlotCall&) = delete;
  ~SlotCall() { --slot_.running_calls; }

 private:
  BackendCall call_;  // before the count: a fork that this call waits for finds the slot consistent
  OwnedSlot& slot_;
};

}  // namespace gdrkit::core
