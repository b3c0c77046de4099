// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/emulated/emulated_pin.hpp"

#include <unistd.h>

#include <cinttypes>
#include <new>
#include <utility>

#include "shim/emulated_device_identity.hpp"
#include "shim/emulated_memory.hpp"

namespace gdrkit::backend::emulated {
namespace {

const char* type_name(MappingType type) noexcept {
  switch (type) {
    case MappingType::cached: return "cached";
    case MappingType::device: return "device";
    default: return "unknown";
  }
}

}  // namespace

base::Result<std::unique_ptr<BackendPin>> EmulatedPin::create(std::uint64_t page_address,
                                                              std::size_t page_bytes) noexcept {
  std::unique_ptr<EmulatedPin> pin(new (std::nothrow) EmulatedPin);
  if (pin == nullptr) return base::fail_literal(ENOMEM, "out of memory while pinning emulated memory");
  auto held = shim::emulated_hold(page_address, page_bytes);
  if (!held) return base::pass(held);
  pin->held_ = *held;
  pin->page_address_ = page_address;
  pin->page_bytes_ = page_bytes;
  pin->device_ = shim::emulated_pci_bus_id;  // short enough never to allocate
  return std::unique_ptr<BackendPin>(std::move(pin));
}

EmulatedPin::~EmulatedPin() {
  if (held_ != nullptr) (void)unpin();
}

base::Result<MappedRegion> EmulatedPin::map(std::size_t size_bytes, MappingType requested) noexcept {
  if (held_ == nullptr)
    return base::fail(EINVAL, "cannot map emulated memory at 0x%" PRIx64 ": it is not pinned any more", page_address_);
  if (mapping_ != nullptr)
    return base::fail(EAGAIN, "cannot map emulated memory at 0x%" PRIx64 ": it is mapped already", page_address_);
  if (requested != MappingType::none && requested != MappingType::write_combining) {
    return base::fail(EOPNOTSUPP, "cannot map emulated memory %s: the emulated device maps write-combining only",
                      type_name(requested));
  }
  if (size_bytes == 0 || size_bytes > page_bytes_) {
    return base::fail(EINVAL, "cannot map %zu bytes of emulated memory: 1 to %zu are pinned", size_bytes, page_bytes_);
  }
  const auto host_page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t mapping_bytes = (size_bytes + host_page - 1) & ~(host_page - 1);
  auto mapping = shim::emulated_map_held(held_, mapping_bytes);
  if (!mapping) return base::pass(mapping);
  mapping_ = *mapping;
  mapping_bytes_ = mapping_bytes;
  return MappedRegion{mapping_, mapping_bytes_, MappingType::write_combining, Verification::none};
}

base::Status EmulatedPin::unmap() noexcept {
  if (mapping_ == nullptr)
    return base::fail(EINVAL, "cannot unmap emulated memory at 0x%" PRIx64 ": it is not mapped", page_address_);
  return shim::emulated_unmap(std::exchange(mapping_, nullptr), mapping_bytes_);
}

base::Status EmulatedPin::unpin() noexcept {
  if (held_ == nullptr)
    return base::fail(EINVAL, "cannot unpin emulated memory at 0x%" PRIx64 ": it is not pinned", page_address_);
  base::Status first;
  if (mapping_ != nullptr) first = unmap();
  base::keep_first(first, shim::emulated_unmap(std::exchange(held_, nullptr), page_bytes_));
  return first;
}

// The child never had the mappings (they are not inherited): their addresses may be somebody else's there.
void EmulatedPin::abandon_after_fork() noexcept {
  held_ = nullptr;
  mapping_ = nullptr;
}

}  // namespace gdrkit::backend::emulated
