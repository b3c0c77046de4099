// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What is kept of each context, pin and buffer, the tables that hold it, and the order of the locks.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "backend/backend.hpp"
#include "copy/copier.hpp"
#include "core/core.hpp"
#include "core/fork_guard.hpp"
#include "core/slot_table.hpp"
#include "cpu/features.hpp"
#include "engine/path.hpp"

// Locks, in the order in which they are taken:
//   1. ContextSlot::mutex   shared for every call on the context, its pins or its buffers, exclusive to close it
//   2. OwnedSlot::mutex     serialises the slow calls on one pin or buffer; never two of them together
//   3. BackendCall          around a backend's calls; they and forks wait for each other, for a bounded time only
//                           (fork_guard.hpp)
//   4. registry_mutex       free lists and the contexts' lists of pins and buffers; a leaf: nothing is called or
//                           allocated under it. Not held across a fork: the child starts with a fresh one
// A slot's locks live as long as the process, so that the holder of a stale handle may lock first and look again after.

namespace gdrkit::core {

/// What a copy needs of a mapping. Written under the pin's lock before `live` is released, read by copies without a
/// lock.
struct alignas(64) MappingView {
  std::atomic<Handle> live{0};   ///< the pin's handle while it is mapped, else 0
  std::uintptr_t base = 0;       ///< first mapped byte
  std::size_t size_bytes = 0;    ///< mapped bytes
  std::uintptr_t user_base = 0;  ///< the user's own first byte
  std::size_t user_bytes = 0;    ///< the part of the user's own range that is mapped
  copy::Copier copier;
  engine::Path* path = nullptr;             ///< of a mapping with an engine, whose size_bytes and user_bytes are 0
  std::size_t path_bytes = 0;               ///< mapped bytes of such a mapping
  std::size_t own_bytes = 0;                ///< and the user's own
  std::size_t largest_for_cpu[2] = {0, 0};  ///< its writes and reads up to here need no engine
};
// What a copy of up to a line reads is in the record's first cache line.
static_assert(offsetof(MappingView, copier) + offsetof(copy::Copier, load_lines) == 64);

[[nodiscard]] inline bool is_inside(std::size_t offset, std::size_t size_bytes, std::size_t limit) noexcept {
  return offset <= limit && size_bytes <= limit - offset;
}

/// What pins and buffers have in common.
struct OwnedSlot : SlotHeader {
  std::mutex mutex;
  std::atomic<Handle> owner{0};              ///< the context's handle
  std::atomic<int> running_calls{0};         ///< backend calls on it: its state may be in between
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

struct PinSlot : OwnedSlot {
  MappingView view;
  std::unique_ptr<backend::BackendPin> backend_pin;
  std::unique_ptr<engine::Path> path;
  PinInfo info;
  bool has_failed_unmap = false;  ///< what the backend still has mapped is unknown: no further map
};

struct BufferSlot : OwnedSlot {
  std::unique_ptr<backend::BackendBuffer> backend_buffer;
  BufferInfo info;
};

extern SlotTable<ContextSlot, 64, 1024> context_table;
extern SlotTable<PinSlot, 256, 4096> pin_table;
extern SlotTable<BufferSlot, 64, 1024> buffer_table;
extern std::mutex registry_mutex;

/// Puts a pin or buffer, whose record is filled in, into its context's list, and names it last: others find it then.
[[nodiscard]] Handle link(OwnedSlot*& first, OwnedSlot& slot, HandleKind kind, Handle context) noexcept;
/// Takes it out of the list.
void unlink(OwnedSlot*& first, OwnedSlot& slot) noexcept;
/// Any slot of such a list; nullptr when it has none.
[[nodiscard]] OwnedSlot* any_of(OwnedSlot* const& first) noexcept;

/// A live context of this process, held against being closed.
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

/// EINVAL, naming the kind of handle that was expected.
[[nodiscard]] tl::unexpected<base::Error> not_a_handle(const char* kind, Handle handle) noexcept;

/// A live pin or buffer, locked, together with its context.
template <class Slot>
class Held {
 public:
  /// EINVAL: `handle` is not, or not any more, of this table, whose slots are each a `kind`. EACCES: inherited.
  template <class Table>
  [[nodiscard]] static base::Result<Held> hold(const Table& table, const char* kind, Handle handle) noexcept {
    Slot* const slot = table.find_live(handle);
    if (slot == nullptr) return not_a_handle(kind, handle);
    base::Result<HeldContext> context = HeldContext::hold(slot->owner.load(std::memory_order_acquire));
    if (!context) return base::pass(context);
    std::unique_lock lock(slot->mutex);
    // The slot may have been given to another one since it was looked up.
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

/// `context` 0: whichever owns the pin; a pin of another context is EINVAL.
[[nodiscard]] base::Result<HeldPin> hold_pin(Handle context, Handle pin) noexcept;

/// EACCES when the context belongs to another process: inherited by fork, or by a bare clone that ran no fork handler.
[[nodiscard]] base::Status check_process(const ContextSlot& context) noexcept;

/// Waits for the copies through this pin that were started; their outcome is kept for finish_copy().
void finish_copies_of(Handle pin) noexcept;

/// Takes the mapping away from copies, then from the backend. Under the pin's lock, with the pin mapped.
base::Status take_down_mapping(PinSlot& pin) noexcept;
/// Ends a pin whose lock is held: afterwards the handle is invalid and the slot is free, also if the backend failed.
base::Status take_down_pin(ContextSlot& context, PinSlot& pin) noexcept;
/// The same for a buffer.
base::Status take_down_buffer(ContextSlot& context, BufferSlot& buffer) noexcept;

/// Held around each change of a pin or buffer, the backend's part included; may be nested. The count is for a fork that
/// could not wait for the end.
class SlotCall {
 public:
  explicit SlotCall(OwnedSlot& slot) noexcept : slot_(slot) { ++slot_.running_calls; }
  SlotCall(const SlotCall&) = delete;
  SlotCall& operator=(const SlotCall&) = delete;
  ~SlotCall() { --slot_.running_calls; }

 private:
  BackendCall call_;  // before the count: a fork that this call waits for finds the slot whole
  OwnedSlot& slot_;
};

}  // namespace gdrkit::core
