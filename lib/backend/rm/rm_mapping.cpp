// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/rm_mapping.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "backend/rm/rm_status.hpp"

namespace gdrkit::backend::rm {
namespace {

cpu::MappingType type_of(std::uint32_t flags, bool reports_caching_type) noexcept {
  if (!reports_caching_type) return cpu::MappingType::write_combining;
  const std::uint32_t caching = (flags >> caching_shift) & caching_mask;
  if (caching == caching_cached) return cpu::MappingType::cached;
  // Uncached memory requires naturally aligned scalar accesses, as type "device" does.
  return caching == caching_write_combined ? cpu::MappingType::write_combining : cpu::MappingType::device;
}

tl::unexpected<base::Error> bar1_is_full(const RmDevice& device, const base::Error& error, std::size_t length,
                                         std::uint32_t fb_info_bytes) noexcept {
  const auto status = static_cast<std::uint32_t>(error.vendor_code);
  char use[80] = "";
  if (const auto figures = device.bar1(fb_info_bytes)) {
    std::snprintf(use, sizeof use, "%u of %u MiB free, largest piece %u MiB; ", figures->available_mib,
                  figures->size_mib, figures->contiguous_mib);
  }
  return base::fail_vendor(
      ENOMEM, error.vendor_code,
      "cannot map %zu KiB: BAR1 of %s is full (%sstatus 0x%x, %s); unpin other buffers, pin a smaller "
      "range or enable resizable BAR",
      length / 1024, device.pci().c_str(), use, status, status_name(status));
}

}  // namespace

RmMapping::~RmMapping() {
  (void)unmap();
  // Pages that cannot be unmapped still refer to this memory, so it must never be reused.
  if (address_ != nullptr) device_.client().keep_until_exit();
}

base::Status RmMapping::map(const std::vector<OwnedPiece>& pieces, std::size_t size_bytes) noexcept {
  mapped_ = take_parts();
  if (mapped_.size_bytes != size_bytes) (void)release_parts();
  try {
    mapped_.parts.reserve(pieces.size());
  } catch (...) {
    return base::fail_literal(ENOMEM, "out of memory while mapping device memory");
  }
  mapped_.size_bytes = size_bytes;
  const bool is_one_piece = !pieces.empty() && pieces[0].size_bytes >= size_bytes;
  if (is_one_piece) return map_part(0, pieces[0], 0, size_bytes);
  if (auto reserved = reserve(size_bytes); !reserved) return reserved;
  std::size_t at = 0;
  for (std::size_t index = 0; at < size_bytes; ++index) {
    const OwnedPiece& piece = pieces[index];
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size_bytes, size_bytes - at));
    if (auto mapped = map_part(index, piece, at, length); !mapped) return mapped;
    at += length;
  }
  return {};
}

/// Several pieces: reserves the whole address range first, so that they become contiguous without a race against other
/// mmaps.
base::Status RmMapping::reserve(std::size_t size_bytes) noexcept {
  void* reserved = nullptr;
  const int result =
      system_.mmap(nullptr, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0, &reserved);
  if (result < 0)
    return base::fail(-result, "cannot reserve %zu bytes of address space: %s", size_bytes, std::strerror(-result));
  address_ = static_cast<std::uint8_t*>(reserved);
  size_bytes_ = size_bytes;
  return {};
}

base::Status RmMapping::map_part(std::size_t index, const OwnedPiece& piece, std::size_t at,
                                 std::size_t length) noexcept {
  if (index == mapped_.parts.size()) {
    if (auto added = add_part(piece, length); !added) return added;
  }
  void* mapped = nullptr;
  const bool is_reserved = address_ != nullptr;
  const int result =
      system_.mmap(is_reserved ? address_ + at : nullptr, length, PROT_READ | PROT_WRITE,
                   MAP_SHARED | (is_reserved ? MAP_FIXED : 0), mapped_.parts[index].device_fd, 0, &mapped);
  if (result < 0) {
    return base::fail(-result, "cannot map %zu bytes: mmap of /dev/nvidia%u: %s", length, device_.minor(),
                      std::strerror(-result));
  }
  if (!is_reserved) {
    address_ = static_cast<std::uint8_t*>(mapped);
    size_bytes_ = length;
  }
  return keep_from_children(system_, mapped, length);
}

/// If BAR1 or descriptors are exhausted, releases the kept mappings. It then tries again even if there were none,
/// because another thread may have released them.
base::Status RmMapping::add_part(const OwnedPiece& piece, std::size_t length) noexcept {
  base::Status added = try_add_part(piece, length);
  const bool is_exhausted = !added && (added.error().errno_value == ENOMEM || added.error().errno_value == EMFILE);
  if (!is_exhausted) return added;
  (void)device_.kept().release_all();
  return try_add_part(piece, length);
}

base::Status RmMapping::try_add_part(const OwnedPiece& piece, std::size_t length) noexcept {
  auto file = device_.client().open_device_file(device_.minor());
  if (!file) return base::pass(file);
  MappedPart part{device_.device(), piece.object, *file, device_.minor(), 0};
  if (auto mapped = rm_map(part, piece, length); !mapped) {
    system_.close(part.device_fd);
    return mapped;
  }
  mapped_.parts.push_back(part);
  return {};
}

base::Status RmMapping::rm_map(MappedPart& part, const OwnedPiece& piece, std::size_t length) noexcept {
  auto mapped = device_.client().map(device_.device(), piece.object, piece.offset, length, part.device_fd);
  if (!mapped) {
    const auto status = static_cast<std::uint32_t>(mapped.error().vendor_code);
    if (status == status::insufficient_resources || status == status::no_memory) {
      return bar1_is_full(device_, mapped.error(), length, layout_.fb_info_bytes);
    }
    if (status == status::not_supported) {
      return base::fail_vendor(
          EOPNOTSUPP, mapped.error().vendor_code,
          "cannot map the memory through BAR1: the memory is protected or multicast, or confidential "
          "computing is on (RM_MAP_MEMORY: status 0x%x, %s)",
          status, status_name(status));
    }
    return base::pass(mapped);
  }
  part.linear_address = mapped->linear_address;
  const cpu::MappingType type = type_of(mapped->flags, layout_.reports_caching_type);
  if (mapped_.type != cpu::MappingType::none && mapped_.type != type) {
    (void)device_.client().unmap(device_.device(), part.object, part.linear_address);
    return base::fail(EIO, "cannot map the range: the driver reports different caching types for parts of the range");
  }
  mapped_.type = type;
  return {};
}

base::Status RmMapping::unmap_pages() noexcept {
  if (address_ == nullptr) return {};
  if (const int result = system_.munmap(address_, size_bytes_); result < 0) {
    // Pages may still be mapped. If the BAR1 mapping were released now, they could expose another allocation.
    return base::fail(-result,
                      "cannot unmap the memory: munmap: %s; the memory occupies BAR1 until a later unmap succeeds or "
                      "the process ends",
                      std::strerror(-result));
  }
  address_ = nullptr;
  size_bytes_ = 0;
  return {};
}

MappedParts RmMapping::take_parts() noexcept {
  if (!std::exchange(is_kept_, false)) return std::exchange(mapped_, {});
  return device_.kept().take(this).value_or(MappedParts());
}

base::Status RmMapping::unmap() noexcept {
  if (auto unmapped = unmap_pages(); !unmapped) return unmapped;
  return release_parts();
}

base::Status RmMapping::unmap_and_keep() noexcept {
  if (auto unmapped = unmap_pages(); !unmapped) return unmapped;
  if (mapped_.parts.empty()) return {};
  is_kept_ = device_.kept().keep(this, mapped_);
  return is_kept_ ? base::Status() : release_parts();
}

base::Status RmMapping::release_parts() noexcept {
  const MappedParts mapping = take_parts();
  return mapping.parts.empty() ? base::Status() : device_.kept().release(mapping);
}

base::Status RmMapping::close_files() noexcept {
  const MappedParts mapping = take_parts();
  return mapping.parts.empty() ? base::Status() : device_.kept().close_files(mapping);
}

void RmMapping::abandon_after_fork() noexcept {
  for (const MappedPart& part : mapped_.parts) system_.close(part.device_fd);
  mapped_.parts.clear();
  address_ = nullptr;  // not inherited: this process may use the address for another mapping
}

}  // namespace gdrkit::backend::rm
