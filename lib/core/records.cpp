// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "core/records.hpp"

#include <unistd.h>

#include <type_traits>

namespace gdrkit::core {

// Neither constructed nor destroyed at run time: threads may call in before main and while the process exits.
constinit SlotTable<ContextSlot, 64, 1024> context_table;
constinit SlotTable<PinSlot, 256, 4096> pin_table;
constinit SlotTable<BufferSlot, 64, 1024> buffer_table;
constinit std::mutex registry_mutex;
static_assert(std::is_trivially_destructible_v<decltype(pin_table)> && std::is_trivially_destructible_v<std::mutex>);

namespace {

// The lists are doubly linked by index. `first` is the head, a member of the context.

template <class Table, class Slot>
void push(Table& table, std::uint32_t& first, Slot& slot) noexcept {
  const std::lock_guard lock(registry_mutex);
  slot.previous_of_context = no_slot;
  slot.next_of_context = first;
  if (first != no_slot) table.find(first)->previous_of_context = slot.index;
  first = slot.index;
}

template <class Table, class Slot>
void take_out(Table& table, std::uint32_t& first, Slot& slot) noexcept {
  const std::lock_guard lock(registry_mutex);
  const std::uint32_t next = slot.next_of_context;
  const std::uint32_t previous = slot.previous_of_context;
  if (next != no_slot) table.find(next)->previous_of_context = previous;
  if (previous != no_slot) {
    table.find(previous)->next_of_context = next;
  } else {
    first = next;
  }
}

}  // namespace

tl::unexpected<base::Error> not_a_handle(const char* kind, Handle handle) noexcept {
  if (handle == 0) return base::fail(EINVAL, "the %s handle is NULL", kind);
  return base::fail(EINVAL, "invalid %s handle 0x%llx: closed already, or not from this library", kind,
                    static_cast<unsigned long long>(handle));
}

void link(ContextSlot& context, PinSlot& pin) noexcept { push(pin_table, context.first_pin, pin); }
void link(ContextSlot& context, BufferSlot& buffer) noexcept { push(buffer_table, context.first_buffer, buffer); }
void unlink(ContextSlot& context, PinSlot& pin) noexcept { take_out(pin_table, context.first_pin, pin); }
void unlink(ContextSlot& context, BufferSlot& buffer) noexcept { take_out(buffer_table, context.first_buffer, buffer); }

PinSlot* any_pin(const ContextSlot& context) noexcept {
  const std::lock_guard lock(registry_mutex);
  return context.first_pin == no_slot ? nullptr : pin_table.find(context.first_pin);
}

BufferSlot* any_buffer(const ContextSlot& context) noexcept {
  const std::lock_guard lock(registry_mutex);
  return context.first_buffer == no_slot ? nullptr : buffer_table.find(context.first_buffer);
}

base::Status check_process(const ContextSlot& context) noexcept {
  // Both are looked at before any lock: in a forked child a thread that does not exist any more may hold it.
  if (!context.is_abandoned.load(std::memory_order_relaxed) &&
      context.owner_pid.load(std::memory_order_relaxed) == getpid()) {
    return {};
  }
  // No allocation: in a child that was made without fork handlers, the allocator's locks may be held for ever.
  return base::fail_literal(EACCES, "the handle belongs to the parent process; a forked child opens its own context");
}

base::Result<HeldContext> HeldContext::hold(Handle context) noexcept {
  ContextSlot* const slot = context_table.find_live(context);
  if (slot == nullptr) return not_a_handle("context", context);
  if (base::Status mine = check_process(*slot); !mine) return base::pass(mine);
  std::shared_lock lock(slot->mutex);
  if (slot->handle.load(std::memory_order_acquire) != context) return not_a_handle("context", context);
  return HeldContext(slot, std::move(lock));
}

base::Result<HeldPin> HeldPin::hold(Handle context, Handle pin) noexcept {
  PinSlot* const slot = pin_table.find_live(pin);
  if (slot == nullptr) return not_a_handle("pin", pin);
  const Handle owner = slot->owner.load(std::memory_order_acquire);
  if (context != 0 && context != owner) {
    if (context_table.find_live(context) == nullptr) return not_a_handle("context", context);
    return base::fail(EINVAL, "invalid pin handle: the pin belongs to another context");
  }
  base::Result<HeldContext> held = HeldContext::hold(owner);
  if (!held) return base::pass(held);
  std::unique_lock lock(slot->mutex);
  // The slot may have been given to another pin since it was looked up.
  if (slot->handle.load(std::memory_order_acquire) != pin) return not_a_handle("pin", pin);
  return HeldPin(std::move(*held), slot, std::move(lock));
}

base::Status take_down_mapping(PinSlot& pin) noexcept {
  const Handle handle = pin.view.live.exchange(0, std::memory_order_acq_rel);
  finish_copies_of(handle);
  const PinCall call(pin);
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
  const PinCall call(pin);
  pin.handle.store(0, std::memory_order_release);
  if (pin.info.is_mapped) base::keep_first(first, take_down_mapping(pin));
  base::keep_first(first, pin.backend_pin->unpin());
  pin.backend_pin.reset();
  pin.owner.store(0, std::memory_order_release);
  unlink(context, pin);
  pin_table.release(&pin, registry_mutex);
  return first;
}

}  // namespace gdrkit::core
