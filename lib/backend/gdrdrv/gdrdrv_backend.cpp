// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/gdrdrv/gdrdrv_backend.hpp"

#include <atomic>
#include <cinttypes>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "backend/cuda_buffer.hpp"
#include "backend/gdrdrv/module_file.hpp"
#include "backend/pointer_check.hpp"

namespace gdrkit::backend {
namespace gdrdrv {
namespace {

/// One range that the module pinned, and its mapping.
class GdrdrvPin final : public BackendPin {
 public:
  struct Range {
    std::uint64_t page_address;
    std::uint64_t page_bytes;
    bool force_pcie;
  };
  /// Pins `range`, and fails if the module's description of the pin differs from the request. `device`: PCI address, ""
  /// if unknown.
  static base::Result<std::unique_ptr<BackendPin>> create(ModuleFile& file, const Range& range,
                                                          const std::string& device);
  GdrdrvPin(const GdrdrvPin&) = delete;
  GdrdrvPin& operator=(const GdrdrvPin&) = delete;
  ~GdrdrvPin() override { (void)unpin(); }

  base::Result<MappedRegion> map(std::size_t size_bytes, MappingType requested) noexcept override;
  base::Status unmap() noexcept override;
  base::Status unpin() noexcept override;
  [[nodiscard]] bool is_invalidated() const noexcept override;
  [[nodiscard]] bool keeps_memory() const noexcept override { return file_.is_persistent(); }
  void abandon_after_fork() noexcept override {
    address_ = nullptr;  // not inherited: this process may use the address for another mapping
    is_pinned_ = false;
  }

 private:
  GdrdrvPin(ModuleFile& file, const Range& range, std::string device) noexcept : file_(file) {
    page_address_ = range.page_address;
    page_bytes_ = static_cast<std::size_t>(range.page_bytes);
    device_ = std::move(device);
  }
  base::Status check_state() noexcept;
  base::Status request_type(MappingType requested) noexcept;
  base::Status map_pages(std::size_t bytes) noexcept;
  base::Result<MappingType> read_type(MappingType requested) noexcept;

  ModuleFile& file_;
  std::uint64_t handle_ = 0;  ///< any number, including 0
  bool is_pinned_ = false;
  bool has_requested_type_ = false;  ///< the module keeps a request until the next one
  mutable std::atomic<bool> is_invalidated_{false};
  void* address_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

bool is_supported(MappingType type) noexcept {
  return type == MappingType::write_combining || type == MappingType::cached || type == MappingType::device;
}

tl::unexpected<base::Error> pin_failed(const GdrdrvPin::Range& range, int error) noexcept {
  switch (error) {
    case EINVAL:
      return base::fail(EINVAL,
                        "cannot pin 0x%" PRIx64 " + %" PRIu64
                        " bytes with backend 'gdrdrv': the range is not inside one live allocation that supports "
                        "GPUDirect RDMA; pin a range of one cudaMalloc allocation",
                        range.page_address, range.page_bytes);
    case EOPNOTSUPP:
      return base::fail(EOPNOTSUPP,
                        "cannot pin 0x%" PRIx64
                        " with backend 'gdrdrv': the kernel module does not support this GPU or this type of memory; "
                        "pin memory from cudaMalloc",
                        range.page_address);
    case ENOMEM:
      return base::fail(ENOMEM,
                        "cannot pin %" PRIu64 " KiB at 0x%" PRIx64
                        " with backend 'gdrdrv': BAR1 is full, or all processes together have reached the limit of the "
                        "kernel module; unpin other memory",
                        range.page_bytes / 1024, range.page_address);
    case EACCES:
      return base::fail(EACCES,
                        "cannot pin memory with backend 'gdrdrv': this process inherited the open file %s from another "
                        "process; open a new context in this process",
                        node);
    default:
      return base::fail(error == EPERM || error == EMFILE ? error : EIO,
                        "cannot pin 0x%" PRIx64 " + %" PRIu64 " bytes with backend 'gdrdrv': %s", range.page_address,
                        range.page_bytes, std::strerror(error));
  }
}

base::Result<std::unique_ptr<BackendPin>> GdrdrvPin::create(ModuleFile& file, const Range& range,
                                                            const std::string& device) {
  // Allocates the record first, so that the pin of the module always has an owner.
  std::unique_ptr<GdrdrvPin> pin(new GdrdrvPin(file, range, device));
  const int result = file.pin(range.page_address, range.page_bytes, range.force_pcie, &pin->handle_);
  if (result < 0) return pin_failed(range, -result);
  pin->is_pinned_ = true;
  if (base::Status checked = pin->check_state(); !checked) return base::pass(checked);
  return std::unique_ptr<BackendPin>(std::move(pin));
}

/// Validates the module's description of the pin, which later calls and users depend on.
base::Status GdrdrvPin::check_state() noexcept {
  PinState state;
  if (const int result = file_.state(handle_, &state); result < 0) {
    return base::fail(EIO, "cannot read the state of the new pin from the gdrdrv kernel module: %s",
                      std::strerror(-result));
  }
  cost_ = {state.pin_cycles, state.tsc_khz};
  std::int64_t offset = 0;
  const bool is_as_requested = state.address == page_address_ && state.mapped_bytes == page_bytes_ &&
                               state.page_bytes == gpu_page_bytes && state.mapping_type == 0;
  if (is_as_requested && offset_of(handle_, page_bytes_, &offset)) return {};
  return base::fail(EIO,
                    "cannot pin 0x%" PRIx64 " + %zu bytes: the gdrdrv kernel module reports a different pin (0x%" PRIx64
                    " + %" PRIu64 " bytes, page size %u bytes, handle 0x%" PRIx64 ", mapping type %u)",
                    page_address_, page_bytes_, state.address, state.mapped_bytes, state.page_bytes, handle_,
                    state.mapping_type);
}

base::Result<MappedRegion> GdrdrvPin::map(std::size_t size_bytes, MappingType requested) noexcept {
  if (requested != MappingType::none && !is_supported(requested)) {
    return base::fail(EOPNOTSUPP, "cannot map 0x%" PRIx64 ": unsupported mapping type %u; request the default type",
                      page_address_, static_cast<unsigned>(requested));
  }
  const auto length = length_to_map(*this, size_bytes, address_);
  if (!length) return base::pass(length);
  if (!is_pinned_)
    return base::fail(EINVAL, "cannot map 0x%" PRIx64 ": the memory is no longer pinned; pin it again", page_address_);
  base::Status mapped = request_type(requested);
  if (mapped) mapped = map_pages(*length);
  base::Result<MappingType> type = mapped ? read_type(requested) : base::Result<MappingType>(base::pass(mapped));
  if (type) return MappedRegion{address_, *length, *type, Verification::none};
  if (address_ != nullptr) (void)unmap();
  return base::pass(type);
}

base::Status GdrdrvPin::request_type(MappingType requested) noexcept {
  const bool is_default = requested == MappingType::none && !has_requested_type_;
  if (is_default || !file_.version().has_requests()) return {};
  const int result = file_.request_mapping_type(handle_, static_cast<std::uint32_t>(requested));
  if (result >= 0) {
    has_requested_type_ = requested != MappingType::none;
    return {};
  }
  if (result == -EOPNOTSUPP) {
    return base::fail(EOPNOTSUPP,
                      "cannot map 0x%" PRIx64
                      " with mapping type '%s': the gdrdrv kernel module does not support this type for this memory; "
                      "request the default type",
                      page_address_, name_of(requested));
  }
  return base::fail(-result == EINVAL || -result == EACCES ? -result : EIO,
                    "cannot request mapping type '%s' from the gdrdrv kernel module: %s", name_of(requested),
                    std::strerror(-result));
}

base::Status GdrdrvPin::map_pages(std::size_t bytes) noexcept {
  void* mapped = nullptr;
  if (const int result = file_.map(handle_, bytes, &mapped); result < 0) {
    if (is_invalidated()) {
      return base::fail(EINVAL, "cannot map 0x%" PRIx64 ": the memory was freed; unpin it", page_address_);
    }
    return base::fail(-result, "cannot map 0x%" PRIx64 ": mmap of %zu bytes of %s (handle 0x%" PRIx64 "): %s",
                      page_address_, bytes, node, handle_, std::strerror(-result));
  }
  address_ = mapped;
  mapped_bytes_ = bytes;
  return keep_from_children(file_.system(), mapped, bytes);  // the module does this too
}

/// The type determines how the memory may be accessed, so the module must report a supported one.
base::Result<MappingType> GdrdrvPin::read_type(MappingType requested) noexcept {
  PinState state;
  if (const int result = file_.state(handle_, &state); result < 0) {
    return base::fail(EIO, "cannot read the mapping type from the gdrdrv kernel module: %s", std::strerror(-result));
  }
  const auto type = static_cast<MappingType>(state.mapping_type);
  if (state.mapping_type > static_cast<unsigned>(MappingType::device) || !is_supported(type)) {
    if (is_invalidated()) {
      return base::fail(EINVAL, "cannot map 0x%" PRIx64 ": the memory was freed during the mapping; unpin it",
                        page_address_);
    }
    return base::fail(EIO, "cannot map 0x%" PRIx64 ": the gdrdrv kernel module reports the invalid mapping type %u",
                      page_address_, state.mapping_type);
  }
  if (requested == MappingType::none || requested == type) return type;
  return base::fail(EOPNOTSUPP,
                    "cannot map 0x%" PRIx64
                    " with mapping type '%s': gdrdrv %u.%u supports only type '%s' for this memory; update gdrdrv, or "
                    "request the default type",
                    page_address_, name_of(requested), file_.version().major_number(), file_.version().minor_number(),
                    name_of(type));
}

base::Status GdrdrvPin::unmap() noexcept {
  if (address_ == nullptr)
    return base::fail(EINVAL, "cannot unmap 0x%" PRIx64 ": the memory is not mapped", page_address_);
  if (const int result = driver::as_user_errno(file_.system().munmap(address_, mapped_bytes_)); result < 0) {
    return base::fail(-result, "cannot unmap the memory: munmap: %s", std::strerror(-result));
  }
  address_ = nullptr;
  return {};
}

base::Status GdrdrvPin::unpin() noexcept {
  base::Status unmapped;
  if (address_ != nullptr) unmapped = unmap();
  if (!is_pinned_) return unmapped;
  is_pinned_ = false;
  // Also if munmap failed: the module removes the pages from the mapping before it releases them, so the remaining
  // mapping does not expose them.
  address_ = nullptr;
  const int result = file_.unpin(handle_);
  if (!unmapped || result >= 0) return unmapped;
  return base::fail(-result, "cannot unpin handle 0x%" PRIx64 " of backend 'gdrdrv': %s", handle_,
                    std::strerror(-result));
}

bool GdrdrvPin::is_invalidated() const noexcept {
  if (is_invalidated_.load(std::memory_order_relaxed) || !is_pinned_)
    return is_invalidated_.load(std::memory_order_relaxed);
  bool is_freed = false;
  // If the ioctl fails, assume that the pin is still valid.
  if (file_.is_freed_by_owner(handle_, &is_freed) == 0 && is_freed)
    is_invalidated_.store(true, std::memory_order_relaxed);
  return is_freed;
}

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

class GdrdrvBackend final : public Backend {
 public:
  GdrdrvBackend(std::unique_ptr<ModuleFile> file, const driver::CudaCalls* cuda) noexcept
      : file_(std::move(file)), cuda_(cuda) {
    traits_.name = "gdrdrv";
    traits_.page_size_bytes = gpu_page_bytes;
    traits_.is_persistent = file_->is_persistent();
    traits_.supports_force_pcie = file_->can_force_pcie();
    traits_.module_version = file_->version().word;
  }

  [[nodiscard]] const Traits& traits() const noexcept override { return traits_; }
  base::Result<std::unique_ptr<BackendPin>> pin(const PinRequest& request) noexcept override;
  base::Result<std::unique_ptr<BackendBuffer>> allocate(int device, std::size_t size_bytes) noexcept override;
  void abandon_after_fork() noexcept override { file_->abandon_after_fork(); }

 private:
  std::unique_ptr<ModuleFile> file_;
  const driver::CudaCalls* cuda_;
  Traits traits_;
};

base::Result<std::unique_ptr<BackendPin>> GdrdrvBackend::pin(const PinRequest& request) noexcept try {
  auto range = check(cuda_, request);
  if (!range) return base::pass(range);
  return GdrdrvPin::create(*file_, {range->page_address, range->page_bytes, request.force_pcie},
                           cuda_ != nullptr ? pci_of(*cuda_, *range) : std::string());
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while pinning device memory");
}

base::Result<std::unique_ptr<BackendBuffer>> GdrdrvBackend::allocate(int device, std::size_t size_bytes) noexcept {
  if (cuda_ == nullptr) {
    return base::fail(ENODEV,
                      "cannot allocate device memory: libcuda.so.1 cannot be loaded; install the NVIDIA driver or "
                      "mount it into the container");
  }
  return allocate_cuda_buffer(*cuda_, device, size_bytes);
}

base::Result<std::unique_ptr<Backend>> make_backend(std::unique_ptr<ModuleFile> file,
                                                    const driver::CudaCalls* cuda) noexcept {
  std::unique_ptr<Backend> backend(new (std::nothrow) GdrdrvBackend(std::move(file), cuda));
  if (backend == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening backend 'gdrdrv'");
  return backend;
}

}  // namespace

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
