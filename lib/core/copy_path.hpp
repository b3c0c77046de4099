// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The copy path: from a handle to the copy in one lookup, one comparison and one bounds test, inlined into the C faces.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "copy/copier.hpp"
#include "core/records.hpp"

namespace gdrkit::core {

/// The mapping that `pin` names, or nullptr. Stays valid while the caller keeps the one rule there is: no unmap, unpin
/// or close of this mapping during the copy.
[[nodiscard]] inline const MappingView* find_mapping(Handle pin) noexcept {
  const PinSlot* const slot = pin_table.find(index_of(pin));
  // Acquire pairs with map's release: who sees the handle sees the mapping's record.
  if (slot == nullptr || slot->view.live.load(std::memory_order_acquire) != pin) return nullptr;
  return &slot->view;
}

// No system call, lock, allocation, log line, environment read, or thread-local variable in these four.
// 0, or EINVAL for a bad handle, an unmapped pin, a NULL host pointer or a range outside. A size of 0 is nothing to do.

/// These return it for a mapping with an engine: the caller then calls copy_by_engine() or copy_mapping_by_engine().
/// No errno. Such a mapping has no bytes of its own, so that others pay no test for it.
inline constexpr int by_engine = -1;

/// A small copy of such a mapping by the CPU, where that is the choice, else by_engine. A read comes behind
/// order_before_load().
[[nodiscard]] int try_small_cpu_copy(const MappingView& view, bool is_read, std::size_t offset, void* host,
                                     std::size_t size_bytes) noexcept;

/// `device` is an address inside the mapping.
[[nodiscard]] inline int copy_to_mapping(Handle pin, void* device, const void* host, std::size_t size_bytes) noexcept {
  const MappingView* const view = find_mapping(pin);
  if (view == nullptr) [[unlikely]]
    return EINVAL;
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(device) - view->base;
  if (!is_inside(offset, size_bytes, view->size_bytes) || host == nullptr) [[unlikely]]
    return view->path != nullptr ? by_engine : size_bytes == 0 ? 0 : EINVAL;
  view->copier.to_device(device, host, size_bytes);
  return 0;
}

[[nodiscard]] inline int copy_from_mapping(Handle pin, void* host, const void* device,
                                           std::size_t size_bytes) noexcept {
  copy::Copier::order_before_load(size_bytes);
  const MappingView* const view = find_mapping(pin);
  if (view == nullptr) [[unlikely]]
    return EINVAL;
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(device) - view->base;
  if (!is_inside(offset, size_bytes, view->size_bytes) || host == nullptr) [[unlikely]]
    return view->path != nullptr ? by_engine : size_bytes == 0 ? 0 : EINVAL;
  view->copier.load_ordered(host, device, size_bytes);
  return 0;
}

/// `offset` counts from the user's own first byte, and the range must lie inside the user's own.
[[nodiscard]] inline int write(Handle pin, std::size_t offset, const void* host, std::size_t size_bytes) noexcept {
  const MappingView* const view = find_mapping(pin);
  if (view == nullptr) [[unlikely]]
    return EINVAL;
  if (!is_inside(offset, size_bytes, view->user_bytes) || host == nullptr) [[unlikely]] {
    if (view->path != nullptr) return try_small_cpu_copy(*view, false, offset, const_cast<void*>(host), size_bytes);
    return size_bytes == 0 ? 0 : EINVAL;
  }
  view->copier.to_device(reinterpret_cast<void*>(view->user_base + offset), host, size_bytes);
  return 0;
}

[[nodiscard]] inline int read(Handle pin, std::size_t offset, void* host, std::size_t size_bytes) noexcept {
  copy::Copier::order_before_load(size_bytes);
  const MappingView* const view = find_mapping(pin);
  if (view == nullptr) [[unlikely]]
    return EINVAL;
  if (!is_inside(offset, size_bytes, view->user_bytes) || host == nullptr) [[unlikely]] {
    if (view->path != nullptr) return try_small_cpu_copy(*view, true, offset, host, size_bytes);
    return size_bytes == 0 ? 0 : EINVAL;
  }
  view->copier.load_ordered(host, reinterpret_cast<const void*>(view->user_base + offset), size_bytes);
  return 0;
}

}  // namespace gdrkit::core
