// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/rm_backend.hpp"

#include "backend/cuda_buffer.hpp"
#include "backend/cuda_scope.hpp"
#include "backend/pointer_check.hpp"
#include "backend/pointer_pin.hpp"
#include "backend/rm/memory_locator.hpp"
#include "backend/rm/rm_pin.hpp"
#include "backend/rm/rm_probe.hpp"

namespace gdrkit::backend {
namespace rm {
namespace {

constexpr Traits rm_traits = {"rm", 65536, true, false, false};
constexpr int attribute_integrated = 18;  // CU_DEVICE_ATTRIBUTE_INTEGRATED

template <class Load>
base::Result<std::unique_ptr<Backend>> open_on(driver::System& system, Load load_cuda,
                                               const base::Settings& settings) noexcept try {
  auto probed = probe(system, settings);
  if (!probed) return base::pass(probed);
  const base::Result<const driver::CudaCalls*> cuda = load_cuda();
  if (!cuda) return base::pass(cuda);
  return std::unique_ptr<Backend>(
      std::make_unique<RmBackend>(system, **cuda, settings, probed->layout, std::move(probed->client)));
} catch (...) {
  return base::fail_literal(ENOMEM, "out of memory while opening the rm backend");
}

}  // namespace

const Traits& RmBackend::traits() const noexcept { return rm_traits; }

base::Result<RmDevice*> RmBackend::device_of(int cuda_ordinal) {
  char pci[32] = {};
  driver::CudaUuid uuid{};
  int integrated = 0;
  int result = driver::device_attribute(cuda_, cuda_ordinal, attribute_integrated, &integrated);
  if (result == 0) result = driver::device_pci_bus_id(cuda_, cuda_ordinal, pci, sizeof pci);
  if (result == 0) result = driver::device_uuid(cuda_, cuda_ordinal, &uuid);
  if (result != 0) {
    return driver::cuda_failure(result, "cannot find the GPU of CUDA device %d", cuda_ordinal);
  }
  if (integrated != 0)
    return base::fail(EOPNOTSUPP, "cannot map memory of the GPU at %s: it is integrated and has no BAR1", pci);
  const std::lock_guard lock(mutex_);
  if (const auto known = devices_.find(pci); known != devices_.end()) return known->second.get();
  auto opened = RmDevice::open(*client_, system_, pci, uuid);
  if (!opened) return base::pass(opened);
  // Only a whole entry: a child forked at any moment may read this map.
  return devices_.emplace(pci, std::move(*opened)).first->second.get();
}

base::Result<std::unique_ptr<BackendPin>> RmBackend::pin(const PinRequest& request) noexcept try {
  auto range = check_pointer(cuda_, request, rm_traits.page_size_bytes);
  if (!range) return base::pass(range);
  if (is_cpu_pointer(cuda_, request.address, *range)) return PointerPin::create(cuda_, request.address, *range);
  auto scope = CudaScope::enter(cuda_, range->attributes.context, range->attributes.device_ordinal, range->valid_start);
  if (!scope) return base::pass(scope);
  auto device = device_of(range->attributes.device_ordinal);
  if (!device) return base::pass(device);
  auto memory = locate(cuda_, system_, **device, *range, settings_);
  if (!memory) return base::pass(memory);
  return std::unique_ptr<BackendPin>(std::make_unique<RmPin>(*this, **device, *range, std::move(*memory)));
} catch (...) {
  return base::fail_literal(ENOMEM, "out of memory while pinning");
}

base::Result<std::unique_ptr<BackendBuffer>> RmBackend::allocate(int device, std::size_t size_bytes) noexcept {
  return CudaBuffer::allocate(cuda_, device, size_bytes);
}

void RmBackend::abandon_after_fork() noexcept {
  for (auto& [pci, device] : devices_) device->abandon_after_fork();
  client_->abandon_after_fork();
}

base::Result<std::unique_ptr<Backend>> open_rm_on(driver::System& system, const driver::CudaCalls& cuda,
                                                  const base::Settings& settings) noexcept {
  return open_on(
      system, [&cuda]() noexcept { return base::Result<const driver::CudaCalls*>(&cuda); }, settings);
}

base::Result<std::unique_ptr<Backend>> open_rm_on(driver::System& system, LoadCuda load_cuda,
                                                  const base::Settings& settings) noexcept {
  return open_on(system, load_cuda, settings);
}

}  // namespace rm

base::Result<std::unique_ptr<Backend>> open_rm(const base::Settings& settings) noexcept {
  return rm::open_rm_on(driver::real_system(), &driver::cuda_calls, settings);
}

}  // namespace gdrkit::backend
