// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/gdrdrv/gdrdrv_pin.hpp"

#include <cinttypes>
#include <cstring>
#include <utility>

namespace gdrkit::backend::gdrdrv {
namespace {

bool is_known(MappingType type) noexcept {
  return type == MappingType::write_combining || type == MappingType::cached || type == MappingType::device;
}

tl::unexpected<base::Error> pin_refused(const GdrdrvPin::Range& range, int error) noexcept {
  constexpr const char* step = "the gdrdrv kernel module cannot pin";
  switch (error) {
    case EINVAL:
      return base::fail(EINVAL,
                        "%s 0x%" PRIx64 " + %" PRIu64
                        ": not device memory (freed, never allocated, host or managed memory), past its allocation, or "
                        "not allocated for GPUDirect RDMA",
                        step, range.page_address, range.page_bytes);
    case EOPNOTSUPP:
      return base::fail(EOPNOTSUPP, "%s 0x%" PRIx64 ": the GPU or the kind of memory does not support it", step,
                        range.page_address);
    case ENOMEM:
      return base::fail(ENOMEM,
                        "%s %" PRIu64 " KiB at 0x%" PRIx64
                        ": BAR1 or a limit of the module is used up, by all processes together; unpin something",
                        step, range.page_bytes / 1024, range.page_address);
    case EACCES:
      return base::fail(EACCES, "%s for this process: another process opened %s; open a context of your own", step,
                        node);
    default:
      return base::fail(error == EPERM || error == EMFILE ? error : EIO, "%s 0x%" PRIx64 " + %" PRIu64 ": %s", step,
                        range.page_address, range.page_bytes, std::strerror(error));
  }
}

}  // namespace

GdrdrvPin::GdrdrvPin(ModuleFile& file, const Range& range, std::string device) noexcept : file_(file) {
  page_address_ = range.page_address;
  page_bytes_ = static_cast<std::size_t>(range.page_bytes);
  device_ = std::move(device);
}

base::Result<std::unique_ptr<BackendPin>> GdrdrvPin::create(ModuleFile& file, const Range& range,
                                                            const std::string& device) {
  // The record first: what the module gave must have an owner.
  std::unique_ptr<GdrdrvPin> pin(new GdrdrvPin(file, range, device));
  if (base::Status taken = pin->take(range); !taken) return base::pass(taken);
  return std::unique_ptr<BackendPin>(std::move(pin));
}

base::Status GdrdrvPin::take(const Range& range) noexcept {
  const int result = file_.pin(range.page_address, range.page_bytes, range.force_pcie, &handle_);
  if (result < 0) return pin_refused(range, -result);
  is_pinned_ = true;
  return check_state();
}

/// Later calls compute with these figures, and users read them.
base::Status GdrdrvPin::check_state() noexcept {
  PinState state;
  if (const int result = file_.state(handle_, &state); result < 0) {
    return base::fail(EIO, "cannot read back a pin from the gdrdrv kernel module: %s", std::strerror(-result));
  }
  cost_ = {state.pin_cycles, state.tsc_khz};
  std::int64_t offset = 0;
  const bool is_as_asked = state.address == page_address_ && state.mapped_bytes == page_bytes_ &&
                           state.page_bytes == gpu_page_bytes && state.mapping_type == 0;
  if (is_as_asked && offset_of(handle_, page_bytes_, &offset)) return {};
  return base::fail(EIO,
                    "the gdrdrv kernel module pinned 0x%" PRIx64 " + %" PRIu64 " in pages of %u as handle 0x%" PRIx64
                    ", mapping type %u, where unmapped 0x%" PRIx64 " + %zu was requested",
                    state.address, state.mapped_bytes, state.page_bytes, handle_, state.mapping_type, page_address_,
                    page_bytes_);
}

base::Result<MappedRegion> GdrdrvPin::map(std::size_t size_bytes, MappingType requested) noexcept {
  if (requested != MappingType::none && !is_known(requested)) {
    return base::fail(EOPNOTSUPP, "invalid mapping type %u", static_cast<unsigned>(requested));
  }
  const auto length = length_to_map(*this, size_bytes, address_);
  if (!length) return base::pass(length);
  if (!is_pinned_) return base::fail(EINVAL, "cannot map 0x%" PRIx64 ": it is not pinned any more", page_address_);
  base::Status mapped = ask_for(requested);
  if (mapped) mapped = map_pages(*length);
  base::Result<MappingType> type = mapped ? read_type(requested) : base::Result<MappingType>(base::pass(mapped));
  if (type) return MappedRegion{address_, *length, *type, Verification::none};
  if (address_ != nullptr) (void)unmap();
  return base::pass(type);
}

base::Status GdrdrvPin::ask_for(MappingType requested) noexcept {
  const bool is_default = requested == MappingType::none && !has_asked_for_type_;
  if (is_default || !file_.version().has_requests()) return {};
  const int result = file_.request_mapping_type(handle_, static_cast<std::uint32_t>(requested));
  if (result >= 0) {
    has_asked_for_type_ = requested != MappingType::none;
    return {};
  }
  if (result == -EOPNOTSUPP) {
    return base::fail(EOPNOTSUPP, "the gdrdrv kernel module cannot map this memory %s on this machine",
                      name_of(requested));
  }
  return base::fail(-result == EINVAL || -result == EACCES ? -result : EIO,
                    "cannot request a %s mapping from the gdrdrv kernel module: %s", name_of(requested),
                    std::strerror(-result));
}

base::Status GdrdrvPin::map_pages(std::size_t bytes) noexcept {
  void* mapped = nullptr;
  if (const int result = file_.map(handle_, bytes, &mapped); result < 0) {
    if (is_invalidated()) {
      return base::fail(EINVAL, "cannot map 0x%" PRIx64 ": the memory was freed by its owner; unpin it", page_address_);
    }
    return base::fail(-result, "cannot map: mmap of %zu bytes of %s (handle 0x%" PRIx64 "): %s", bytes, node, handle_,
                      std::strerror(-result));
  }
  address_ = mapped;
  mapped_bytes_ = bytes;
  return keep_from_children(file_.system(), mapped, bytes);  // what the module does too
}

/// The type decides how the memory may be accessed, so the module must report a type of the list.
base::Result<MappingType> GdrdrvPin::read_type(MappingType requested) noexcept {
  PinState state;
  if (const int result = file_.state(handle_, &state); result < 0) {
    return base::fail(EIO, "cannot read the mapping type from the gdrdrv kernel module: %s", std::strerror(-result));
  }
  const auto type = static_cast<MappingType>(state.mapping_type);
  if (state.mapping_type > static_cast<unsigned>(MappingType::device) || !is_known(type)) {
    if (is_invalidated()) {
      return base::fail(EINVAL, "cannot map 0x%" PRIx64 ": the memory was freed by its owner while it was being mapped",
                        page_address_);
    }
    return base::fail(EIO, "the gdrdrv kernel module reports the invalid mapping type %u", state.mapping_type);
  }
  if (requested == MappingType::none || requested == type) return type;
  return base::fail(EOPNOTSUPP,
                    "gdrdrv %u.%u maps this memory %s, not %s; install a newer version or use another mapping type",
                    file_.version().major_number(), file_.version().minor_number(), name_of(type), name_of(requested));
}

base::Status GdrdrvPin::unmap() noexcept {
  if (address_ == nullptr) return base::fail(EINVAL, "cannot unmap 0x%" PRIx64 ": it is not mapped", page_address_);
  if (const int result = driver::as_user_errno(file_.system().munmap(address_, mapped_bytes_)); result < 0) {
    return base::fail(-result, "cannot unmap: munmap of the mapping: %s", std::strerror(-result));
  }
  address_ = nullptr;
  return {};
}

base::Status GdrdrvPin::unpin() noexcept {
  base::Status unmapped;
  if (address_ != nullptr) unmapped = unmap();
  if (!is_pinned_) return unmapped;
  is_pinned_ = false;
  // Also where munmap failed: the module takes the pages out of the mapping before it gives them back, so that what
  // stays mapped shows nothing.
  address_ = nullptr;
  const int result = file_.unpin(handle_);
  if (!unmapped || result >= 0) return unmapped;
  return base::fail(-result, "the gdrdrv kernel module cannot unpin handle 0x%" PRIx64 ": %s", handle_,
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

void GdrdrvPin::abandon_after_fork() noexcept {
  address_ = nullptr;  // not inherited: the address may belong to something else in this process now
  is_pinned_ = false;
}

}  // namespace gdrkit::backend::gdrdrv
