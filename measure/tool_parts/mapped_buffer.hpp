// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MappedBuffer: device memory, pinned and mapped through the drop-in library like in its callers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "gdrapi.h"
#include "platform/device/device.hpp"

namespace gdrkit::measure {

/// The words that GDRCopy's options accept.
inline constexpr const char* allocation_mem_alloc = "cuMemAlloc";
inline constexpr const char* allocation_mem_create = "cuMemCreate";

/// Device memory that starts on a GPU page, and has at least the size rounded up to GPU pages.
class AlignedAllocation {
 public:
  /// Throws Failure: cannot_run for a kind that the device does not support; for a size that does not fit, the
  /// available size. `device` must outlive it.
  AlignedAllocation(platform::Device* device, platform::AllocationKind kind, std::size_t size_bytes);
  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] std::size_t rounded_bytes() const noexcept { return rounded_bytes_; }
  [[nodiscard]] const platform::Device& device() const noexcept { return *device_; }
  void free();

 private:
  platform::Device* device_;
  platform::Allocation allocation_;
  std::uint64_t address_ = 0;
  std::size_t size_bytes_ = 0;
  std::size_t rounded_bytes_ = 0;
};

/// "cuMemAlloc" or "cuMemCreate".
[[nodiscard]] platform::AllocationKind allocation_kind(const std::string& gdrcopy_word);
/// Of "default", "wc", "cache" and "device".
[[nodiscard]] gdr_map_flags_t mapping_flag(const std::string& gdrcopy_word);

struct CloseDropIn {
  void operator()(gdr_t context) const noexcept { (void)gdr_close(context); }
};
/// The drop-in library, open during the object's lifetime. Closing it unpins what a failure left pinned.
using DropIn = std::unique_ptr<std::remove_pointer_t<gdr_t>, CloseDropIn>;
/// Throws Failure: GDRCopy's message, then every backend's reason.
[[nodiscard]] DropIn open_drop_in();

/// "Cannot allocate memory (12)"
[[nodiscard]] std::string errno_text(int error);

/// One pinned and mapped buffer. The steps are separate because the tools print between them.
class MappedBuffer {
 public:
  /// Opens, pins and maps all of `memory`, which must outlive it. Throws Failure.
  MappedBuffer(const AlignedAllocation& memory, gdr_map_flags_t mapping_type);

  [[nodiscard]] gdr_t context() const noexcept { return context_.get(); }
  [[nodiscard]] gdr_mh_t handle() const noexcept { return handle_; }
  [[nodiscard]] void* mapping() const noexcept { return mapping_; }  ///< of the first pinned page
  [[nodiscard]] const gdr_info_t& info() const noexcept { return info_; }
  [[nodiscard]] std::string mapping_type() const;  ///< GDRCopy's words: "Write Combining"
  /// Bytes between the first pinned page and the buffer.
  [[nodiscard]] std::size_t page_offset() const noexcept { return page_offset_; }
  /// CPU address of the buffer's first byte.
  [[nodiscard]] std::uint8_t* user_pointer() const noexcept {
    return static_cast<std::uint8_t*>(mapping_) + page_offset_;
  }

  void unmap();
  void unpin();
  void close();

 private:
  DropIn context_;
  gdr_mh_t handle_{};
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  gdr_info_t info_{};
  std::size_t page_offset_ = 0;
};

}  // namespace gdrkit::measure
