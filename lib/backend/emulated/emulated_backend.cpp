// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The emulated backend: allocates, pins and maps memory of the emulated device by the same rules as a GPU's.
#include <cinttypes>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "backend/backend.hpp"
#include "backend/pointer_check.hpp"
#include "cpu/ordering.hpp"
#include "driver/emulated_memory.hpp"

namespace gdrkit::backend {
namespace emulated {
namespace {

class EmulatedBuffer final : public BackendBuffer {
 public:
  EmulatedBuffer() = default;
  EmulatedBuffer(const EmulatedBuffer&) = delete;
  EmulatedBuffer& operator=(const EmulatedBuffer&) = delete;
  ~EmulatedBuffer() override { (void)free(); }

  base::Status take(std::size_t size_bytes) noexcept {
    auto address = driver::emulated_allocate(size_bytes, driver::EmulatedKind::device);
    if (!address) return base::pass(address);
    address_ = *address;
    size_bytes_ = size_bytes;
    return {};
  }
  base::Status copy_from_host(std::size_t offset, const void* source, std::size_t size_bytes) noexcept override {
    copy_bytes(reinterpret_cast<void*>(address_ + offset), source, size_bytes);
    return {};
  }
  base::Status copy_to_host(std::size_t offset, void* target, std::size_t size_bytes) noexcept override {
    copy_bytes(target, reinterpret_cast<const void*>(address_ + offset), size_bytes);
    return {};
  }
  base::Status free() noexcept override {
    size_bytes_ = 0;
    if (address_ == 0) return {};
    return driver::emulated_free(std::exchange(address_, 0));
  }
  void abandon_after_fork() noexcept override { address_ = 0; }  // the child did not inherit the memory

 private:
  /// Observers: all threads that access the memory through a mapping or a copy, before and after. Like a copy by a
  /// driver, it reads the data that the CPU stored before the call, and it is complete for all later accesses.
  static void copy_bytes(void* target, const void* source, std::size_t size_bytes) noexcept {
    cpu::order_before_streaming_loads();
    std::memcpy(target, source, size_bytes);
    cpu::flush_write_combining();
  }
};

/// Keeps the pages alive after their owner frees them.
class EmulatedPin final : public BackendPin {
 public:
  EmulatedPin() = default;
  EmulatedPin(const EmulatedPin&) = delete;
  EmulatedPin& operator=(const EmulatedPin&) = delete;
  ~EmulatedPin() override { (void)unpin(); }

  base::Status take(const DeviceRange& range) noexcept {
    auto held = driver::emulated_hold(range.page_address, static_cast<std::size_t>(range.page_bytes));
    if (!held) return base::pass(held);
    held_ = *held;
    page_address_ = range.page_address;
    page_bytes_ = static_cast<std::size_t>(range.page_bytes);
    device_ = driver::emulated_pci_bus_id;  // short enough not to allocate
    return {};
  }
  base::Result<MappedRegion> map(std::size_t size_bytes, MappingType requested) noexcept override;
  base::Status unmap() noexcept override {
    if (mapping_ == nullptr) return {};
    return driver::emulated_unmap(std::exchange(mapping_, nullptr), mapping_bytes_);
  }
  base::Status unpin() noexcept override {
    base::Status first = unmap();
    if (held_ != nullptr) base::keep_first(first, driver::emulated_unmap(std::exchange(held_, nullptr), page_bytes_));
    return first;
  }
  [[nodiscard]] bool keeps_memory() const noexcept override { return true; }
  /// The child did not inherit the mappings and may use their addresses for others.
  void abandon_after_fork() noexcept override {
    held_ = nullptr;
    mapping_ = nullptr;
  }

 private:
  void* held_ = nullptr;  // nullptr after unpin or abandon_after_fork
  void* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
};

base::Result<MappedRegion> EmulatedPin::map(std::size_t size_bytes, MappingType requested) noexcept {
  const auto length = length_to_map(*this, size_bytes, mapping_);
  if (!length) return base::pass(length);
  if (requested != MappingType::none && requested != MappingType::write_combining) {
    return base::fail(EOPNOTSUPP,
                      "cannot map emulated memory with mapping type '%s': the emulated device supports only type "
                      "'write-combining'; request the default type",
                      name_of(requested));
  }
  auto mapping = driver::emulated_map_held(held_, *length);
  if (!mapping) return base::pass(mapping);
  mapping_ = *mapping;
  mapping_bytes_ = *length;
  return MappedRegion{mapping_, mapping_bytes_, MappingType::write_combining, Verification::none};
}

class EmulatedBackend final : public Backend {
 public:
  explicit EmulatedBackend(int device_count) noexcept : device_count_(device_count) {}
  [[nodiscard]] const Traits& traits() const noexcept override { return traits_; }
  base::Result<std::unique_ptr<BackendPin>> pin(const PinRequest& request) noexcept override;
  base::Result<std::unique_ptr<BackendBuffer>> allocate(int device, std::size_t size_bytes) noexcept override;
  void abandon_after_fork() noexcept override {}  // holds nothing

 private:
  const int device_count_;
  const Traits traits_{"emulated", static_cast<std::uint32_t>(driver::emulated_page_bytes), true, false, false, 0,
                       true};
};

base::Status check_kind(const driver::EmulatedAllocation& allocation, std::uint64_t address) noexcept {
  switch (allocation.kind) {
    case driver::EmulatedKind::device: return {};
    case driver::EmulatedKind::managed:
      return base::fail(
          EOPNOTSUPP,
          "cannot pin 0x%" PRIx64
          ": the address is in emulated managed memory, which moves between CPU and GPU; use the pointer on the "
          "CPU directly",
          address);
    case driver::EmulatedKind::host: break;
  }
  return base::fail(
      EINVAL, "cannot pin 0x%" PRIx64 ": the address is in emulated host memory; use the pointer on the CPU directly",
      address);
}

base::Result<std::unique_ptr<BackendPin>> EmulatedBackend::pin(const PinRequest& request) noexcept {
  const auto range = enclosing_pages(request, traits_.page_size_bytes);
  if (!range) return base::pass(range);
  auto allocation = driver::emulated_find(request.address);
  if (!allocation) return base::pass(allocation);
  if (auto supported = check_kind(*allocation, request.address); !supported) return base::pass(supported);
  const std::uint64_t exact_end = allocation->start + allocation->size_bytes;
  if (auto inside = check_end(request, allocation->start, exact_end); !inside) return base::pass(inside);
  std::unique_ptr<EmulatedPin> pin(new (std::nothrow) EmulatedPin);
  if (pin == nullptr) return base::fail_literal(ENOMEM, "out of memory while pinning emulated memory");
  if (base::Status taken = pin->take(*range); !taken) return base::pass(taken);
  return std::unique_ptr<BackendPin>(std::move(pin));
}

base::Result<std::unique_ptr<BackendBuffer>> EmulatedBackend::allocate(int device, std::size_t size_bytes) noexcept {
  if (device < 0 || device >= device_count_) {
    return base::fail(
        ENODEV,
        "cannot allocate on emulated device %d: the number of emulated devices is %d; increase GDRKIT_EMULATED_DEVICES",
        device, device_count_);
  }
  std::unique_ptr<EmulatedBuffer> buffer(new (std::nothrow) EmulatedBuffer);
  if (buffer == nullptr) return base::fail_literal(ENOMEM, "out of memory while allocating a buffer");
  if (base::Status taken = buffer->take(size_bytes); !taken) return base::pass(taken);
  return std::unique_ptr<BackendBuffer>(std::move(buffer));
}

}  // namespace
}  // namespace emulated

base::Result<std::unique_ptr<Backend>> open_emulated(const base::Settings& settings) noexcept {
  const auto devices = driver::emulated_device_count(settings.emulated_devices);
  if (!devices) return base::pass(devices);
  // Reports an unreadable /proc/self/maps now rather than at the first pin, which reads it.
  auto probe = driver::emulated_find(0);
  if (!probe && probe.error().errno_value != EINVAL) return base::pass(probe);
  std::unique_ptr<Backend> backend(new (std::nothrow) emulated::EmulatedBackend(*devices));
  if (backend == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening backend 'emulated'");
  return backend;
}

}  // namespace gdrkit::backend
