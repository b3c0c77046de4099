// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/pointer_check.hpp"

#include <algorithm>
#include <cinttypes>

namespace gdrkit::backend {
namespace {

constexpr std::uint64_t gpu_page = 65536;

enum MemoryType : std::uint32_t { unknown = 0, host = 1, device = 2, array = 3, unified = 4 };

base::Status check_kind(const driver::PointerAttributes& attributes, std::uint64_t address) noexcept {
  if (attributes.is_managed != 0) {
    return base::fail(
        EOPNOTSUPP,
        "cannot pin 0x%" PRIx64
        ": the address is in managed memory, which moves between CPU and GPU; use the pointer on the CPU directly",
        address);
  }
  switch (attributes.memory_type) {
    case device: return {};
    case host:
      return base::fail(EINVAL,
                        "cannot pin 0x%" PRIx64 ": the address is in host memory; use the pointer on the CPU directly",
                        address);
    case unknown:
      return base::fail(EINVAL,
                        "cannot pin 0x%" PRIx64
                        ": the address is not in a live CUDA allocation (the memory was freed, was never allocated, or "
                        "is host memory)",
                        address);
    default:
      return base::fail(EOPNOTSUPP,
                        "cannot pin 0x%" PRIx64 ": CUDA memory of type %u cannot be mapped; pin device memory", address,
                        attributes.memory_type);
  }
}

struct Extent {
  std::uint64_t start;
  std::uint64_t end;
};

/// start + size; `start` on overflow, so that an invalid range is empty.
std::uint64_t end_of(std::uint64_t start, std::uint64_t size) noexcept {
  std::uint64_t end = 0;
  return __builtin_add_overflow(start, size, &end) ? start : end;
}

/// The part of the allocation inside the block that contains the pointer. RANGE_* is the allocation, MAPPING_* its
/// block. For virtual-memory-management memory, RANGE_* is the whole address reservation and MAPPING_* one handle's
/// mapping.
Extent extent_of(const driver::PointerAttributes& at) noexcept {
  const std::uint64_t range_end = end_of(at.range_start, at.range_size);
  if (at.mapping_size == 0) return {at.range_start, range_end};
  return {std::max(at.range_start, at.mapping_base), std::min(range_end, end_of(at.mapping_base, at.mapping_size))};
}

/// Extends the extent into the next blocks of the allocation. Large pool allocations span several blocks. So do ranges
/// of several handles that are mapped next to each other in one reservation (PyTorch's expandable segments).
void extend(const driver::CudaCalls& cuda, const driver::PointerAttributes& first, std::uint64_t required_end,
            Extent& extent) noexcept {
  const std::uint64_t range_end = end_of(first.range_start, first.range_size);
  while (extent.end < required_end && extent.end < range_end) {
    driver::PointerAttributes next;
    if (driver::pointer_attributes(cuda, extent.end, &next) != 0) return;
    const bool continues = next.memory_type == device && next.is_managed == 0 && next.mapping_base == extent.end &&
                           next.mapping_size != 0 && next.range_start == first.range_start &&
                           next.device_ordinal == first.device_ordinal;
    if (!continues) return;
    const std::uint64_t next_end = std::min(range_end, end_of(extent.end, next.mapping_size));
    if (next_end <= extent.end) return;
    extent.end = next_end;
  }
}

}  // namespace

base::Result<DeviceRange> enclosing_pages(const PinRequest& request, std::uint32_t page_size) noexcept {
  const std::uint64_t mask = std::uint64_t{page_size} - 1;
  const std::uint64_t end = request.address + request.size_bytes;
  if (end > UINT64_MAX - mask || end < request.address) {
    return base::fail(EINVAL, "cannot pin 0x%" PRIx64 " + %zu bytes: the end of the range exceeds 64 bits",
                      request.address, request.size_bytes);
  }
  DeviceRange range;
  range.page_address = request.address & ~mask;
  range.page_bytes = ((end + mask) & ~mask) - range.page_address;
  return range;
}

base::Status check_end(const PinRequest& request, std::uint64_t allocation_start,
                       std::uint64_t allocation_end) noexcept {
  const std::uint64_t end = request.address + request.size_bytes;
  const std::uint64_t rounded_end = (allocation_end + gpu_page - 1) & ~(gpu_page - 1);
  if (end <= (request.exact_range ? allocation_end : rounded_end)) return {};
  return base::fail(EINVAL,
                    "cannot pin 0x%" PRIx64 " + %zu bytes: the range ends %" PRIu64
                    " byte%s past the end of the allocation (0x%" PRIx64 " to 0x%" PRIx64 "); reduce the size",
                    request.address, request.size_bytes, end - allocation_end, end - allocation_end == 1 ? "" : "s",
                    allocation_start, allocation_end);
}

std::string pci_of(const driver::CudaCalls& cuda, const DeviceRange& range) {
  char pci[32] = {};
  const int ordinal = range.attributes.device_ordinal;
  return ordinal >= 0 && driver::device_pci_bus_id(cuda, ordinal, pci, sizeof pci) == 0 ? pci : "";
}

bool is_coherent(const driver::CudaCalls& cuda, int ordinal) noexcept {
  constexpr int pageable_memory_access_uses_host_page_tables = 100;  // CU_DEVICE_ATTRIBUTE_...
  int value = 0;
  return driver::device_attribute(cuda, ordinal, pageable_memory_access_uses_host_page_tables, &value) == 0 &&
         value != 0;
}

base::Result<DeviceRange> check_pointer(const driver::CudaCalls& cuda, const PinRequest& request,
                                        std::uint32_t page_size) noexcept {
  auto pages = enclosing_pages(request, page_size);
  if (!pages) return pages;
  DeviceRange& range = *pages;
  const int result = driver::pointer_attributes(cuda, request.address, &range.attributes);
  constexpr int not_initialized = 3;
  if (result == not_initialized) {
    return base::fail_vendor(
        EINVAL, result,
        "cannot pin 0x%" PRIx64
        ": CUDA is not initialized in this process; call cuInit or a function of the CUDA runtime first",
        request.address);
  }
  if (result != 0) {
    return driver::cuda_failure(result, "cannot pin 0x%" PRIx64 ": cuPointerGetAttributes", request.address);
  }
  if (auto supported = check_kind(range.attributes, request.address); !supported) return base::pass(supported);
  Extent extent = extent_of(range.attributes);
  extend(cuda, range.attributes, request.address + request.size_bytes, extent);
  if (auto inside = check_end(request, extent.start, extent.end); !inside) return base::pass(inside);
  range.valid_start = std::max(extent.start, range.page_address);
  range.valid_end = std::min(extent.end, range.page_address + range.page_bytes);
  return pages;
}

}  // namespace gdrkit::backend
