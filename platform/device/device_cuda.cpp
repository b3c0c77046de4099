// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/device/device_cuda.hpp"

#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "driver/system.hpp"

namespace gdrkit::platform {
namespace {

constexpr std::size_t page_bytes = 65536;  // granularity for pinning GPU memory
constexpr std::size_t largest_size = SIZE_MAX / 2;

}  // namespace

base::Status CudaDevice::open(int ordinal) noexcept {
  auto count = cuda_device_count(calls_);
  if (!count) return base::pass(count);
  if (ordinal < 0 || ordinal >= *count) {
    return base::fail(ENODEV, "cannot open GPU %d: CUDA shows this process only %d GPU%s; check CUDA_VISIBLE_DEVICES",
                      ordinal, *count, *count == 1 ? "" : "s");
  }
  identity_.ordinal = ordinal;
  if (auto got = check(calls_.device_get(&device_, ordinal), "cuDeviceGet"); !got) return got;
  if (auto identified = identify(); !identified) return identified;
  if (auto kept = check(calls_.primary_ctx_retain(&context_, device_), "cuDevicePrimaryCtxRetain"); !kept) return kept;
  is_retained_ = true;
  if (auto current = make_current(); !current) return current;
  return check(calls_.stream_create(&pool_stream_, cuda_stream_non_blocking), "cuStreamCreate");
}

CudaDevice::~CudaDevice() {
  if (!is_retained_) return;
  if (pool_stream_ != nullptr) (void)calls_.stream_destroy(pool_stream_);
  void* current = nullptr;
  // Every later call of this thread would fail if the released context stayed current.
  if (calls_.ctx_get_current(&current) == 0 && current == context_) (void)calls_.ctx_set_current(nullptr);
  (void)calls_.primary_ctx_release(device_);
}

base::Status CudaDevice::identify() noexcept {
  if (auto named = check(calls_.device_get_name(identity_.name, sizeof identity_.name, device_), "cuDeviceGetName");
      !named) {
    return named;
  }
  char text[32] = "";
  if (auto found = check(calls_.device_get_pci_bus_id(text, sizeof text, device_), "cuDeviceGetPCIBusId"); !found)
    return found;
  unsigned function = 0;
  if (std::sscanf(text, "%x:%x:%x.%x", &identity_.pci_domain, &identity_.pci_bus, &identity_.pci_device, &function) !=
      4) {
    return base::fail(EIO, "cannot open the GPU: cuDeviceGetPCIBusId returned the invalid address \"%s\"", text);
  }
  std::snprintf(identity_.pci_bus_id, sizeof identity_.pci_bus_id, "%04x:%02x:%02x.%x", identity_.pci_domain,
                identity_.pci_bus, identity_.pci_device, function);
  if (auto got = check(calls_.device_get_uuid(identity_.uuid.data(), device_), "cuDeviceGetUuid"); !got) return got;
  write_driver_version();
  return {};
}

void CudaDevice::write_driver_version() noexcept {
  int version = 0;
  (void)calls_.driver_get_version(&version);  // on failure the text contains 0
  char driver[48] = "unknown";
  const ssize_t length = driver::real_system().read_text("/sys/module/nvidia/version", driver, sizeof driver);
  if (length <= 0) std::snprintf(driver, sizeof driver, "unknown");
  driver[std::strcspn(driver, "\n")] = '\0';
  std::snprintf(identity_.driver_version, sizeof identity_.driver_version, "CUDA %d.%d, NVIDIA driver %s",
                version / 1000, version % 1000 / 10, driver);
}

base::Result<Allocation> CudaDevice::allocate(AllocationKind kind, std::size_t size_bytes) noexcept {
  if (size_bytes == 0) return base::fail(EINVAL, "cannot allocate 0 bytes; use a size of at least 1");
  if (size_bytes > largest_size)
    return base::fail(ENOMEM, "cannot allocate %zu bytes: the size exceeds the address space of a GPU", size_bytes);
  const RelaxedCaptureScope outside_captures(calls_);
  if (kind == AllocationKind::vmm || kind == AllocationKind::vmm_exportable) return allocate_vmm(kind, size_bytes);
  return allocate_simple(kind, size_bytes);
}

base::Result<Allocation> CudaDevice::allocate_simple(AllocationKind kind, std::size_t size_bytes) noexcept {
  std::uint64_t address = 0;
  void* host = nullptr;
  base::Status allocated;
  switch (kind) {
    case AllocationKind::managed:
      allocated = check_at(calls_.mem_alloc_managed(&address, size_bytes, driver::cuda_mem_attach_global),
                           "cuMemAllocManaged", 0, size_bytes);
      break;
    case AllocationKind::host:
      allocated = check_at(calls_.mem_alloc_host(&host, size_bytes), "cuMemAllocHost", 0, size_bytes);
      address = reinterpret_cast<std::uint64_t>(host);
      break;
    case AllocationKind::pool:
      allocated =
          check_at(calls_.mem_alloc_async(&address, size_bytes, pool_stream_), "cuMemAllocAsync", 0, size_bytes);
      break;
    default: allocated = check_at(calls_.mem_alloc(&address, size_bytes), "cuMemAlloc", 0, size_bytes); break;
  }
  if (!allocated) return base::pass(allocated);
  if (kind == AllocationKind::pool) {
    if (auto ready = check(calls_.stream_synchronize(pool_stream_), "cuStreamSynchronize"); !ready) {
      (void)calls_.mem_free_async(address, pool_stream_);
      return base::pass(ready);
    }
  }
  std::uint64_t start = 0;
  std::size_t extent = 0;
  const bool is_known =
      calls_.mem_get_address_range(&start, &extent, address) == 0 && start == address && extent >= size_bytes;
  return Allocation(this, address, size_bytes, is_known ? extent : size_bytes, kind);
}

base::Result<Allocation> CudaDevice::allocate_vmm(AllocationKind kind, std::size_t size_bytes) noexcept {
  CudaMemAllocationProp properties;
  properties.type = cuda_mem_allocation_type_pinned;
  properties.location = {cuda_mem_location_type_device, device_};
  properties.flags.gpu_direct_rdma_capable = 1;
  if (kind == AllocationKind::vmm_exportable) properties.requested_handle_types = cuda_mem_handle_type_posix_fd;
  std::size_t granularity = 0;
  auto known = check(calls_.mem_get_granularity(&granularity, &properties, cuda_mem_granularity_recommended),
                     "cuMemGetAllocationGranularity");
  if (!known) return base::pass(known);
  // Both are powers of two, so the larger is a multiple of the other.
  if (granularity < page_bytes) granularity = page_bytes;
  const std::size_t extent = (size_bytes + granularity - 1) / granularity * granularity;
  std::uint64_t address = 0;
  auto reserved = check_at(calls_.mem_address_reserve(&address, extent, 0, 0, 0), "cuMemAddressReserve", 0, extent);
  if (!reserved) return base::pass(reserved);
  if (auto mapped = map_new_memory(address, extent, properties); !mapped) {
    (void)calls_.mem_address_free(address, extent);
    return base::pass(mapped);
  }
  return Allocation(this, address, size_bytes, extent, kind);
}

base::Status CudaDevice::map_new_memory(std::uint64_t address, std::size_t extent,
                                        const CudaMemAllocationProp& properties) noexcept {
  std::uint64_t handle = 0;
  if (auto made = check_at(calls_.mem_create(&handle, extent, &properties, 0), "cuMemCreate", address, extent); !made)
    return made;
  const int mapped = calls_.mem_map(address, extent, 0, handle, 0);
  // The mapping keeps the memory: from here on unmapping frees it.
  const int released = calls_.mem_release(handle);
  if (mapped != 0) return check_at(mapped, "cuMemMap", address, extent);
  auto accessible = check(released, "cuMemRelease");
  if (accessible) {
    const CudaMemAccessDesc access{properties.location, cuda_mem_access_read_write};
    accessible = check_at(calls_.mem_set_access(address, extent, &access, 1), "cuMemSetAccess", address, extent);
  }
  if (!accessible) (void)calls_.mem_unmap(address, extent);
  return accessible;
}

base::Status CudaDevice::free(std::uint64_t address, std::size_t extent_bytes, AllocationKind kind) noexcept {
  switch (kind) {
    case AllocationKind::host:
      return check_at(calls_.mem_free_host(as_pointer(address)), "cuMemFreeHost", address, extent_bytes);
    case AllocationKind::pool: {
      auto queued = check_at(calls_.mem_free_async(address, pool_stream_), "cuMemFreeAsync", address, extent_bytes);
      return queued ? check(calls_.stream_synchronize(pool_stream_), "cuStreamSynchronize") : queued;
    }
    case AllocationKind::vmm:
    case AllocationKind::vmm_exportable: {
      const int unmapped = calls_.mem_unmap(address, extent_bytes);
      const int freed = calls_.mem_address_free(address, extent_bytes);
      if (unmapped != 0) return check_at(unmapped, "cuMemUnmap", address, extent_bytes);
      return check_at(freed, "cuMemAddressFree", address, extent_bytes);
    }
    default: return check_at(calls_.mem_free(address), "cuMemFree", address, extent_bytes);
  }
}

base::Result<int> cuda_device_count(const CudaCalls& calls) noexcept {
  if (auto ready = check(calls.init(0), "cuInit"); !ready) return base::pass(ready);
  int count = 0;
  if (auto counted = check(calls.device_get_count(&count), "cuDeviceGetCount"); !counted) return base::pass(counted);
  return count;
}

base::Result<int> cuda_device_count() noexcept {
  auto calls = cuda_calls();
  if (!calls) return base::pass(calls);
  return cuda_device_count(**calls);
}

base::Result<std::string> cuda_pci_bus_id(int ordinal) noexcept {
  auto calls = cuda_calls();
  if (!calls) return base::pass(calls);
  int device = 0;
  if (auto got = check((*calls)->device_get(&device, ordinal), "cuDeviceGet"); !got) return base::pass(got);
  char text[32] = "";  // short enough for std::string's internal buffer
  if (auto found = check((*calls)->device_get_pci_bus_id(text, 16, device), "cuDeviceGetPCIBusId"); !found) {
    return base::pass(found);
  }
  return std::string(text);
}

base::Result<std::unique_ptr<Device>> open_cuda_device(int ordinal, const CudaCalls& calls) noexcept {
  std::unique_ptr<CudaDevice> device(new (std::nothrow) CudaDevice(calls));
  if (device == nullptr) return base::fail(ENOMEM, "out of memory while opening GPU %d", ordinal);
  if (auto opened = device->open(ordinal); !opened) return base::pass(opened);
  return std::unique_ptr<Device>(std::move(device));
}

base::Result<std::unique_ptr<Device>> open_cuda_device(int ordinal) noexcept {
  auto calls = cuda_calls();
  if (!calls) return base::pass(calls);
  return open_cuda_device(ordinal, **calls);
}

}  // namespace gdrkit::platform
