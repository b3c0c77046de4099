// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/rm_pin.hpp"

#include <cinttypes>
#include <optional>
#include <utility>

#include "backend/mapping_check.hpp"

namespace gdrkit::backend::rm {
namespace {

class RmScratch final : public ScratchMap {
 public:
  RmScratch(RmBackend& backend, RmDevice& device) noexcept
      : backend_(backend), device_(device), mapping_(backend.system(), device, backend.layout()) {}

  std::uint8_t* map(const DeviceRange& range) noexcept override {
    auto memory = locate(backend_.cuda(), backend_.system(), device_, range, backend_.settings());
    if (!memory) return nullptr;
    memory_.emplace(std::move(*memory));
    const auto mapped = mapping_.map(memory_->pieces, static_cast<std::size_t>(range.page_bytes));
    return mapped ? mapping_.address() : nullptr;
  }

  bool unmap() noexcept override {
    (void)mapping_.unmap();
    if (mapping_.address() != nullptr) (void)mapping_.unmap();  // munmap may fail once if memory is short
    if (mapping_.address() == nullptr) {
      memory_.reset();
      return true;
    }
    // RM must not reuse the memory either. RmMapping keeps its BAR1 space.
    memory_->abandon();
    return false;
  }

 private:
  RmBackend& backend_;
  RmDevice& device_;
  std::optional<OwnedMemory> memory_;
  RmMapping mapping_;
};

}  // namespace

RmPin::RmPin(RmBackend& backend, RmDevice& device, const DeviceRange& range, OwnedMemory memory)
    : backend_(backend),
      rm_device_(device),
      range_(range),
      memory_(std::move(memory)),
      mapping_(backend.system(), device, backend.layout()) {
  page_address_ = range.page_address;
  page_bytes_ = static_cast<std::size_t>(range.page_bytes);
  device_ = device.pci();
  std::uint64_t start = page_address_;
  for (const OwnedPiece& piece : memory_.pieces) {
    starts_.push_back(start);
    start += piece.size_bytes;
  }
}

base::Result<MappedRegion> RmPin::map(std::size_t size_bytes, MappingType requested) noexcept {
  if (requested == MappingType::cached && !is_coherent(backend_.cuda(), range_.attributes.device_ordinal)) {
    return base::fail(EOPNOTSUPP,
                      "cannot map 0x%" PRIx64 " as cached: BAR1 of a discrete GPU is uncached; request write-combining",
                      page_address_);
  }
  const auto length = length_to_map(*this, size_bytes, mapping_.address());
  if (!length) return base::pass(length);
  base::Status mapped = mapping_.map(memory_.pieces, *length);
  base::Result<Verification> verification = Verification::none;
  MappingType type = mapping_.type();
  // A driver that does not report the caching type seems to report "cached". Word accesses are correct in both cases.
  if (mapped && type == MappingType::cached && !is_coherent(backend_.cuda(), range_.attributes.device_ordinal))
    type = MappingType::device;
  if (mapped && requested != MappingType::none && type != requested)
    mapped = base::fail(
        EOPNOTSUPP,
        "cannot map 0x%" PRIx64 " as %s: the driver supports only %s for this memory; request the default type",
        page_address_, name_of(requested), type == MappingType::device ? "device (uncached)" : name_of(type));
  if (mapped) verification = verify();
  if (mapped && verification) return MappedRegion{mapping_.address(), *length, type, *verification};
  (void)mapping_.unmap();
  return mapped ? base::pass(verification) : base::pass(mapped);
}

base::Result<Verification> RmPin::verify() noexcept {
  RmScratch scratch(backend_, rm_device_);
  ProvedLocations& proved = backend_.proved_locations();
  const bool is_proved = proved.contains(range_, memory_.pieces);
  auto verification =
      check_mapping(backend_.cuda(),
                    {range_, starts_, mapping_.address(), mapping_.size_bytes(), rm_device_.pci().c_str(), is_proved},
                    backend_.calibrations(), scratch);
  if (verification && *verification == Verification::content && !is_proved)
    proved.add(range_, memory_.pieces, mapping_.size_bytes());
  return verification;
}

base::Status RmPin::unmap() noexcept { return mapping_.unmap(); }

base::Status RmPin::unpin() noexcept {
  base::Status unmapped = mapping_.unmap();
  // Keep the memory while pages may still be mapped.
  if (!unmapped && mapping_.address() != nullptr) {
    memory_.abandon();
    return unmapped;
  }
  base::Status freed = memory_.free();
  return unmapped ? freed : unmapped;
}

void RmPin::abandon_after_fork() noexcept {
  mapping_.abandon_after_fork();
  memory_.abandon();
}

}  // namespace gdrkit::backend::rm
