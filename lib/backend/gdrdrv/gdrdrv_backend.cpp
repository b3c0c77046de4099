// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/gdrdrv/gdrdrv_backend.hpp"

#include <new>
#include <string>
#include <utility>

#include "backend/cuda_buffer.hpp"
#include "backend/gdrdrv/gdrdrv_pin.hpp"
#include "backend/pointer_check.hpp"

namespace gdrkit::backend {
namespace gdrdrv {
namespace {

/// Whether CUDA cannot report on any pointer in this process.
bool is_unavailable(int cuda_result) noexcept {
  constexpr int not_initialized = 3, deinitialized = 4, stub_library = 34, no_device = 100;
  return cuda_result == not_initialized || cuda_result == deinitialized || cuda_result == stub_library ||
         cuda_result == no_device;
}

base::Result<DeviceRange> check(const driver::CudaCalls* cuda, const PinRequest& request) noexcept {
  if (cuda == nullptr) return enclosing_pages(request, gpu_page_bytes);
  auto range = check_pointer(*cuda, request, gpu_page_bytes);
  if (range || !is_unavailable(range.error().vendor_code)) return range;
  return enclosing_pages(request, gpu_page_bytes);
}

base::Result<std::unique_ptr<Backend>> make_backend(std::unique_ptr<ModuleFile> file,
                                                    const driver::CudaCalls* cuda) noexcept {
  std::unique_ptr<Backend> backend(new (std::nothrow) GdrdrvBackend(std::move(file), cuda));
  if (backend == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening the gdrdrv backend");
  return backend;
}

}  // namespace

GdrdrvBackend::GdrdrvBackend(std::unique_ptr<ModuleFile> file, const driver::CudaCalls* cuda) noexcept
    : file_(std::move(file)), cuda_(cuda) {
  traits_.name = "gdrdrv";
  traits_.page_size_bytes = gpu_page_bytes;
  traits_.is_persistent = file_->is_persistent();
  traits_.supports_force_pcie = file_->can_force_pcie();
  traits_.module_version = file_->version().word;
}

base::Result<std::unique_ptr<BackendPin>> GdrdrvBackend::pin(const PinRequest& request) noexcept try {
  auto range = check(cuda_, request);
  if (!range) return base::pass(range);
  return GdrdrvPin::create(*file_, {range->page_address, range->page_bytes, request.force_pcie},
                           cuda_ != nullptr ? pci_of(*cuda_, *range) : std::string());
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while pinning");
}

base::Result<std::unique_ptr<BackendBuffer>> GdrdrvBackend::allocate(int device, std::size_t size_bytes) noexcept {
  if (cuda_ == nullptr) {
    return base::fail(ENODEV,
                      "cannot allocate device memory: libcuda.so.1 cannot be loaded; install the NVIDIA driver or "
                      "mount it into the container");
  }
  return CudaBuffer::allocate(*cuda_, device, size_bytes);
}

base::Result<std::unique_ptr<Backend>> open_gdrdrv_on(driver::System& system, const driver::CudaCalls* cuda) noexcept {
  auto file = ModuleFile::open(system);
  if (!file) return base::pass(file);
  return make_backend(std::move(*file), cuda);
}

}  // namespace gdrdrv

base::Result<std::unique_ptr<Backend>> open_gdrdrv(const base::Settings&) noexcept {
  auto file = gdrdrv::ModuleFile::open(driver::real_system());
  if (!file) return base::pass(file);
  // Loads libcuda only if the module is usable, because loading is slow.
  auto cuda = driver::cuda_calls();
  return gdrdrv::make_backend(std::move(*file), cuda ? *cuda : nullptr);
}

}  // namespace gdrkit::backend
