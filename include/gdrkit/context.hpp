// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#ifndef GDRKIT_CONTEXT_HPP
#define GDRKIT_CONTEXT_HPP

#include <gdrkit/context.h>
#include <unistd.h>
#include <gdrkit/buffer.hpp>
#include <gdrkit/detail/owner.hpp>
#include <gdrkit/mapping.hpp>
#include <gdrkit/pin.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

/// @file
/// @brief Context: the backend that pins and maps. gdrkit::map() is for programs that need only a default context.

namespace gdrkit {

/// @brief Options of Context.
struct ContextOptions {
  std::string backend{};      ///< name of the backend; empty: $GDRKIT_BACKEND, else the first that can run
  std::string copy_kernel{};  ///< name of the copy kernel; empty: $GDRKIT_COPY_KERNEL, else the best for this CPU
};

/// @brief An open backend.
///
/// Pins, mappings and buffers keep it open: it is closed when the last of them and the context itself are destroyed.
/// Errors are ignored then.
/// @note All functions may be called from several threads. No thread may close, move or destroy it meanwhile.
/// @code{.cpp}
/// void fill(std::size_t size_bytes) {
///   gdrkit::Context context;
///   gdrkit::Buffer buffer = context.allocate(size_bytes);
///   context.map(buffer).write(0, std::vector<std::byte>(size_bytes, std::byte{1}));
/// }
/// @endcode
class Context {
 public:
  /// @brief Opens the first backend that can run, or the one that $GDRKIT_BACKEND names.
  /// @throws Error  The errors of gdrkit_open(); ENODEV: no backend can run.
  Context() : Context(ContextOptions{}) {}
  /// @brief Opens a backend.
  /// @param[in] options  Backend and copy kernel.
  /// @throws Error  The errors of gdrkit_open().
  explicit Context(const ContextOptions& options) : owner_(std::make_shared<detail::OwnedContext>()) {
    gdrkit_open_options given{};
    given.struct_size = sizeof given;
    given.backend = options.backend.empty() ? nullptr : options.backend.c_str();
    given.copy_kernel = options.copy_kernel.empty() ? nullptr : options.copy_kernel.c_str();
    gdrkit_context_t context{};
    detail::check(gdrkit_open(&given, &context));
    *owner_ = detail::OwnedContext(context);
  }

  /// @brief Takes over the backend of another context, which is empty afterwards.
  Context(Context&&) noexcept = default;
  /// @brief Releases its backend, and takes over that of another context.
  /// @return This context.
  Context& operator=(Context&&) noexcept = default;

  /// @brief Pins device memory.
  /// @param[in] device_address  Device address of the first byte, of any alignment.
  /// @param[in] size_bytes      At least 1; the range lies in one allocation.
  /// @return The pin.
  /// @throws Error  The errors of gdrkit_pin().
  [[nodiscard]] Pin pin(std::uint64_t device_address, std::size_t size_bytes) const {
    gdrkit_pin_t pin{};
    detail::check(gdrkit_pin(handle(), device_address, size_bytes, &pin));
    return Pin(owner_, pin, size_bytes);
  }
  /// @brief Pins device memory.
  /// @param[in] device_pointer  The first byte, of any alignment.
  /// @param[in] size_bytes      At least 1; the range lies in one allocation.
  /// @return The pin.
  /// @throws Error  The errors of gdrkit_pin().
  [[nodiscard]] Pin pin(const void* device_pointer, std::size_t size_bytes) const {
    return pin(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(device_pointer)), size_bytes);
  }
  /// @brief Pins all of a buffer.
  /// @param[in] buffer  The buffer, of any context.
  /// @return The pin.
  /// @throws Error  The errors of gdrkit_pin().
  [[nodiscard]] Pin pin(const Buffer& buffer) const { return pin(buffer.device_address(), buffer.size()); }

  /// @brief Pins and maps device memory.
  /// @param[in] device_pointer  The first byte, of any alignment.
  /// @param[in] size_bytes      At least 1; the range lies in one allocation.
  /// @param[in] options         Mapping type and engine.
  /// @return The mapping, which keeps the memory pinned and the context open.
  /// @throws Error  The errors of gdrkit_pin() and gdrkit_map().
  [[nodiscard]] Mapping map(const void* device_pointer, std::size_t size_bytes, const MapOptions& options = {}) const {
    return pin(device_pointer, size_bytes).map(options);
  }
  /// @brief Pins and maps device memory.
  /// @param[in] device_address  The first byte, of any alignment.
  /// @param[in] size_bytes      At least 1; the range lies in one allocation.
  /// @param[in] options         Mapping type and engine.
  /// @return The mapping, which keeps the memory pinned and the context open.
  /// @throws Error  The errors of gdrkit_pin() and gdrkit_map().
  [[nodiscard]] Mapping map(std::uint64_t device_address, std::size_t size_bytes,
                            const MapOptions& options = {}) const {
    return pin(device_address, size_bytes).map(options);
  }
  /// @brief Pins and maps all of a buffer.
  /// @param[in] buffer   The buffer, of any context.
  /// @param[in] options  Mapping type and engine.
  /// @return The mapping.
  /// @throws Error  The errors of gdrkit_pin() and gdrkit_map().
  [[nodiscard]] Mapping map(const Buffer& buffer, const MapOptions& options = {}) const {
    return pin(buffer).map(options);
  }

  /// @brief Allocates device memory. Its contents are undefined.
  /// @param[in] size_bytes  At least 1.
  /// @param[in] device      CUDA device ordinal, from 0.
  /// @return The buffer.
  /// @throws Error  The errors of gdrkit_buffer_allocate().
  [[nodiscard]] Buffer allocate(std::size_t size_bytes, int device = 0) const {
    gdrkit_buffer_t buffer{};
    detail::check(gdrkit_buffer_allocate(handle(), device, size_bytes, &buffer));
    return Buffer(owner_, buffer);
  }

  /// @brief Describes the context.
  /// @return The description; its strings are static.
  /// @throws Error  The errors of gdrkit_get_context_info().
  [[nodiscard]] gdrkit_context_info info() const {
    gdrkit_context_info info{};
    info.struct_size = sizeof info;
    detail::check(gdrkit_get_context_info(handle(), &info));
    return info;
  }
  /// @brief Returns the backend.
  /// @return Its name; static.
  /// @throws Error  The errors of gdrkit_get_context_info().
  [[nodiscard]] const char* backend_name() const { return info().backend_name; }
  /// @brief Reports whether the device is emulated.
  /// @return true if it is.
  /// @throws Error  The errors of gdrkit_get_context_info().
  [[nodiscard]] bool is_emulated() const { return info().is_emulated != 0; }
  /// @brief Returns the handle, for calls of the C API.
  /// @return The handle; 0 after close() or a move.
  [[nodiscard]] gdrkit_context_t handle() const noexcept {
    return owner_ != nullptr ? owner_->get() : gdrkit_context_t{};
  }

  /// @brief Closes the context and all its pins, mappings and buffers. Later calls on them throw EINVAL.
  /// @throws Error  The errors of gdrkit_close().
  void close() {
    if (owner_ != nullptr) owner_->close();
  }

 private:
  std::shared_ptr<detail::OwnedContext> owner_;
};

/// @cond private
namespace detail {

/// Returns the context of this process, which is opened on first use. A forked child cannot use it and opens another.
[[nodiscard]] inline Context& process_context() {
  static std::mutex mutex;
  static pid_t owner = 0;
  static std::unique_ptr<Context> context;
  const std::lock_guard lock(mutex);
  if (context == nullptr || owner != ::getpid()) {
    context = std::make_unique<Context>();
    owner = ::getpid();
  }
  return *context;
}

}  // namespace detail
/// @endcond

/// @brief Pins and maps device memory, in a context that the process opens on first use and keeps.
///
/// To use contexts with different options, call Context::map().
/// @param[in] device_pointer  The first byte, of any alignment: from cudaMalloc, cuMemCreate, a pool or a Buffer.
/// @param[in] size_bytes      At least 1; the range lies in one allocation.
/// @param[in] options         Mapping type and engine.
/// @return The mapping, which keeps the memory pinned.
/// @throws Error  The errors of gdrkit_open(), gdrkit_pin() and gdrkit_map().
/// @code{.cpp}
/// std::uint32_t read_flag(void* device_pointer) {
///   auto map = gdrkit::map(device_pointer, 4096, {.engine = gdrkit::Engine::automatic});
///   return map.load_flag<std::uint32_t>(0);
/// }
/// @endcode
[[nodiscard]] inline Mapping map(const void* device_pointer, std::size_t size_bytes, const MapOptions& options = {}) {
  return detail::process_context().map(device_pointer, size_bytes, options);
}
/// @brief Pins and maps device memory in the process's own context.
/// @param[in] device_address  The first byte, of any alignment.
/// @param[in] size_bytes      At least 1; the range lies in one allocation.
/// @param[in] options         Mapping type and engine.
/// @return The mapping, which keeps the memory pinned.
/// @throws Error  The errors of gdrkit_open(), gdrkit_pin() and gdrkit_map().
[[nodiscard]] inline Mapping map(std::uint64_t device_address, std::size_t size_bytes, const MapOptions& options = {}) {
  return detail::process_context().map(device_address, size_bytes, options);
}

}  // namespace gdrkit

#endif
