// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/rm_pin.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "backend/cuda_scope.hpp"
#include "backend/rm/verifier.hpp"

namespace gdrkit::backend::rm {

namespace {

const char* name_of(MappingType type) noexcept {
  switch (type) {
    case MappingType::write_combining: return "write-combining";
    case MappingType::cached: return "cached";
    default: return "uncached";
  }
}

}  // namespace

RmPin::RmPin(RmBackend& backend, RmDevice& device, const DeviceRange& range, OwnedMemory memory)
    : backend_(backend),
      rm_device_(device),
      range_(range),
      memory_(std::move(memory)),
      mapping_(backend.system(), device) {
  page_address_ = range.page_address;
  page_bytes_ = static_cast<std::size_t>(range.page_bytes);
  device_ = device.pci();
}

base::Result<MappedRegion> RmPin::map(std::size_t size_bytes, MappingType requested) noexcept {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t length = (size_bytes + page - 1) & ~(page - 1);
  if (requested == MappingType::cached && !is_coherent()) {
    return base::fail(EOPNOTSUPP, "cannot map cached: BAR1 of a discrete GPU is uncached; ask for write-combining");
  }
  if (mapping_.address() != nullptr)
    return base::fail(EIO, "cannot map the pin: an earlier mapping could not be undone; unpin it");
  if (size_bytes == 0 || length > page_bytes())
    return base::fail(EINVAL, "cannot map %zu bytes: 1 to %zu are pinned", size_bytes, page_bytes());
  base::Status mapped =
      mapping_.map(memory_.pieces, length, backend_.layout().reports_caching_type, backend_.layout().fb_info_bytes);
  base::Result<Verification> verification = Verification::none;
  MappingType type = mapping_.type();
  // "Cached" is also what a driver seems to say that says nothing; word accesses are right in both cases.
  if (mapped && type == MappingType::cached && !is_coherent()) type = MappingType::device;
  if (mapped && requested != MappingType::none && type != requested)
    mapped = base::fail(EOPNOTSUPP, "invalid mapping type: the driver maps GPU memory only %s here", name_of(type));
  if (mapped) verification = verify();
  if (mapped && verification) return MappedRegion{mapping_.address(), length, type, *verification};
  (void)mapping_.unmap();
  return mapped ? base::pass(verification) : base::pass(mapped);
}

/// Whether the CPU reaches the GPU's memory over a coherent link and may cache it (Grace with NVLink-C2C).
bool RmPin::is_coherent() noexcept {
  constexpr int pageable_memory_access_uses_host_page_tables = 100;  // CU_DEVICE_ATTRIBUTE_...
  int answer = 0;
  return backend_.cuda().device_get_attribute(range_.attributes.device_ordinal,
                                              pageable_memory_access_uses_host_page_tables, &answer) == 0 &&
         answer != 0;
}

/// The owner may have freed the memory, or unmapped part of it, since it was pinned: ours is then the last reference,
/// and CUDA must not be asked to read it.
bool RmPin::is_still_allocated() noexcept {
  shim::PointerAttributes now;
  const auto is_device_memory = [&](std::uint64_t address) {
    return backend_.cuda().pointer_get_attributes(address, &now) == 0 &&
           now.memory_type == range_.attributes.memory_type && now.device_ordinal == range_.attributes.device_ordinal;
  };
  if (!is_device_memory(range_.valid_start)) return false;
  const bool is_same_block = now.mapping_base == range_.attributes.mapping_base;
  if (is_same_block && now.buffer_id != range_.attributes.buffer_id) return false;
  std::uint64_t start = page_address();
  for (const OwnedPiece& piece : memory_.pieces) {
    const std::uint64_t end = start + piece.size_bytes;
    const std::uint64_t first = std::max(start, range_.valid_start);
    if (first < std::min(end, range_.valid_end) && first != range_.valid_start && !is_device_memory(first))
      return false;
    start = end;
  }
  return true;
}

base::Result<Verification> RmPin::verify() noexcept {
  if (is_still_allocated()) {
    auto scope = CudaScope::enter(backend_.cuda(), range_.attributes.context, range_.attributes.device_ordinal,
                                  range_.valid_start);
    if (!scope) return base::pass(scope);
    Verifier verifier(backend_.cuda());
    std::uint64_t start = page_address();
    const std::uint64_t mapped_end = page_address() + mapping_.size_bytes();
    for (const OwnedPiece& piece : memory_.pieces) {
      const std::uint64_t end = start + piece.size_bytes;
      const std::uint64_t first = std::max(start, range_.valid_start);
      const std::uint64_t last = std::min({end, range_.valid_end, mapped_end});
      if (first < last) {
        auto compared = verifier.compare(first, last, mapping_.address() + (first - page_address()));
        if (!compared) return base::pass(compared);
      }
      start = end;
    }
    if (verifier.has_proof()) return Verification::content;
    return judge(backend_.calibrate_once(rm_device_, range_.attributes.device_ordinal));
  }
  return judge(backend_.known_calibration(rm_device_));
}

base::Result<Verification> RmPin::judge(Calibration calibration) noexcept {
  switch (calibration) {
    case Calibration::proved: return Verification::calibrated;
    case Calibration::impossible: return Verification::structural;
    case Calibration::contradicted: break;
  }
  return base::fail(
      EIO,
      "mappings of the GPU at %s cannot be trusted: scratch memory, mapped in the same way, does not show what CUDA "
      "writes",
      rm_device_.pci().c_str());
}

base::Status RmPin::unmap() noexcept { return mapping_.unmap(); }

base::Status RmPin::unpin() noexcept {
  base::Status unmapped = mapping_.unmap();
  // While pages may still be mapped the memory must stay ours.
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
