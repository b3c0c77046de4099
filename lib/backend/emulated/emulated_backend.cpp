// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The emulated backend: pins and maps the emulated device's memory by the rules that hold for a GPU's.
#include <cinttypes>
#include <memory>
#include <new>

#include "backend/backend.hpp"
#include "backend/emulated/emulated_buffer.hpp"
#include "backend/emulated/emulated_pin.hpp"
#include "shim/emulated_device_identity.hpp"
#include "shim/emulated_memory.hpp"

namespace gdrkit::backend {
namespace emulated {
namespace {

constexpr std::uint64_t page_mask = shim::emulated_page_bytes - 1;

class EmulatedBackend final : public Backend {
 public:
  explicit EmulatedBackend(int device_count) noexcept : device_count_(device_count) {}
  [[nodiscard]] const Traits& traits() const noexcept override { return traits_; }
  base::Result<std::unique_ptr<BackendPin>> pin(const PinRequest& request) noexcept override;
  base::Result<std::unique_ptr<BackendBuffer>> allocate(int device, std::size_t size_bytes) noexcept override {
    return EmulatedBuffer::allocate(device, device_count_, size_bytes);
  }
  void abandon_after_fork() noexcept override {}  // holds nothing

 private:
  const int device_count_;
  const Traits traits_{"emulated", static_cast<std::uint32_t>(shim::emulated_page_bytes), true, false, false, 0, true};
};

base::Status refuse_kind(const shim::EmulatedAllocation& allocation, std::uint64_t address) noexcept {
  switch (allocation.kind) {
    case shim::EmulatedKind::device: return {};
    case shim::EmulatedKind::managed:
      return base::fail(EOPNOTSUPP,
                        "cannot pin 0x%" PRIx64
                        ": it is (emulated) managed memory, which moves between CPU and GPU; use the pointer on the "
                        "CPU directly",
                        address);
    case shim::EmulatedKind::host: break;
  }
  return base::fail(
      EINVAL, "cannot pin 0x%" PRIx64 ": it is (emulated) host memory; use the pointer on the CPU directly", address);
}

base::Result<std::unique_ptr<BackendPin>> EmulatedBackend::pin(const PinRequest& request) noexcept {
  if (request.force_pcie)
    return base::fail(EOPNOTSUPP, "cannot force PCIe for a pin: the emulated device has no choice of paths");
  if (request.address == 0 || request.size_bytes == 0) {
    return base::fail(EINVAL, "cannot pin %zu bytes at 0x%" PRIx64 ": both must be above 0", request.size_bytes,
                      request.address);
  }
  std::uint64_t end = 0;
  if (__builtin_add_overflow(request.address, request.size_bytes, &end) || end > UINT64_MAX - page_mask) {
    return base::fail(EINVAL, "cannot pin 0x%" PRIx64 " + %zu bytes: the range reaches beyond the address space",
                      request.address, request.size_bytes);
  }
  auto allocation = shim::emulated_find(request.address);
  if (!allocation) return base::pass(allocation);
  if (auto refused = refuse_kind(*allocation, request.address); !refused) return base::pass(refused);
  const std::uint64_t exact_end = allocation->start + allocation->size_bytes;
  const std::uint64_t allowed_end = request.exact_range ? exact_end : (exact_end + page_mask) & ~page_mask;
  if (end > allowed_end) {
    return base::fail(EINVAL,
                      "cannot pin 0x%" PRIx64 " + %zu bytes: the range ends %" PRIu64
                      " bytes past its allocation (0x%" PRIx64 " to 0x%" PRIx64 ")",
                      request.address, request.size_bytes, end - exact_end, allocation->start, exact_end);
  }
  const std::uint64_t page_address = request.address & ~page_mask;
  return EmulatedPin::create(page_address, ((end + page_mask) & ~page_mask) - page_address);
}

}  // namespace
}  // namespace emulated

base::Result<std::unique_ptr<Backend>> open_emulated(const base::Settings& settings) noexcept;

base::Result<std::unique_ptr<Backend>> open_emulated(const base::Settings& settings) noexcept {
  const auto devices = shim::emulated_device_count(settings.emulated_devices);
  if (!devices) return base::pass(devices);
  // Without a readable /proc/self/maps no address can be recognised: better said now than at the first pin.
  auto probe = shim::emulated_find(0);
  if (!probe && probe.error().errno_value != EINVAL) return base::pass(probe);
  std::unique_ptr<Backend> backend(new (std::nothrow) emulated::EmulatedBackend(*devices));
  if (backend == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening the emulated backend");
  return backend;
}

}  // namespace gdrkit::backend
