// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Mappings: map the pages of a pin and publish them to the copy path; unmap them.
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/copy_path.hpp"
#include "core/core.hpp"
#include "core/records.hpp"

namespace gdrkit::core {
namespace {

base::Status check_region(const ContextSlot& context, const PinInfo& info, std::size_t size_bytes,
                          const backend::MappedRegion& region) noexcept {
  const std::uintptr_t page_mask = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)) - 1;
  const bool is_aligned =
      region.address != nullptr && (reinterpret_cast<std::uintptr_t>(region.address) & page_mask) == 0;
  const bool is_sized = region.size_bytes >= size_bytes && region.size_bytes <= info.page_bytes;
  if (is_aligned && is_sized && region.type != cpu::MappingType::none) return {};
  return base::fail(EIO, "cannot map %zu bytes: backend '%s' returned an invalid mapping of %zu bytes at %p, type %d",
                    size_bytes, context.info.traits.name, region.size_bytes, region.address,
                    static_cast<int>(region.type));
}

void fill_view(PinSlot& pin, const backend::MappedRegion& region, const copy::Copier& copier) noexcept {
  const std::size_t user_offset = static_cast<std::size_t>(pin.info.user_address - pin.info.page_address);
  MappingView& view = pin.view;
  view.base = reinterpret_cast<std::uintptr_t>(region.address);
  view.size_bytes = region.size_bytes;
  view.user_base = view.base + user_offset;
  view.user_bytes =
      region.size_bytes > user_offset ? std::min(pin.info.user_bytes, region.size_bytes - user_offset) : 0;
  view.copier = copier;
}

/// Prepares copies: the copy kernels, the view, and the path through engines unless `engine` is the CPU.
base::Status prepare(ContextSlot& context, PinSlot& pin, std::size_t size_bytes, const backend::MappedRegion& region,
                     const char* engine) noexcept {
  if (base::Status usable = check_region(context, pin.info, size_bytes, region); !usable) return usable;
  const auto copier = copy::choose(context.features, region.type, context.forced_copy_kernel.c_str());
  if (!copier) return base::pass(copier);
  fill_view(pin, region, *copier);
  const MappingView& view = pin.view;
  auto opened = context.engines->open_path(
      {pin.info.user_address, reinterpret_cast<char*>(view.user_base), view.user_bytes, view.copier}, engine);
  if (!opened) return base::pass(opened);
  pin.path = std::move(*opened);
  return {};
}

void publish(PinSlot& pin, Handle handle, const backend::MappedRegion& region) noexcept {
  PinInfo& info = pin.info;
  info.is_mapped = true;
  info.mapping_type = region.type;
  info.verification = region.verification;
  info.mapping_address = region.address;
  info.mapping_bytes = region.size_bytes;

  pin.view.path = pin.path.get();
  if (pin.path != nullptr) {
    pin.view.path_bytes = std::exchange(pin.view.size_bytes, 0);
    pin.view.user_bytes = 0;
    pin.view.largest_for_cpu[0] = pin.path->largest_for_cpu(engine::Direction::to_device);
    pin.view.largest_for_cpu[1] = pin.path->largest_for_cpu(engine::Direction::from_device);
  }
  pin.summary.mapping_type.store(region.type, std::memory_order_relaxed);
  pin.view.live.store(handle, std::memory_order_release);
}

}  // namespace

base::Result<PinInfo> map(std::optional<Handle> context, Handle handle, std::optional<std::size_t> requested_bytes,
                          cpu::MappingType requested, MapStart start, const char* engine) noexcept {
  const base::Result<HeldPin> held = hold_pin(context, handle);
  if (!held) return base::pass(held);
  PinSlot& pin = **held;
  if (pin.info.is_mapped)
    return base::fail(EAGAIN, "cannot map the pin: it is already mapped at %p", pin.info.mapping_address);
  if (pin.has_failed_unmap)
    return base::fail(EIO, "cannot map the pin: an earlier unmap of the pin failed; unpin the memory");
  std::size_t size_bytes = requested_bytes.value_or(pin.info.page_bytes);
  const std::uint64_t before = pin.info.user_address - pin.info.page_address;
  if (start == MapStart::page && before != 0) {
    if (!held->context().backend->traits().uses_dmabuf_mmap) {
      return base::fail(EINVAL,
                        "cannot map the pin at 0x%llx: the pinned address is not page aligned; pin memory at 0x%llx",
                        static_cast<unsigned long long>(pin.info.user_address),
                        static_cast<unsigned long long>(pin.info.page_address));
    }
    if (size_bytes != 0 && size_bytes <= pin.info.page_bytes)
      size_bytes = std::min<std::size_t>(size_bytes + before, pin.info.page_bytes);
  }
  if (size_bytes == 0) return base::fail_literal(EINVAL, "cannot map 0 bytes; use a size of at least 1");
  if (size_bytes > pin.info.page_bytes) {
    return base::fail(EINVAL, "cannot map %zu bytes: only %zu bytes are pinned", size_bytes, pin.info.page_bytes);
  }
  const SlotCall call(pin);
  const base::Result<backend::MappedRegion> region = pin.backend_pin->map(size_bytes, requested);
  if (!region) return base::pass(region);
  if (base::Status prepared = prepare(held->context(), pin, size_bytes, *region, engine); !prepared) {
    pin.has_failed_unmap = !pin.backend_pin->unmap();
    return base::pass(prepared);
  }
  publish(pin, handle, *region);
  return pin.info;
}

int try_small_cpu_copy(const MappingView& view, bool is_read, std::size_t offset, void* host,
                       std::size_t size_bytes) noexcept {
  const bool is_for_cpu = size_bytes <= view.largest_for_cpu[is_read ? 1 : 0] && host != nullptr &&
                          is_inside(offset, size_bytes, view.path->size_bytes());
  if (!is_for_cpu) return by_engine;
  auto* const device = reinterpret_cast<void*>(view.user_base + offset);
  if (is_read) {
    view.copier.load(host, device, size_bytes);
  } else {
    view.copier.to_device(device, host, size_bytes);
  }
  return 0;
}

base::Status copy_by_engine(Handle pin, bool is_write, std::size_t offset, void* host,
                            std::size_t size_bytes) noexcept {
  const MappingView* const view = find_mapping(pin);
  if (view == nullptr || view->path == nullptr) return pin_is_not_mapped();
  if (!is_inside(offset, size_bytes, view->path->size_bytes())) {
    return base::fail(EINVAL, "cannot copy %zu bytes at offset %zu: the mapping has %zu bytes", size_bytes, offset,
                      view->path->size_bytes());
  }
  if (size_bytes == 0) return {};
  if (host == nullptr) return base::fail(EINVAL, "cannot copy %zu bytes: the host pointer is NULL", size_bytes);
  const auto direction = is_write ? engine::Direction::to_device : engine::Direction::from_device;
  return view->path->copy(direction, offset, host, size_bytes);
}

base::Status copy_mapping_by_engine(Handle pin, bool is_write, void* device, void* host,
                                    std::size_t size_bytes) noexcept {
  const MappingView* const view = find_mapping(pin);
  if (view == nullptr || view->path == nullptr) return pin_is_not_mapped();
  if (size_bytes == 0) return {};
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(device);
  if (!is_inside(address - view->base, size_bytes, view->path_bytes)) {
    return base::fail(EINVAL, "cannot copy %zu bytes at %p: the range is not inside the mapping", size_bytes, device);
  }
  if (host == nullptr) return base::fail(EINVAL, "cannot copy %zu bytes: the host pointer is NULL", size_bytes);
  const std::uintptr_t offset = address - view->user_base;
  const auto direction = is_write ? engine::Direction::to_device : engine::Direction::from_device;
  if (!is_inside(offset, size_bytes, view->path->size_bytes())) {
    // Parts of the pages outside the user's range: engines cannot copy them, because CUDA may not have allocated them.
    engine::copy_by_cpu(view->copier, direction, device, host, size_bytes);
    return {};
  }
  return view->path->copy(direction, offset, host, size_bytes);
}

base::Status unmap(std::optional<Handle> context, Handle handle, const void* expected) noexcept {
  const base::Result<HeldPin> pin = hold_pin(context, handle);
  if (!pin) return base::pass(pin);
  if (!(*pin)->info.is_mapped) return base::fail(EINVAL, "cannot unmap the pin: it is not mapped");
  if (expected != nullptr && expected != (*pin)->info.mapping_address) {
    return base::fail(EINVAL, "cannot unmap the pin: it is mapped at %p, not at %p", (*pin)->info.mapping_address,
                      expected);
  }
  return take_down_mapping(**pin);
}

}  // namespace gdrkit::core
