// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/rm_backend.hpp"

#include <cinttypes>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/cuda_buffer.hpp"
#include "backend/cuda_scope.hpp"
#include "backend/mapping_check.hpp"
#include "backend/pointer_check.hpp"
#include "backend/pointer_pin.hpp"
#include "backend/rm/memory_locator.hpp"
#include "backend/rm/rm_device.hpp"
#include "backend/rm/rm_driver.hpp"
#include "backend/rm/rm_mapping.hpp"

namespace gdrkit::backend {
namespace rm {
namespace {

constexpr Traits rm_traits = {"rm", 65536, true, false, false};
constexpr int attribute_integrated = 18;  // CU_DEVICE_ATTRIBUTE_INTEGRATED

class RmBackend final : public Backend {
 public:
  RmBackend(driver::System& system, const driver::CudaCalls& cuda, base::Settings settings,
            std::shared_ptr<RmDriver> driver) noexcept
      : system_(system), cuda_(cuda), settings_(std::move(settings)), driver_(std::move(driver)) {}

  [[nodiscard]] const Traits& traits() const noexcept override { return rm_traits; }
  base::Result<std::unique_ptr<BackendPin>> pin(const PinRequest& request) noexcept override;
  base::Result<std::unique_ptr<BackendBuffer>> allocate(int device, std::size_t size_bytes) noexcept override {
    return allocate_cuda_buffer(cuda_, device, size_bytes);
  }
  void abandon_after_fork() noexcept override { driver_->abandon_after_fork(); }

  [[nodiscard]] driver::System& system() noexcept { return system_; }
  [[nodiscard]] const driver::CudaCalls& cuda() noexcept { return cuda_; }
  [[nodiscard]] const base::Settings& settings() const noexcept { return settings_; }
  [[nodiscard]] const DriverLayout& layout() const noexcept { return driver_->layout(); }
  [[nodiscard]] Calibrations& calibrations() noexcept { return driver_->calibrations(); }
  [[nodiscard]] ProvedLocations& proved_locations() noexcept { return driver_->proved_locations(); }

 private:
  // These may throw std::bad_alloc.
  base::Result<RmDevice*> device_of(int cuda_ordinal);
  base::Result<std::unique_ptr<BackendPin>> pin_range(const DeviceRange& range);

  driver::System& system_;
  const driver::CudaCalls& cuda_;
  base::Settings settings_;
  std::shared_ptr<RmDriver> driver_;
};

/// Maps scratch memory as RmPin maps user memory.
class RmScratch final : public ScratchMap {
 public:
  RmScratch(RmBackend& backend, RmDevice& device) noexcept
      : backend_(backend), device_(device), mapping_(backend.system(), device, backend.layout()) {}

  std::uint8_t* map(const DeviceRange& range) noexcept override {
    auto memory = locate(range);
    if (!memory) return nullptr;
    memory_.emplace(std::move(*memory));
    const auto mapped = mapping_.map(memory_->pieces, static_cast<std::size_t>(range.page_bytes));
    return mapped ? mapping_.address() : nullptr;
  }

  bool unmap() noexcept override {
    (void)mapping_.unmap();
    if (mapping_.address() != nullptr) (void)mapping_.unmap();  // munmap may fail once if memory is short
    if (mapping_.address() == nullptr) {
      memory_.reset();
      return true;
    }
    // RM must not reuse the memory either. RmMapping keeps its BAR1 space.
    memory_->abandon();
    return false;
  }

 private:
  base::Result<OwnedMemory> locate(const DeviceRange& range) noexcept {
    return device_.kept().retry_after_release(
        [&] { return rm::locate(backend_.cuda(), backend_.system(), device_, range, backend_.settings()); });
  }

  RmBackend& backend_;
  RmDevice& device_;
  std::optional<OwnedMemory> memory_;
  RmMapping mapping_;
};

/// One pinned range.
class RmPin final : public BackendPin {
 public:
  RmPin(RmBackend& backend, RmDevice& device, const DeviceRange& range, OwnedMemory memory);
  ~RmPin() override { (void)unpin(); }

  base::Result<MappedRegion> map(std::size_t size_bytes, MappingType requested) noexcept override;
  base::Status unmap() noexcept override { return mapping_.unmap_and_keep(); }
  base::Status unpin() noexcept override;
  [[nodiscard]] bool keeps_memory() const noexcept override { return true; }
  void abandon_after_fork() noexcept override {
    mapping_.abandon_after_fork();
    memory_.abandon();
  }

 private:
  base::Result<Verification> verify() noexcept;

  RmBackend& backend_;
  RmDevice& rm_device_;
  DeviceRange range_;
  OwnedMemory memory_;
  std::vector<std::uint64_t> starts_;  ///< device addresses of the pieces
  RmMapping mapping_;
};

RmPin::RmPin(RmBackend& backend, RmDevice& device, const DeviceRange& range, OwnedMemory memory)
    : backend_(backend),
      rm_device_(device),
      range_(range),
      memory_(std::move(memory)),
      mapping_(backend.system(), device, backend.layout()) {
  page_address_ = range.page_address;
  page_bytes_ = static_cast<std::size_t>(range.page_bytes);
  device_ = device.pci();
  std::uint64_t start = page_address_;
  for (const OwnedPiece& piece : memory_.pieces) {
    starts_.push_back(start);
    start += piece.size_bytes;
  }
}

base::Result<MappedRegion> RmPin::map(std::size_t size_bytes, MappingType requested) noexcept {
  if (requested == MappingType::cached && !is_coherent(backend_.cuda(), range_.attributes.device_ordinal)) {
    return base::fail(EOPNOTSUPP,
                      "cannot map 0x%" PRIx64
                      " with mapping type 'cached': BAR1 of a discrete GPU is uncached; request type 'write-combining'",
                      page_address_);
  }
  const auto length = length_to_map(*this, size_bytes, mapping_.address());
  if (!length) return base::pass(length);
  base::Status mapped = mapping_.map(memory_.pieces, *length);
  base::Result<Verification> verification = Verification::none;
  MappingType type = mapping_.type();
  // A driver that does not report the caching type seems to report "cached". Word accesses are correct in both cases.
  if (mapped && type == MappingType::cached && !is_coherent(backend_.cuda(), range_.attributes.device_ordinal))
    type = MappingType::device;
  if (mapped && requested != MappingType::none && type != requested)
    mapped = base::fail(
        EOPNOTSUPP,
        "cannot map 0x%" PRIx64
        " with mapping type '%s': the driver supports only type '%s'%s for this memory; request the default type",
        page_address_, name_of(requested), name_of(type), type == MappingType::device ? " (uncached)" : "");
  if (mapped) verification = verify();
  if (mapped && verification) return MappedRegion{mapping_.address(), *length, type, *verification};
  (void)mapping_.unmap();
  return mapped ? base::pass(verification) : base::pass(mapped);
}

base::Result<Verification> RmPin::verify() noexcept {
  RmScratch scratch(backend_, rm_device_);
  ProvedLocations& proved = backend_.proved_locations();
  const bool is_proved = proved.contains(range_, memory_.pieces);
  auto verification =
      check_mapping(backend_.cuda(),
                    {range_, starts_, mapping_.address(), mapping_.size_bytes(), rm_device_.pci().c_str(), is_proved},
                    backend_.calibrations(), scratch);
  if (verification && *verification == Verification::content && !is_proved)
    proved.add(range_, memory_.pieces, mapping_.size_bytes());
  return verification;
}

base::Status RmPin::unpin() noexcept {
  if (auto unmapped = mapping_.unmap_pages(); !unmapped) {
    memory_.abandon();  // pages may still be mapped
    return unmapped;
  }
  const bool has_objects = !memory_.pieces.empty();  // false after abandon()
  base::Status freed = memory_.free();               // RM also ends the mappings of the freed objects
  base::keep_first(freed, freed && has_objects ? mapping_.close_files() : mapping_.unmap());
  return freed;
}

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
    return base::fail(EOPNOTSUPP, "cannot map memory of the GPU at %s: the GPU is integrated and has no BAR1", pci);
  return driver_->device(pci, uuid);
}

base::Result<std::unique_ptr<BackendPin>> RmBackend::pin(const PinRequest& request) noexcept try {
  auto range = check_pointer(cuda_, request, rm_traits.page_size_bytes);
  if (!range) return base::pass(range);
  if (is_cpu_pointer(cuda_, request.address, *range)) return make_pointer_pin(cuda_, request.address, *range);
  auto scope = CudaScope::enter(cuda_, range->attributes.context, range->attributes.device_ordinal, range->valid_start);
  if (!scope) return base::pass(scope);
  return driver_->kept().retry_after_release([&] { return pin_range(*range); });
} catch (...) {
  return base::fail_literal(ENOMEM, "out of memory while pinning device memory");
}

base::Result<std::unique_ptr<BackendPin>> RmBackend::pin_range(const DeviceRange& range) {
  auto device = device_of(range.attributes.device_ordinal);
  if (!device) return base::pass(device);
  auto memory = locate(cuda_, system_, **device, range, settings_);
  if (!memory) return base::pass(memory);
  return std::unique_ptr<BackendPin>(std::make_unique<RmPin>(*this, **device, range, std::move(*memory)));
}

}  // namespace

base::Result<std::unique_ptr<Backend>> open_rm_on(driver::System& system, const LoadCuda& load_cuda,
                                                  const base::Settings& settings, KeptDriver* kept) noexcept try {
  auto driver = kept != nullptr ? kept->get(system, settings) : open_driver(system, settings);
  if (!driver) return base::pass(driver);
  const auto cuda = load_cuda();
  if (!cuda) return base::pass(cuda);
  return std::unique_ptr<Backend>(std::make_unique<RmBackend>(system, **cuda, settings, std::move(*driver)));
} catch (...) {
  return base::fail_literal(ENOMEM, "out of memory while opening backend 'rm'");
}

}  // namespace rm

namespace {

/// Never destroyed: contexts may be opened and closed at exit.
union Kept {
  constexpr Kept() noexcept : driver() {}
  ~Kept() {}
  rm::KeptDriver driver;
};
constinit Kept kept;

}  // namespace

base::Result<std::unique_ptr<Backend>> open_rm(const base::Settings& settings) noexcept {
  return rm::open_rm_on(driver::real_system(), &driver::cuda_calls, settings, &kept.driver);
}

void abandon_rm_after_fork() noexcept { kept.driver.abandon_after_fork(); }

}  // namespace gdrkit::backend
