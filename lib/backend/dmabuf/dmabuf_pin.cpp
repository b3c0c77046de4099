// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/dmabuf/dmabuf_pin.hpp"

#include <cinttypes>
#include <utility>

#include "backend/cuda_scope.hpp"
#include "backend/mapping_check.hpp"

namespace gdrkit::backend::dmabuf {
namespace {

/// The start of every block of the range. A driver may map only the first block, so each is compared.
std::vector<std::uint64_t> blocks_of(const driver::CudaCalls& cuda, const DeviceRange& range) {
  std::vector<std::uint64_t> starts = {range.page_address};
  driver::PointerAttributes at = range.attributes;
  for (;;) {
    std::uint64_t next = 0;
    if (__builtin_add_overflow(at.mapping_base, at.mapping_size, &next)) return starts;
    if (next <= starts.back() || next >= range.valid_end) return starts;
    starts.push_back(next);
    if (driver::pointer_attributes(cuda, next, &at) != 0) return starts;
  }
}

}  // namespace

DmabufPin::DmabufPin(DmabufBackend& backend, const DeviceRange& range)
    : backend_(backend),
      range_(range),
      blocks_(blocks_of(backend.cuda(), range)),
      mapping_(backend.system(), backend.cuda()) {
  page_address_ = range.page_address;
  page_bytes_ = static_cast<std::size_t>(range.page_bytes);
  device_ = pci_of(backend.cuda(), range);
}

base::Result<std::unique_ptr<BackendPin>> DmabufPin::create(DmabufBackend& backend, const DeviceRange& range,
                                                            bool must_be_pcie) {
  std::unique_ptr<DmabufPin> pin(new DmabufPin(backend, range));
  const auto& at = range.attributes;
  auto scope = CudaScope::enter(backend.cuda(), at.context, at.device_ordinal, range.valid_start);
  if (!scope) return base::pass(scope);
  if (auto taken = pin->mapping_.take(range, must_be_pcie); !taken) return base::pass(taken);
  return std::unique_ptr<BackendPin>(std::move(pin));
}

base::Result<MappedRegion> DmabufPin::map(std::size_t size_bytes, MappingType requested) noexcept {
  auto length = length_to_map(*this, size_bytes, mapping_.address());
  if (!length) return base::pass(length);
  if (requested != MappingType::none && requested != mapping_.type()) {
    return base::fail(
        EOPNOTSUPP, "cannot map 0x%" PRIx64 " as %s: the driver maps this dma-buf only as %s; request the default type",
        page_address_, name_of(requested), name_of(mapping_.type()));
  }
  base::Status mapped = mapping_.map(*length);
  base::Result<Verification> checked = Verification::none;
  if (mapped) {
    DmabufScratch scratch(backend_.system(), backend_.cuda());
    checked =
        check_mapping(backend_.cuda(), {range_, blocks_, mapping_.address(), *length, device_.c_str(), false, true},
                      backend_.calibrations(), scratch);
  }
  if (mapped && checked) return MappedRegion{mapping_.address(), *length, mapping_.type(), *checked};
  (void)mapping_.unmap();
  return mapped ? base::pass(checked) : base::pass(mapped);
}

}  // namespace gdrkit::backend::dmabuf
