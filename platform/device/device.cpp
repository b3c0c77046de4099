// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/device/device.hpp"

#include <utility>

namespace gdrkit::platform {

const char* cuda_result_name(int result) noexcept { return driver::cuda_result_name(result); }

const char* allocation_kind_name(AllocationKind kind) noexcept {
  switch (kind) {
    case AllocationKind::cuda_malloc: return "cuda_malloc";
    case AllocationKind::vmm: return "vmm";
    case AllocationKind::vmm_exportable: return "vmm_exportable";
    case AllocationKind::pool: return "pool";
    case AllocationKind::managed: return "managed";
    case AllocationKind::host: return "host";
  }
  return "unknown";
}

Allocation::Allocation(Allocation&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      address_(other.address_),
      size_bytes_(other.size_bytes_),
      extent_bytes_(other.extent_bytes_),
      kind_(other.kind_) {}

Allocation& Allocation::operator=(Allocation&& other) noexcept {
  if (this != &other) {
    (void)free();
    device_ = std::exchange(other.device_, nullptr);
    address_ = other.address_;
    size_bytes_ = other.size_bytes_;
    extent_bytes_ = other.extent_bytes_;
    kind_ = other.kind_;
  }
  return *this;
}

Allocation::~Allocation() { (void)free(); }

base::Status Allocation::free() noexcept {
  Device* device = std::exchange(device_, nullptr);
  if (device == nullptr) return {};
  return device->free(address_, extent_bytes_, kind_);
}

}  // namespace gdrkit::platform
