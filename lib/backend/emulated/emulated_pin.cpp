// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/emulated/emulated_pin.hpp"

#include <new>
#include <utility>

#include "driver/emulated_device_identity.hpp"
#include "driver/emulated_memory.hpp"

namespace gdrkit::backend::emulated {

base::Result<std::unique_ptr<BackendPin>> EmulatedPin::create(std::uint64_t page_address,
                                                              std::size_t page_bytes) noexcept {
  std::unique_ptr<EmulatedPin> pin(new (std::nothrow) EmulatedPin);
  if (pin == nullptr) return base::fail_literal(ENOMEM, "out of memory while pinning emulated memory");
  auto held = driver::emulated_hold(page_address, page_bytes);
  if (!held) return base::pass(held);
  pin->held_ = *held;
  pin->page_address_ = page_address;
  pin->page_bytes_ = page_bytes;
  pin->device_ = driver::emulated_pci_bus_id;  // short enough never to allocate
  return std::unique_ptr<BackendPin>(std::move(pin));
}

base::Result<MappedRegion> EmulatedPin::map(std::size_t size_bytes, MappingType requested) noexcept {
  const auto length = length_to_map(*this, size_bytes, mapping_);
  if (!length) return base::pass(length);
  if (requested != MappingType::none && requested != MappingType::write_combining) {
    return base::fail(EOPNOTSUPP, "cannot map emulated memory %s: the emulated device maps write-combining only",
                      name_of(requested));
  }
  auto mapping = driver::emulated_map_held(held_, *length);
  if (!mapping) return base::pass(mapping);
  mapping_ = *mapping;
  mapping_bytes_ = *length;
  return MappedRegion{mapping_, mapping_bytes_, MappingType::write_combining, Verification::none};
}

base::Status EmulatedPin::unmap() noexcept {
  if (mapping_ == nullptr) return {};
  return driver::emulated_unmap(std::exchange(mapping_, nullptr), mapping_bytes_);
}

base::Status EmulatedPin::unpin() noexcept {
  base::Status first = unmap();
  if (held_ != nullptr) base::keep_first(first, driver::emulated_unmap(std::exchange(held_, nullptr), page_bytes_));
  return first;
}

// The child never had the mappings (they are not inherited): their addresses may be in use there.
void EmulatedPin::abandon_after_fork() noexcept {
  held_ = nullptr;
  mapping_ = nullptr;
}

}  // namespace gdrkit::backend::emulated
