// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/mapping_check.hpp"

#include <algorithm>
#include <cinttypes>

#include "backend/cuda_scope.hpp"
#include "backend/verifier.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend {
namespace {

/// Returns false if the owner has freed the memory, or unmapped a part of it, since it was pinned. The pin then holds
/// the last reference, and CUDA must not read the memory.
bool is_still_allocated(const driver::CudaCalls& cuda, const FreshMapping& mapping) noexcept {
  const DeviceRange& range = mapping.range;
  driver::PointerAttributes now;
  const auto is_device_memory = [&](std::uint64_t address) {
    return driver::pointer_attributes(cuda, address, &now) == 0 && now.memory_type == range.attributes.memory_type &&
           now.device_ordinal == range.attributes.device_ordinal;
  };
  if (!is_device_memory(range.valid_start)) return false;
  const bool is_same_block = now.mapping_base == range.attributes.mapping_base;
  if (is_same_block && now.buffer_id != range.attributes.buffer_id) return false;
  return std::all_of(mapping.pieces.begin(), mapping.pieces.end(), [&](std::uint64_t start) {
    return start <= range.valid_start || start >= range.valid_end || is_device_memory(start);
  });
}

/// Whether the first byte of the allocation is not 0xff in the mapping, as it is if the GPU is lost or BAR1 is
/// disabled.
bool reads_data(const FreshMapping& mapping) noexcept {
  const DeviceRange& range = mapping.range;
  const volatile std::uint8_t* const first = mapping.address + (range.valid_start - range.page_address);
  return *first != 0xff;
}

/// The verification of a mapping with trivial content, from the test on scratch memory.
base::Result<Verification> from_calibration(Calibration calibration, const char* device) noexcept {
  switch (calibration) {
    case Calibration::proved: return Verification::calibrated;
    case Calibration::impossible: return Verification::structural;
    case Calibration::contradicted: break;
  }
  return base::fail(
      EIO,
      "cannot verify mappings of the GPU at %s: a test mapping does not contain the data that CUDA wrote to the GPU",
      device);
}

base::Status compare(Verifier& verifier, const FreshMapping& mapping) noexcept {
  const DeviceRange& range = mapping.range;
  const std::uint64_t mapped_end = range.page_address + mapping.size_bytes;
  for (std::size_t i = 0; i < mapping.pieces.size(); ++i) {
    const std::uint64_t end = i + 1 < mapping.pieces.size() ? mapping.pieces[i + 1] : mapped_end;
    const std::uint64_t first = std::max(mapping.pieces[i], range.valid_start);
    const std::uint64_t last = std::min({end, range.valid_end, mapped_end});
    if (first >= last) continue;
    if (auto same = verifier.compare(first, last, mapping.address + (first - range.page_address)); !same) return same;
  }
  return {};
}

}  // namespace

base::Result<Verification> check_mapping(const driver::CudaCalls& cuda, const FreshMapping& mapping,
                                         Calibrations& calibrations, ScratchMap& scratch) noexcept {
  const driver::PointerAttributes& at = mapping.range.attributes;
  if (mapping.may_have_holes && !driver::can_load_from(mapping.address + mapping.size_bytes - 1)) {
    return base::fail(EIO, "cannot use the mapping of 0x%" PRIx64 ": the driver did not map the last page",
                      mapping.range.page_address);
  }
  if (!is_still_allocated(cuda, mapping))
    return from_calibration(calibrations.known(at.device_ordinal), mapping.device);
  if (mapping.is_proved && reads_data(mapping)) return Verification::content;
  auto scope = CudaScope::enter(cuda, at.context, at.device_ordinal, mapping.range.valid_start);
  if (!scope) return base::pass(scope);
  Verifier verifier(cuda, mapping.may_have_holes);
  if (auto compared = compare(verifier, mapping); !compared) return base::pass(compared);
  if (verifier.has_proof()) return Verification::content;
  return from_calibration(calibrations.of(cuda, at.device_ordinal, scratch), mapping.device);
}

}  // namespace gdrkit::backend
