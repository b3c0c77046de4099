// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The emulated backend: pins and maps the emulated device's memory by the rules that hold for a GPU's.
#include <cinttypes>
#include <memory>
#include <new>

#include "backend/backend.hpp"
#include "backend/emulated/emulated_buffer.hpp"
#include "backend/emulated/emulated_pin.hpp"
#include "backend/pointer_check.hpp"
#include "driver/emulated_device_identity.hpp"
#include "driver/emulated_memory.hpp"

namespace gdrkit::backend {
namespace emulated {
namespace {

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
  const Traits traits_{"emulated", static_cast<std::uint32_t>(driver::emulated_page_bytes), true, false, false, 0,
                       true};
};

base::Status refuse_kind(const driver::EmulatedAllocation& allocation, std::uint64_t address) noexcept {
  switch (allocation.kind) {
    case driver::EmulatedKind::device: return {};
    case driver::EmulatedKind::managed:
      return base::fail(EOPNOTSUPP,
                        "cannot pin 0x%" PRIx64
                        ": it is (emulated) managed memory, which moves between CPU and GPU; use the pointer on the "
                        "CPU directly",
                        address);
    case driver::EmulatedKind::host: break;
  }
  return base::fail(
      EINVAL, "cannot pin 0x%" PRIx64 ": it is (emulated) host memory; use the pointer on the CPU directly", address);
}

base::Result<std::unique_ptr<BackendPin>> EmulatedBackend::pin(const PinRequest& request) noexcept {
  const auto range = enclosing_pages(request, traits_.page_size_bytes);
  if (!range) return base::pass(range);
  auto allocation = driver::emulated_find(request.address);
  if (!allocation) return base::pass(allocation);
  if (auto refused = refuse_kind(*allocation, request.address); !refused) return base::pass(refused);
  const std::uint64_t exact_end = allocation->start + allocation->size_bytes;
  if (auto inside = check_end(request, allocation->start, exact_end); !inside) return base::pass(inside);
  return EmulatedPin::create(range->page_address, static_cast<std::size_t>(range->page_bytes));
}

}  // namespace
}  // namespace emulated

base::Result<std::unique_ptr<Backend>> open_emulated(const base::Settings& settings) noexcept {
  const auto devices = driver::emulated_device_count(settings.emulated_devices);
  if (!devices) return base::pass(devices);
  // Without a readable /proc/self/maps no address can be recognised: report it now, not at the first pin.
  auto probe = driver::emulated_find(0);
  if (!probe && probe.error().errno_value != EINVAL) return base::pass(probe);
  std::unique_ptr<Backend> backend(new (std::nothrow) emulated::EmulatedBackend(*devices));
  if (backend == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening the emulated backend");
  return backend;
}

}  // namespace gdrkit::backend
