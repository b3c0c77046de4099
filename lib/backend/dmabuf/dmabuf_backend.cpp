// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/dmabuf/dmabuf_backend.hpp"

#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "backend/calibration.hpp"
#include "backend/cuda_buffer.hpp"
#include "backend/cuda_scope.hpp"
#include "backend/dmabuf/dmabuf_mapping.hpp"
#include "backend/mapping_check.hpp"
#include "backend/pointer_check.hpp"
#include "backend/pointer_pin.hpp"

namespace gdrkit::backend {
namespace dmabuf {
namespace {

constexpr const char* driver_node = "/dev/nvidiactl";
constexpr int first_known_version = 13030;  // CUDA 13.3
constexpr int most_ordinals = 64;           // more than any machine has

/// The first device whose primary context is active; -1: this process does not use CUDA.
int ordinal_in_use(const driver::CudaCalls& cuda) noexcept {
  for (int ordinal = 0; ordinal < most_ordinals; ++ordinal) {
    int active = 0;
    if (driver::primary_ctx_is_active(cuda, ordinal, &active) != 0) break;
    if (active != 0) return ordinal;
  }
  return -1;
}

/// Whether the backend is likely to work although it could not be tested and was not requested.
base::Status check_untried(driver::System& system, const driver::CudaCalls& cuda) noexcept {
  if (const int found = driver::as_user_errno(system.access(driver_node, R_OK | W_OK)); found < 0) {
    return base::fail(found == -ENOENT ? ENODEV : -found, "cannot access %s: %s; %s", driver_node,
                      std::strerror(-found),
                      found == -ENOENT ? "install the NVIDIA driver, or start the container with --gpus all"
                                       : "give this user or container read and write permission");
  }
  int version = 0;
  (void)cuda.driver_get_version(&version);
  if (version >= first_known_version) return {};
  return base::fail(EOPNOTSUPP,
                    "cannot test whether CUDA %d.%d supports mappings of dma-bufs: this process has no primary CUDA "
                    "context; create a primary context, or set GDRKIT_BACKEND=dmabuf to skip the test",
                    version / 1000, version % 1000 / 10);
}

class DmabufBackend final : public Backend {
 public:
  DmabufBackend(driver::System& system, const driver::CudaCalls& cuda) noexcept : system_(system), cuda_(cuda) {
    traits_.name = "dmabuf";
    traits_.page_size_bytes = static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE));  // the unit of CUDA's exports
    traits_.supports_force_pcie = true;
    traits_.uses_dmabuf_mmap = true;
    traits_.is_untried = true;
  }

  [[nodiscard]] const Traits& traits() const noexcept override { return traits_; }
  base::Result<std::unique_ptr<BackendPin>> pin(const PinRequest& request) noexcept override;
  base::Result<std::unique_ptr<BackendBuffer>> allocate(int device, std::size_t size_bytes) noexcept override {
    return allocate_cuda_buffer(cuda_, device, size_bytes);
  }
  void abandon_after_fork() noexcept override {}

  [[nodiscard]] driver::System& system() noexcept { return system_; }
  [[nodiscard]] const driver::CudaCalls& cuda() noexcept { return cuda_; }
  [[nodiscard]] Calibrations& calibrations() noexcept { return calibrations_; }
  /// Maps a dma-buf of scratch memory as a test, if the process has an active primary context. The backend stays
  /// untried without a context or without scratch memory.
  base::Status try_scratch() noexcept;

 private:
  driver::System& system_;
  const driver::CudaCalls& cuda_;
  Traits traits_;
  Calibrations calibrations_;
};

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

/// One pinned range.
class DmabufPin final : public BackendPin {
 public:
  /// May throw std::bad_alloc.
  static base::Result<std::unique_ptr<BackendPin>> create(DmabufBackend& backend, const DeviceRange& range,
                                                          bool must_be_pcie);
  ~DmabufPin() override { (void)unpin(); }

  base::Result<MappedRegion> map(std::size_t size_bytes, MappingType requested) noexcept override;
  base::Status unmap() noexcept override { return mapping_.unmap(); }
  base::Status unpin() noexcept override { return mapping_.release(); }
  [[nodiscard]] bool keeps_memory() const noexcept override { return true; }
  void abandon_after_fork() noexcept override { mapping_.abandon_after_fork(); }

 private:
  DmabufPin(DmabufBackend& backend, const DeviceRange& range)
      : backend_(backend),
        range_(range),
        blocks_(blocks_of(backend.cuda(), range)),
        mapping_(backend.system(), backend.cuda()) {
    page_address_ = range.page_address;
    page_bytes_ = static_cast<std::size_t>(range.page_bytes);
    device_ = pci_of(backend.cuda(), range);
  }

  DmabufBackend& backend_;
  DeviceRange range_;
  std::vector<std::uint64_t> blocks_;  ///< device addresses at which CUDA's blocks start
  DmabufMapping mapping_;
};

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
        EOPNOTSUPP,
        "cannot map 0x%" PRIx64
        " with mapping type '%s': the driver supports only type '%s' for this dma-buf; request the default type",
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

base::Status DmabufBackend::try_scratch() noexcept {
  const int ordinal = ordinal_in_use(cuda_);
  if (ordinal < 0) return {};
  auto scope = CudaScope::enter(cuda_, nullptr, ordinal);
  if (!scope) return {};
  DmabufScratch scratch(system_, cuda_);
  switch (calibrations_.of(cuda_, ordinal, scratch)) {
    case Calibration::proved: traits_.is_untried = false; return {};
    case Calibration::contradicted:
      return base::fail_literal(EIO,
                                "cannot use dma-bufs: a test mapping does not contain the data of the exported memory; "
                                "set GDRKIT_BACKEND=rm");
    case Calibration::impossible: break;
  }
  return scratch.failure();
}

base::Result<std::unique_ptr<BackendPin>> DmabufBackend::pin(const PinRequest& request) noexcept try {
  auto range = check_pointer(cuda_, request, traits_.page_size_bytes);
  if (!range) return base::pass(range);
  if (!request.force_pcie && is_cpu_pointer(cuda_, request.address, *range))
    return make_pointer_pin(cuda_, request.address, *range);
  return DmabufPin::create(*this, *range, request.force_pcie);
} catch (...) {
  return base::fail_literal(ENOMEM, "out of memory while pinning device memory");
}

}  // namespace

void KnownRefusal::keep(const base::Error& error) noexcept {
  switch (error.errno_value) {
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EAGAIN: return;
    default: break;
  }
  if (get() != nullptr) return;
  std::unique_ptr<base::Error> kept(new (std::nothrow) base::Error(error));
  const base::Error* none = nullptr;
  if (kept != nullptr && error_.compare_exchange_strong(none, kept.get(), std::memory_order_acq_rel))
    (void)kept.release();
}

base::Result<std::unique_ptr<Backend>> open_dmabuf_on(driver::System& system, const driver::CudaCalls& cuda,
                                                      const base::Settings& settings, KnownRefusal* known) noexcept {
  const base::Error* const refusal = known != nullptr && settings.backend.empty() ? known->get() : nullptr;
  if (refusal != nullptr) return tl::unexpected<base::Error>(*refusal);
  std::unique_ptr<DmabufBackend> backend(new (std::nothrow) DmabufBackend(system, cuda));
  if (backend == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening backend 'dmabuf'");
  if (auto tried = backend->try_scratch(); !tried) {
    if (known != nullptr) known->keep(tried.error());
    return base::pass(tried);
  }
  if (backend->traits().is_untried && settings.backend.empty()) {
    if (auto likely = check_untried(system, cuda); !likely) return base::pass(likely);
  }
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace dmabuf

base::Result<std::unique_ptr<Backend>> open_dmabuf(const base::Settings& settings) noexcept {
  auto cuda = driver::cuda_calls();
  if (!cuda) return base::pass(cuda);
  static constinit dmabuf::KnownRefusal known;
  return dmabuf::open_dmabuf_on(driver::real_system(), **cuda, settings, &known);
}

}  // namespace gdrkit::backend
