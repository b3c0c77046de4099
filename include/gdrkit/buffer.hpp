// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#ifndef GDRKIT_BUFFER_HPP
#define GDRKIT_BUFFER_HPP

#include <gdrkit/buffer.h>
#include <gdrkit/bytes.hpp>
#include <gdrkit/detail/owner.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <utility>

/// @file
/// @brief Buffer: device memory from the library.

namespace gdrkit {

/// @brief Device memory for programs without CUDA code; see gdrkit_buffer_allocate().
///
/// It keeps its context alive. The destructor frees the memory and ignores errors. Pins of the memory remain, as after
/// cudaFree.
/// @code{.cpp}
/// void clear(gdrkit::Buffer& buffer) {
///   buffer.copy_from_host(0, std::vector<std::byte>(buffer.size()));
/// }
/// @endcode
class Buffer {
 public:
  /// @brief Returns the device address.
  /// @return The device address of the first byte.
  [[nodiscard]] std::uint64_t device_address() const noexcept { return device_address_; }
  /// @brief Returns the size.
  /// @return In bytes.
  [[nodiscard]] std::size_t size() const noexcept { return size_bytes_; }
  /// @brief Returns the device.
  /// @return CUDA device ordinal, from 0.
  [[nodiscard]] int device() const noexcept { return device_; }

  /// @brief Copies from the host through the CUDA driver, and returns when the copy is complete.
  /// @param[in] offset  In bytes; offset plus the size of the source is at most size().
  /// @param[in] source  Any Bytes except a string literal.
  /// @throws Error  The errors of gdrkit_buffer_copy_from_host().
  template <Bytes Source>
  void copy_from_host(std::size_t offset, Source&& source) {
    const std::size_t size_bytes = detail::size_bytes_of<Source>(source);
    detail::check(gdrkit_buffer_copy_from_host(owner_.get(), offset, std::ranges::data(source), size_bytes));
  }
  /// @brief Copies to the host through the CUDA driver, and returns when the copy is complete.
  /// @param[in]  offset  In bytes; offset plus the size of the target is at most size().
  /// @param[out] target  Any WritableBytes.
  /// @throws Error  The errors of gdrkit_buffer_copy_to_host().
  template <WritableBytes Target>
  void copy_to_host(std::size_t offset, Target&& target) const {
    const std::size_t size_bytes = detail::size_bytes_of<Target>(target);
    detail::check(gdrkit_buffer_copy_to_host(owner_.get(), offset, std::ranges::data(target), size_bytes));
  }
  /// @brief Returns the handle, for calls of the C API.
  /// @return The handle; 0 after free() or a move.
  [[nodiscard]] gdrkit_buffer_t handle() const noexcept { return owner_.get(); }

  /// @brief Frees the memory now.
  /// @throws Error  The errors of gdrkit_buffer_free().
  void free() { owner_.close(); }

 private:
  friend class Context;
  Buffer(std::shared_ptr<detail::OwnedContext> context, gdrkit_buffer_t buffer)
      : context_(std::move(context)), owner_(buffer) {
    gdrkit_buffer_info info{};
    info.struct_size = sizeof info;
    detail::check(gdrkit_buffer_get_info(buffer, &info));
    device_address_ = info.device_address;
    size_bytes_ = static_cast<std::size_t>(info.size_bytes);
    device_ = info.device;
  }

  std::shared_ptr<detail::OwnedContext> context_;
  detail::Owner<gdrkit_buffer_t, gdrkit_buffer_free> owner_;
  std::uint64_t device_address_ = 0;
  std::size_t size_bytes_ = 0;
  int device_ = 0;
};

}  // namespace gdrkit

#endif
