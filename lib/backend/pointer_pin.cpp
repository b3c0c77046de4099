// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/pointer_pin.hpp"

#include <cinttypes>

#include "driver/system.hpp"

namespace gdrkit::backend {
namespace {

const void* at(std::uint64_t address) noexcept { return reinterpret_cast<const void*>(address); }

bool has_same_host_address(const driver::CudaCalls& cuda, std::uint64_t address) noexcept {
  std::uint64_t host = 0;
  return driver::pointer_host_address(cuda, address, &host) == 0 && host == address;
}

class PointerPin final : public BackendPin {
 public:
  PointerPin(const driver::CudaCalls& cuda, std::uint64_t address, const DeviceRange& range)
      : cuda_(cuda), address_(address), buffer_id_(range.attributes.buffer_id) {
    page_address_ = range.page_address;
    page_bytes_ = static_cast<std::size_t>(range.page_bytes);
    device_ = pci_of(cuda, range);
  }

  base::Result<MappedRegion> map(std::size_t size_bytes, MappingType requested) noexcept override;
  base::Status unmap() noexcept override {
    mapping_ = nullptr;
    return {};
  }
  base::Status unpin() noexcept override { return unmap(); }
  /// Queries CUDA: a reused address has another buffer ID.
  [[nodiscard]] bool is_invalidated() const noexcept override;
  void abandon_after_fork() noexcept override {}

 private:
  const driver::CudaCalls& cuda_;
  const std::uint64_t address_;  ///< first byte of the user's range
  const std::uint64_t buffer_id_;
  void* mapping_ = nullptr;
};

base::Result<MappedRegion> PointerPin::map(std::size_t size_bytes, MappingType requested) noexcept {
  const auto length = length_to_map(*this, size_bytes, mapping_);
  if (!length) return base::pass(length);
  if (requested != MappingType::none && requested != MappingType::cached) {
    return base::fail(
        EOPNOTSUPP,
        "cannot map 0x%" PRIx64
        " with mapping type '%s': this GPU supports only type 'cached'; request the default type, or pin through "
        "libgdrapi with GDR_PIN_FLAG_FORCE_PCIE and backend 'dmabuf' or 'gdrdrv'",
        address_, name_of(requested));
  }
  if (is_invalidated()) return base::fail(EINVAL, "cannot map 0x%" PRIx64 ": the memory was freed; unpin it", address_);
  mapping_ = reinterpret_cast<void*>(page_address_);
  return MappedRegion{mapping_, *length, MappingType::cached, Verification::none};
}

bool PointerPin::is_invalidated() const noexcept {
  driver::PointerAttributes now;
  const bool is_live = driver::pointer_attributes(cuda_, address_, &now) == 0 && now.buffer_id == buffer_id_;
  return !is_live || !has_same_host_address(cuda_, address_);
}

}  // namespace

bool is_cpu_pointer(const driver::CudaCalls& cuda, std::uint64_t address, const DeviceRange& range) noexcept {
  const driver::PointerAttributes& attributes = range.attributes;
  if (!is_coherent(cuda, attributes.device_ordinal) || !has_same_host_address(cuda, address)) return false;
  // Modulo 2^64: a range that starts before its block has a huge offset, past the end of the block.
  const std::uint64_t before = range.page_address - attributes.mapping_base;
  const bool is_one_block = before <= attributes.mapping_size && range.page_bytes <= attributes.mapping_size - before;
  return is_one_block && driver::can_load_from(at(range.page_address)) &&
         driver::can_load_from(at(range.page_address + range.page_bytes - 1));
}

std::unique_ptr<BackendPin> make_pointer_pin(const driver::CudaCalls& cuda, std::uint64_t address,
                                             const DeviceRange& range) {
  return std::make_unique<PointerPin>(cuda, address, range);
}

}  // namespace gdrkit::backend
