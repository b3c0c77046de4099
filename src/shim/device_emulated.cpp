// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Device on emulated memory: every copy is finished when the call returns, so streams have nothing left to wait for.
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <new>

#include "shim/device.hpp"
#include "shim/emulated_device_identity.hpp"
#include "shim/emulated_memory.hpp"

namespace gdrkit::shim {
namespace {

/// As cuMemGetAllocationGranularity answers on current GPUs.
constexpr std::size_t vmm_granularity = std::size_t{2} << 20;
constexpr std::size_t largest_size = SIZE_MAX / 2;

class EmulatedDevice final : public Device {
 public:
  EmulatedDevice() noexcept {
    std::snprintf(identity_.name, sizeof identity_.name, "%s", emulated_device_name);
    std::snprintf(identity_.pci_bus_id, sizeof identity_.pci_bus_id, "%s", emulated_pci_bus_id);
    std::sscanf(emulated_pci_bus_id, "%x:%x:%x", &identity_.pci_domain, &identity_.pci_bus, &identity_.pci_device);
    std::memcpy(identity_.uuid.data(), "gdrkit emulated", 16);
    std::snprintf(identity_.driver_version, sizeof identity_.driver_version, "none (emulated)");
  }

  [[nodiscard]] bool is_emulated() const noexcept override { return true; }
  base::Status make_current() noexcept override { return {}; }

  base::Result<Allocation> allocate(AllocationKind kind, std::size_t size_bytes) noexcept override {
    if (size_bytes > largest_size) return base::fail(ENOMEM, "%zu bytes are more than there can be", size_bytes);
    const bool is_vmm = kind == AllocationKind::vmm || kind == AllocationKind::vmm_exportable;
    const std::size_t extent = is_vmm ? (size_bytes + vmm_granularity - 1) & ~(vmm_granularity - 1) : size_bytes;
    auto address = emulated_allocate(extent, emulated_kind(kind));
    if (!address) return base::pass(address);
    return Allocation(this, *address, size_bytes, extent, kind);
  }

  base::Status set_sync_memops(std::uint64_t address) noexcept override { return check(address, 1); }

  base::Status copy_to_device(std::uint64_t target, const void* source, std::size_t size_bytes) noexcept override {
    if (auto checked = check(target, size_bytes); !checked || size_bytes == 0) return checked;
    std::memcpy(reinterpret_cast<void*>(target), source, size_bytes);
    order_copies();
    return {};
  }
  base::Status copy_to_host(void* target, std::uint64_t source, std::size_t size_bytes) noexcept override {
    if (auto checked = check(source, size_bytes); !checked || size_bytes == 0) return checked;
    order_copies();
    std::memcpy(target, reinterpret_cast<const void*>(source), size_bytes);
    return {};
  }
  base::Status fill(std::uint64_t target, std::uint8_t value, std::size_t size_bytes) noexcept override {
    if (auto checked = check(target, size_bytes); !checked || size_bytes == 0) return checked;
    std::memset(reinterpret_cast<void*>(target), value, size_bytes);
    order_copies();
    return {};
  }
  base::Status driver_copy_to_device(std::uint64_t target, const void* source,
                                     std::size_t size_bytes) noexcept override {
    return copy_to_device(target, source, size_bytes);
  }
  base::Status driver_copy_to_host(void* target, std::uint64_t source, std::size_t size_bytes) noexcept override {
    return copy_to_host(target, source, size_bytes);
  }

  base::Result<Stream> create_stream() noexcept override { return Stream{++last_stream_}; }
  base::Status destroy_stream(Stream stream) noexcept override {
    if (stream.handle == 0) return base::fail(EINVAL, "the default stream cannot be destroyed");
    return check(stream);
  }
  base::Status copy_to_device_async(std::uint64_t target, const void* source, std::size_t size_bytes,
                                    Stream stream) noexcept override {
    if (auto checked = check(stream); !checked) return checked;
    return copy_to_device(target, source, size_bytes);
  }
  base::Status copy_to_host_async(void* target, std::uint64_t source, std::size_t size_bytes,
                                  Stream stream) noexcept override {
    if (auto checked = check(stream); !checked) return checked;
    return copy_to_host(target, source, size_bytes);
  }
  base::Status synchronize(Stream stream) noexcept override { return check(stream); }
  base::Status synchronize_all() noexcept override { return {}; }

 protected:
  base::Status free(std::uint64_t address, std::size_t, AllocationKind) noexcept override {
    return emulated_free(address);
  }

 private:
  static EmulatedKind emulated_kind(AllocationKind kind) noexcept {
    if (kind == AllocationKind::managed) return EmulatedKind::managed;
    return kind == AllocationKind::host ? EmulatedKind::host : EmulatedKind::device;
  }

  /// The range must lie in one live allocation: a device copy past it fails, it does not crash the process.
  static base::Status check(std::uint64_t address, std::size_t size_bytes) noexcept {
    if (size_bytes == 0) return {};
    auto allocation = emulated_find(address);
    if (!allocation) return base::pass(allocation);
    const std::uint64_t offset = address - allocation->start;
    if (offset <= allocation->size_bytes && size_bytes <= allocation->size_bytes - offset) return {};
    return base::fail(EINVAL, "0x%" PRIx64 " + %zu bytes reaches past its emulated allocation of %zu bytes", address,
                      size_bytes, allocation->size_bytes);
  }

  base::Status check(Stream stream) noexcept {
    if (stream.handle <= last_stream_) return {};
    return base::fail(EINVAL, "there is no emulated stream %" PRIu64, stream.handle);
  }

  /// A copy is seen by accesses through the second mapping that follow it in another thread's program once that thread
  /// learnt of its end; the fence also stands for the driver's between the CPU's earlier stores and the device's read.
  static void order_copies() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

  std::atomic<std::uint64_t> last_stream_{0};
};

}  // namespace

base::Result<std::unique_ptr<Device>> open_emulated_device(int ordinal) noexcept {
  if (ordinal < 0 || ordinal >= emulated_device_count) {
    return base::fail(ENODEV, "there is no emulated device %d; there is one, number 0", ordinal);
  }
  std::unique_ptr<Device> device(new (std::nothrow) EmulatedDevice);
  if (device == nullptr) return base::fail(ENOMEM, "no memory for the record of the emulated device");
  return device;
}

}  // namespace gdrkit::shim
