// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#ifndef GDRKIT_PIN_HPP
#define GDRKIT_PIN_HPP

#include <gdrkit/pin.h>
#include <gdrkit/detail/owner.hpp>
#include <gdrkit/map_options.hpp>
#include <gdrkit/mapping.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

/// @file
/// @brief Pin: device memory that can be mapped.

namespace gdrkit {

/// @brief Device memory that stays in place. It can have one mapping at a time.
///
/// It keeps its context alive. The memory is unpinned when the pin and its mapping are destroyed; errors are ignored
/// then. A mapping stays valid if its pin is destroyed or assigned to.
/// @note All functions may be called from several threads. No thread may unpin, move or destroy the pin meanwhile.
/// @code{.cpp}
/// gdrkit::Mapping map_column(const gdrkit::Context& context, void* device_pointer, std::size_t size_bytes) {
///   return context.pin(device_pointer, size_bytes).map({.engine = gdrkit::Engine::automatic});
/// }
/// @endcode
class Pin {
 public:
  /// @brief Takes over the memory of another pin, which is empty afterwards.
  Pin(Pin&&) noexcept = default;
  /// @brief Releases its memory, and takes over that of another pin.
  /// @return This pin.
  Pin& operator=(Pin&&) noexcept = default;

  /// @brief Maps the memory.
  /// @param[in] options  Mapping type and engine.
  /// @return The mapping, which keeps the memory pinned.
  /// @throws Error  The errors of gdrkit_map(); EAGAIN: it is mapped already.
  [[nodiscard]] Mapping map(const MapOptions& options = {}) const {
    gdrkit_map_options given{};
    given.struct_size = sizeof given;
    given.mapping_type = static_cast<std::int32_t>(options.type);
    given.engine = static_cast<std::int32_t>(options.engine);
    void* address = nullptr;
    detail::check(gdrkit_map(handle(), &given, &address));
    return Mapping(owner_, address);
  }

  /// @brief Describes the pin.
  /// @return The description.
  /// @throws Error  The errors of gdrkit_get_pin_info().
  [[nodiscard]] gdrkit_pin_info info() const {
    gdrkit_pin_info info{};
    info.struct_size = sizeof info;
    detail::check(gdrkit_get_pin_info(handle(), &info));
    return info;
  }
  /// @brief Reports whether freeing the memory invalidated the mapping; see gdrkit_is_invalidated().
  /// @return true if it did.
  /// @throws Error  The errors of gdrkit_is_invalidated().
  [[nodiscard]] bool is_invalidated() const {
    const int result = gdrkit_is_invalidated(handle());
    detail::check(result);
    return result != 0;
  }
  /// @brief Returns the size.
  /// @return In bytes; 0 after a move.
  [[nodiscard]] std::size_t size() const noexcept { return owner_ != nullptr ? owner_->size_bytes : 0; }
  /// @brief Returns the handle, for calls of the C API.
  /// @return The handle; 0 after unpin() or a move.
  [[nodiscard]] gdrkit_pin_t handle() const noexcept { return owner_ != nullptr ? owner_->pin.get() : gdrkit_pin_t{}; }

  /// @brief Unpins now, even if a mapping exists. Later copies through the mapping throw EINVAL.
  /// @throws Error  The errors of gdrkit_unpin().
  void unpin() {
    if (owner_ != nullptr) owner_->pin.close();
  }

 private:
  friend class Context;
  Pin(std::shared_ptr<detail::OwnedContext> context, gdrkit_pin_t pin, std::size_t size_bytes) {
    detail::Owner<gdrkit_pin_t, gdrkit_unpin> owner(pin);  // unpins if make_shared throws
    owner_ = std::make_shared<detail::OwnedPin>(detail::OwnedPin{std::move(context), std::move(owner), size_bytes});
  }

  std::shared_ptr<detail::OwnedPin> owner_;
};

}  // namespace gdrkit

#endif
