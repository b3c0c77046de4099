// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The copy path: one lookup, one comparison and one bounds check from a handle to the copy. Inlined into the C APIs.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "copy/copier.hpp"
#include "core/records.hpp"

namespace gdrkit::core {

/// The mapping of `pin`, or nullptr. It stays valid as long as the caller does not unmap, unpin or close the mapping
/// during the copy.
[[nodiscard]] inline const MappingView* find_mapping(Handle pin) noexcept {
  const PinSlot* const slot = pin_table.find(index_of(pin));
  // Acquire pairs with the release in map(): a thread that reads the handle also sees the mapping's record.
  if (slot == nullptr || slot->view.live.load(std::memory_order_acquire) != pin) return nullptr;
  return &slot->view;
}

// The four copy functions below contain no system call, lock, allocation, log line, environment read or thread-local
// variable. They return 0, or EINVAL for an invalid handle, an unmapped pin, a NULL host pointer or a range outside the
// mapping. A size of 0 copies nothing, and the host pointer may be NULL. write() and read() still check the offset, as
// gdrkit/copy.h documents. copy_to_mapping() and copy_from_mapping() ignore the address, as GDRCopy does.

/// The result for a mapping with an engine; not an errno. The caller must call copy_by_engine() or
/// copy_mapping_by_engine(). The bounds of such a mapping are 0 bytes, so other mappings need no additional check.
inline constexpr int by_engine = -1;

/// Copies with the CPU if the engine's path leaves copies of this size to it; else returns by_engine. Before a read,
/// the caller calls order_before_load().
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

/// The drop-in's read, in GDRCopy's order.
[[nodiscard]] inline int copy_from_mapping(Handle pin, void* host, const void* device,
                                           std::size_t size_bytes) noexcept {
  copy::Copier::order_before_load<copy::ReadOrder::as_gdrcopy>(size_bytes);
  const MappingView* const view = find_mapping(pin);
  if (view == nullptr) [[unlikely]]
    return EINVAL;
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(device) - view->base;
  if (!is_inside(offset, size_bytes, view->size_bytes) || host == nullptr) [[unlikely]]
    return view->path != nullptr ? by_engine : size_bytes == 0 ? 0 : EINVAL;
  view->copier.load<copy::ReadOrder::as_gdrcopy>(host, device, size_bytes);
  return 0;
}

/// `offset` is relative to the first byte of the user's range, and the copy must lie inside that range.
[[nodiscard]] inline int write(Handle pin, std::size_t offset, const void* host, std::size_t size_bytes) noexcept {
  const MappingView* const view = find_mapping(pin);
  if (view == nullptr) [[unlikely]]
    return EINVAL;
  if (!is_inside(offset, size_bytes, view->user_bytes) || host == nullptr) [[unlikely]] {
    if (view->path != nullptr) return try_small_cpu_copy(*view, false, offset, const_cast<void*>(host), size_bytes);
    return size_bytes == 0 && offset <= view->user_bytes ? 0 : EINVAL;
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
    return size_bytes == 0 && offset <= view->user_bytes ? 0 : EINVAL;
  }
  view->copier.load(host, reinterpret_cast<const void*>(view->user_base + offset), size_bytes);
  return 0;
}

}  // namespace gdrkit::core
