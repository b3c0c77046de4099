// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#ifndef GDRKIT_MAPPING_HPP
#define GDRKIT_MAPPING_HPP

#include <gdrkit/copy.h>
#include <gdrkit/bytes.hpp>
#include <gdrkit/detail/owner.hpp>
#include <gdrkit/map_options.hpp>
#include <gdrkit/started_copy.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

/// @file
/// @brief Mapping: device memory in this process's address space.

namespace gdrkit {

/// @brief One segment of a copy to the device: {offset, source, size_bytes}.
using WriteSegment = gdrkit_write_segment;
/// @brief One segment of a copy from the device: {offset, target, size_bytes}.
using ReadSegment = gdrkit_read_segment;

/// @brief Device memory in this process's address space. Offsets are in bytes from the first byte of the pin.
///
/// It keeps its pin and its context alive. The destructor unmaps and ignores errors.
/// @note Threads may copy through one mapping at the same time. No thread may unmap, move or destroy it meanwhile.
/// @code{.cpp}
/// void announce(gdrkit::Mapping& map, const std::vector<float>& values) {
///   map.write(64, values);
///   map.store_flag<std::uint32_t>(0, 1);  // visible after the values
/// }
/// @endcode
class Mapping {
 public:
  /// @brief Returns the mapped memory.
  ///
  /// Plain loads of a write-combining mapping are slow; read() loads whole lines. Plain stores need a store fence
  /// (_mm_sfence) before a flag that announces them.
  /// @return All of it; empty after unmap() or a move.
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return bytes_; }
  /// @brief Returns the mapped memory, for loads.
  /// @return All of it; empty after unmap() or a move.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// @brief Returns the size.
  /// @return In bytes; 0 after unmap() or a move.
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

  /// @brief Copies from the host to the device. The stores have left this CPU core when the call returns.
  ///
  /// Earlier stores to host memory are ordered before the copy only if the caller executes a store fence (_mm_sfence)
  /// or another write() in between.
  /// @param[in] offset  In bytes; offset plus the size of the source is at most size().
  /// @param[in] source  Any Bytes. A string literal does not compile, because its terminating zero would be copied.
  ///                    Pass a std::string_view, or a std::span to copy the zero as well.
  /// @throws Error  The errors of gdrkit_write().
  template <Bytes Source>
  void write(std::size_t offset, Source&& source) {
    const std::size_t size_bytes = detail::size_bytes_of<Source>(source);
    detail::check(gdrkit_write(pin_, offset, std::ranges::data(source), size_bytes));
  }

  /// @brief Copies from the device to the host. The data is no older than the call.
  /// @param[in]  offset  In bytes; offset plus the size of the target is at most size().
  /// @param[out] target  Any WritableBytes.
  /// @throws Error  The errors of gdrkit_read().
  template <WritableBytes Target>
  void read(std::size_t offset, Target&& target) const {
    const std::size_t size_bytes = detail::size_bytes_of<Target>(target);
    detail::check(gdrkit_read(pin_, offset, std::ranges::data(target), size_bytes));
  }

  /// @brief Stores one value with one instruction, after everything that this thread wrote by write().
  ///
  /// Name the type, as in store_flag<std::uint32_t>(0, 1): the type of a literal could have another size. Stores
  /// through bytes() may still be in write-combining buffers: a store fence (_mm_sfence) must follow them.
  /// @param[in] offset  In bytes, naturally aligned, inside the mapping.
  /// @param[in] value   The value to store.
  /// @throws Error  EINVAL: the address is not naturally aligned, and the errors of gdrkit_write().
  template <FlagValue T>
  void store_flag(std::size_t offset, std::type_identity_t<T> value) {
    check_alignment(offset, sizeof(T));
    detail::check(gdrkit_write(pin_, offset, &value, sizeof value));
  }

  /// @brief Loads one value with one instruction. Each call loads it anew, so that a loop may poll it.
  ///
  /// Later loads of this thread see what the writer stored before the value.
  /// @param[in] offset  In bytes, naturally aligned, inside the mapping.
  /// @return The value.
  /// @throws Error  EINVAL: the address is not naturally aligned, and the errors of gdrkit_read().
  template <FlagValue T>
  [[nodiscard]] T load_flag(std::size_t offset) const {
    check_alignment(offset, sizeof(T));
    T value;
    detail::check(gdrkit_read(pin_, offset, &value, sizeof value));
    return value;
  }

  /// @brief Copies several segments to the device; see gdrkit_write_segments().
  /// @param[in] segments  The segments.
  /// @throws Error  The errors of gdrkit_write_segments().
  void write_segments(std::span<const WriteSegment> segments) {
    detail::check(gdrkit_write_segments(pin_, segments.data(), segments.size()));
  }
  /// @brief Copies several segments from the device; see gdrkit_read_segments().
  /// @param[in] segments  The segments.
  /// @throws Error  The errors of gdrkit_read_segments().
  void read_segments(std::span<const ReadSegment> segments) const {
    detail::check(gdrkit_read_segments(pin_, segments.data(), segments.size()));
  }
  /// @brief Starts a copy to the device; see gdrkit_start_write().
  /// @param[in] segments  The segments. The array may be reused when the call returns.
  /// @return The copy, which is complete once it is finished.
  /// @throws Error  The errors of gdrkit_start_write().
  [[nodiscard]] StartedCopy start_write(std::span<const WriteSegment> segments) {
    return start(gdrkit_start_write, segments);
  }
  /// @brief Starts a copy from the device; see gdrkit_start_read().
  /// @param[in] segments  The segments. The array may be reused when the call returns.
  /// @return The copy, which is complete once it is finished.
  /// @throws Error  The errors of gdrkit_start_read().
  [[nodiscard]] StartedCopy start_read(std::span<const ReadSegment> segments) const {
    return start(gdrkit_start_read, segments);
  }

  /// @brief Reports whether freeing the memory invalidated the mapping; see gdrkit_is_invalidated().
  /// @return true if it did.
  /// @throws Error  The errors of gdrkit_is_invalidated().
  [[nodiscard]] bool is_invalidated() const {
    const int result = gdrkit_is_invalidated(pin_);
    detail::check(result);
    return result != 0;
  }
  /// @brief Returns the pin's handle, for calls of the C API.
  /// @return The handle; 0 after unmap() or a move.
  [[nodiscard]] gdrkit_pin_t handle() const noexcept { return pin_; }

  /// @brief Unmaps the memory. Does nothing if it is already unmapped.
  /// @throws Error  The errors of gdrkit_unmap().
  void unmap() {
    bytes_ = {};
    const std::shared_ptr<detail::OwnedPin> kept = std::move(owner_);
    const gdrkit_pin_t pin = std::exchange(pin_, gdrkit_pin_t{});
    if (pin.value != 0) detail::check(gdrkit_unmap(pin));
  }

  /// @brief Takes the memory of another mapping.
  /// @param[in,out] other  The other mapping, which is empty afterwards.
  Mapping(Mapping&& other) noexcept
      : owner_(std::move(other.owner_)),
        pin_(std::exchange(other.pin_, gdrkit_pin_t{})),
        bytes_(std::exchange(other.bytes_, std::span<std::byte>{})) {}
  /// @brief Unmaps, and takes the memory of another mapping.
  /// @param[in,out] other  The other mapping, which is empty afterwards.
  /// @return This mapping.
  Mapping& operator=(Mapping&& other) noexcept {
    Mapping taken(std::move(other));
    std::swap(owner_, taken.owner_);
    std::swap(pin_, taken.pin_);
    std::swap(bytes_, taken.bytes_);
    return *this;
  }
  ~Mapping() {
    if (pin_.value != 0) (void)gdrkit_unmap(pin_);
  }

 private:
  friend class Pin;
  Mapping(std::shared_ptr<detail::OwnedPin> owner, void* address) noexcept
      : owner_(std::move(owner)),
        pin_(owner_->pin.get()),
        bytes_(static_cast<std::byte*>(address), owner_->size_bytes) {}

  template <class Call, class Segment>
  [[nodiscard]] StartedCopy start(Call call, std::span<const Segment> segments) const {
    gdrkit_copy_t copy{};
    detail::check(call(pin_, segments.data(), segments.size(), &copy));
    return StartedCopy(copy);
  }
  void check_alignment(std::size_t offset, std::size_t alignment) const {
    if ((reinterpret_cast<std::uintptr_t>(bytes_.data()) + offset) % alignment != 0) {
      const std::string text = "cannot access a flag at offset " + std::to_string(offset) +
                               ": its address is not a multiple of " + std::to_string(alignment);
      throw Error(EINVAL, text.c_str());
    }
  }

  std::shared_ptr<detail::OwnedPin> owner_;
  gdrkit_pin_t pin_{};
  std::span<std::byte> bytes_;
};

}  // namespace gdrkit

#endif
