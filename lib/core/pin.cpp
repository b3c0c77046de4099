// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pins: pin, describe, unpin.
#include <limits>
#include <utility>

#include "core/core.hpp"
#include "core/fork_guard.hpp"
#include "core/records.hpp"

namespace gdrkit::core {
namespace {

base::Status check_request(const backend::Traits& traits, std::uint64_t address, std::size_t size_bytes,
                           const PinOptions& options) noexcept {
  if (address == 0) return base::fail(EINVAL, "cannot pin memory: the device address is NULL");
  if (size_bytes == 0) return base::fail(EINVAL, "cannot pin memory: the size is 0 bytes");
  if (size_bytes > std::numeric_limits<std::uint64_t>::max() - address) {
    return base::fail(EINVAL, "cannot pin 0x%llx + %zu bytes: the end of the range exceeds 64 bits",
                      static_cast<unsigned long long>(address), size_bytes);
  }
  if (options.force_pcie && !traits.supports_force_pcie) {
    return base::fail(
        EINVAL,
        "cannot pin memory with GDR_PIN_FLAG_FORCE_PCIE: backend '%s' does not support this flag; omit the flag",
        traits.name);
  }
  return {};
}

/// Validates the pages that the backend returned. Later code depends on them.
base::Status check_pages(const backend::Traits& traits, const backend::PinRequest& request,
                         const backend::BackendPin& pin) noexcept {
  const std::uint64_t page_mask = traits.page_size_bytes - 1;
  const std::uint64_t first = pin.page_address();
  const std::uint64_t bytes = pin.page_bytes();
  const bool is_aligned = ((first | bytes) & page_mask) == 0;
  const bool is_enclosing =
      first <= request.address && bytes >= request.size_bytes && request.address - first <= bytes - request.size_bytes;
  if (is_aligned && is_enclosing) return {};
  return base::fail(EIO, "cannot pin 0x%llx + %zu bytes: backend '%s' pinned the wrong range 0x%llx + %zu bytes",
                    static_cast<unsigned long long>(request.address), request.size_bytes, traits.name,
                    static_cast<unsigned long long>(first), pin.page_bytes());
}

}  // namespace

base::Result<Handle> pin(Handle handle, std::uint64_t address, std::size_t size_bytes,
                         const PinOptions& options) noexcept {
  const base::Result<HeldContext> held = HeldContext::hold(handle);
  if (!held) return base::pass(held);
  ContextSlot& context = **held;
  const backend::Traits& traits = context.info.traits;
  if (base::Status valid = check_request(traits, address, size_bytes, options); !valid) return base::pass(valid);

  const backend::PinRequest request{address, size_bytes, options.force_pcie, options.exact_range};
  const BackendCall call;  // until the end: a fork must not see the backend's resources before their handle exists
  base::Result<std::unique_ptr<backend::BackendPin>> backend_pin = context.backend->pin(request);
  if (!backend_pin) return base::pass(backend_pin);
  if (base::Status usable = check_pages(traits, request, **backend_pin); !usable) return base::pass(usable);
  const base::Result<PinSlot*> acquired = pin_table.acquire(registry_mutex);
  if (!acquired) return base::pass(acquired);

  // The slot's lock is not required: holders of a stale handle only read `handle`, which is stored last.
  PinSlot& pin = **acquired;
  pin.info = {};
  pin.info.page_address = (*backend_pin)->page_address();
  pin.info.page_bytes = (*backend_pin)->page_bytes();
  pin.info.user_address = address;
  pin.info.user_bytes = size_bytes;
  pin.info.page_size_bytes = traits.page_size_bytes;
  pin.info.cost = (*backend_pin)->cost();
  pin.has_failed_unmap = false;
  pin.backend_pin = std::move(*backend_pin);
  const Handle linked = link(context.first_pin, pin, HandleKind::pin, handle);
  if (pin.backend_pin->keeps_memory()) pin.summary.publish(linked, handle, pin.info);
  return linked;
}

base::Status unpin(std::optional<Handle> context, Handle handle) noexcept {
  const base::Result<HeldPin> pin = hold_pin(context, handle);
  if (!pin) return base::pass(pin);
  return take_down_pin(pin->context(), **pin);
}

std::optional<PinInfo> pin_summary(Handle context, Handle pin) noexcept {
  const PinSlot* const slot = pin_table.find(index_of(pin));
  if (slot == nullptr || pin == 0) return std::nullopt;
  const PinSummary& summary = slot->summary;
  if (summary.handle.load(std::memory_order_acquire) != pin) return std::nullopt;
  PinInfo info;
  info.page_address = summary.page_address.load(std::memory_order_relaxed);
  info.page_bytes = summary.page_bytes.load(std::memory_order_relaxed);
  info.page_size_bytes = summary.page_size_bytes.load(std::memory_order_relaxed);
  info.cost = {summary.cycles.load(std::memory_order_relaxed), summary.cycles_per_ms.load(std::memory_order_relaxed)};
  info.mapping_type = summary.mapping_type.load(std::memory_order_relaxed);
  info.is_mapped = info.mapping_type != cpu::MappingType::none;
  const bool is_own = summary.owner.load(std::memory_order_relaxed) == context &&
                      summary.owner_pid.load(std::memory_order_relaxed) == current_pid();
  std::atomic_thread_fence(std::memory_order_acquire);
  if (!is_own || summary.handle.load(std::memory_order_relaxed) != pin) return std::nullopt;
  return info;
}

base::Result<PinInfo> pin_info(std::optional<Handle> context, Handle handle, Mapped mapped) noexcept {
  const base::Result<HeldPin> pin = hold_pin(context, handle);
  if (!pin) return base::pass(pin);
  base::Result<PinInfo> info((*pin)->info);
  if (mapped == Mapped::shown && info->is_mapped && (*pin)->backend_pin->is_invalidated()) {
    info->is_mapped = false;
    info->mapping_type = cpu::MappingType::none;
    info->mapping_address = nullptr;
  }
  return info;
}

base::Result<bool> is_invalidated(std::optional<Handle> context, Handle handle) noexcept {
  const base::Result<HeldPin> pin = hold_pin(context, handle);
  if (!pin) return base::pass(pin);
  return (*pin)->backend_pin->is_invalidated();
}

}  // namespace gdrkit::core
