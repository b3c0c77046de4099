// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "core/records.hpp"

#include <type_traits>

namespace gdrkit::core {

// Not constructed or destroyed at run time: threads may call the library before main and while the process exits.
constinit SlotTable<ContextSlot, 64, 1024> context_table;
constinit SlotTable<PinSlot, 256, 4096> pin_table;
constinit SlotTable<BufferSlot, 64, 1024> buffer_table;
constinit std::mutex registry_mutex;
static_assert(std::is_trivially_destructible_v<decltype(pin_table)> && std::is_trivially_destructible_v<std::mutex>);

tl::unexpected<base::Error> not_a_handle(const char* kind, Handle handle) noexcept {
  if (handle == 0) return base::fail(EINVAL, "invalid %s handle: it is NULL", kind);
  return base::fail(EINVAL, "invalid %s handle 0x%llx: the handle is already closed or not from this library", kind,
                    static_cast<unsigned long long>(handle));
}

Handle link(OwnedSlot*& first, OwnedSlot& slot, HandleKind kind, Handle context) noexcept {
  slot.is_abandoned = false;
  slot.owner.store(context, std::memory_order_release);
  {
    const std::lock_guard lock(registry_mutex);
    slot.previous_of_context = nullptr;
    slot.next_of_context = first;
    if (first != nullptr) first->previous_of_context = &slot;
    first = &slot;
  }
  const Handle handle = make_handle(kind, slot.generation, slot.index);
  slot.handle.store(handle, std::memory_order_release);
  return handle;
}

void unlink(OwnedSlot*& first, OwnedSlot& slot) noexcept {
  slot.owner.store(0, std::memory_order_release);
  const std::lock_guard lock(registry_mutex);
  OwnedSlot* const next = slot.next_of_context;
  OwnedSlot* const previous = slot.previous_of_context;
  if (next != nullptr) next->previous_of_context = previous;
  (previous != nullptr ? previous->next_of_context : first) = next;
}

OwnedSlot* any_of(OwnedSlot* const& first) noexcept {
  const std::lock_guard lock(registry_mutex);
  return first;
}

base::Status check_process(const ContextSlot& context) noexcept {
  // Both are read before any lock: in a forked child, a thread that no longer exists may hold it.
  if (!context.is_abandoned.load(std::memory_order_relaxed) &&
      context.owner_pid.load(std::memory_order_relaxed) == current_pid()) {
    return {};
  }
  // No allocation: if fork handlers did not run for the child, the allocator's locks may be held forever.
  return base::fail_literal(EACCES,
                            "invalid handle: it belongs to the parent process; open a context in the forked child");
}

base::Result<HeldContext> HeldContext::hold(Handle context) noexcept {
  ContextSlot* const slot = context_table.find_live(context);
  if (slot == nullptr) return not_a_handle("context", context);
  if (base::Status mine = check_process(*slot); !mine) return base::pass(mine);
  std::shared_lock lock(slot->mutex);
  if (slot->handle.load(std::memory_order_acquire) != context) return not_a_handle("context", context);
  return HeldContext(slot, std::move(lock));
}

base::Result<HeldPin> hold_pin(std::optional<Handle> context, Handle pin) noexcept {
  const PinSlot* const slot = pin_table.find_live(pin);
  if (slot != nullptr && context && *context != slot->owner.load(std::memory_order_acquire)) {
    if (context_table.find_live(*context) == nullptr) return not_a_handle("context", *context);
    return base::fail(EINVAL, "invalid pin handle: the pin belongs to another context");
  }
  return HeldPin::hold(pin_table, "pin", pin);
}

void PinSummary::publish(Handle pin, Handle context, const PinInfo& info) noexcept {
  // Pairs with the reader's acquire fence: one that sees a member of this pin no longer finds an earlier pin's handle.
  std::atomic_thread_fence(std::memory_order_release);
  owner.store(context, std::memory_order_relaxed);
  page_address.store(info.page_address, std::memory_order_relaxed);
  page_bytes.store(info.page_bytes, std::memory_order_relaxed);
  cycles.store(info.cost.cycles, std::memory_order_relaxed);
  cycles_per_ms.store(info.cost.cycles_per_ms, std::memory_order_relaxed);
  page_size_bytes.store(info.page_size_bytes, std::memory_order_relaxed);
  owner_pid.store(current_pid(), std::memory_order_relaxed);
  mapping_type.store(cpu::MappingType::none, std::memory_order_relaxed);
  handle.store(pin, std::memory_order_release);
}

base::Status take_down_mapping(PinSlot& pin) noexcept {
  const Handle handle = pin.view.live.exchange(0, std::memory_order_acq_rel);
  pin.summary.mapping_type.store(cpu::MappingType::none, std::memory_order_relaxed);
  finish_copies_of(handle);
  const SlotCall call(pin);
  pin.info.is_mapped = false;
  pin.info.mapping_type = cpu::MappingType::none;
  pin.info.verification = backend::Verification::none;
  pin.info.mapping_address = nullptr;
  pin.info.mapping_bytes = 0;
  pin.path.reset();
  base::Status unmapped = pin.backend_pin->unmap();
  pin.has_failed_unmap = !unmapped;
  return unmapped;
}

base::Status take_down_pin(ContextSlot& context, PinSlot& pin) noexcept {
  base::Status first;
  const SlotCall call(pin);
  pin.handle.store(0, std::memory_order_release);
  pin.summary.withdraw();
  if (pin.info.is_mapped) base::keep_first(first, take_down_mapping(pin));
  base::keep_first(first, pin.backend_pin->unpin());
  pin.backend_pin.reset();
  unlink(context.first_pin, pin);
  pin_table.release(&pin, registry_mutex);
  return first;
}

}  // namespace gdrkit::core
