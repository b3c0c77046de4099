// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit for C++20: owning objects over gdrkit.h that throw gdrkit::Error. Header-only; link libgdrkit.
#ifndef GDRKIT_GDRKIT_HPP
#define GDRKIT_GDRKIT_HPP

#if __cplusplus < 202002L
#error "gdrkit/gdrkit.hpp needs C++20 (-std=c++20); C and older C++ can use gdrkit/gdrkit.h"
#endif

#include <gdrkit/gdrkit.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

// Objects may be moved, also while the objects made from them live. A Pin must outlive its Mapping, and a Context its
// Pins and Buffers; where one goes first, what was made from it is unmapped, unpinned and freed with it and only
// answers errors from then on. Threads: as gdrkit.h says of the calls; one object is not moved or destroyed by one
// thread while another uses it.

namespace gdrkit {

/// code() compares with std::errc; what() is the library's error message.
class Error : public std::system_error {
 public:
  Error(int errno_value, const char* detail) : std::system_error(errno_value, std::generic_category(), detail) {}
};

enum class MappingType : std::int32_t {
  automatic = GDRKIT_MAPPING_DEFAULT,
  write_combining = GDRKIT_MAPPING_WRITE_COMBINING,
  cached = GDRKIT_MAPPING_CACHED,
  device = GDRKIT_MAPPING_DEVICE,
};

/// What performs read() and write(); see gdrkit_map.
enum class Engine : std::int32_t {
  unspecified = GDRKIT_ENGINE_DEFAULT,  ///< $GDRKIT_ENGINE, else cpu
  cpu = GDRKIT_ENGINE_CPU,
  lanes = GDRKIT_ENGINE_LANES,
  copy_engine = GDRKIT_ENGINE_COPY_ENGINE,
  mover = GDRKIT_ENGINE_MOVER,
  automatic = GDRKIT_ENGINE_AUTOMATIC,
};

/// The engine of this name, as $GDRKIT_ENGINE accepts it; nothing for an unknown name.
[[nodiscard]] inline std::optional<Engine> engine_from_name(std::string_view name) noexcept {
  for (int number = GDRKIT_ENGINE_CPU; const char* const known = gdrkit_engine_name(number); ++number) {
    if (name == known) return static_cast<Engine>(number);
  }
  return std::nullopt;
}

struct MapOptions {
  MappingType type = MappingType::automatic;
  Engine engine = Engine::unspecified;
};

struct ContextOptions {
  std::string backend{};      ///< empty: $GDRKIT_BACKEND, else the first that can run
  std::string copy_kernel{};  ///< empty: $GDRKIT_COPY_KERNEL, else the best for this CPU
};

namespace detail {

inline void check(int result) {
  if (result < 0) throw Error(-result, gdrkit_last_error());
}

/// The copy path writes no message (an engine does, of what is not a wrong argument): what was wrong is told from what
/// is known here. `mapped`: 0 where there is none.
inline void check_copy(int result, const char* what, std::size_t offset, std::size_t size_bytes, std::size_t mapped) {
  if (result >= 0) return;
  if (result != -EINVAL) throw Error(-result, gdrkit_last_error());
  std::string text = std::string("cannot ") + what + " " + std::to_string(size_bytes) + " bytes at offset " +
                     std::to_string(offset) + ": ";
  if (mapped == 0) {
    text += "the mapping was unmapped or moved from";
  } else if (offset > mapped || size_bytes > mapped - offset) {
    text += "the mapping has " + std::to_string(mapped) + " bytes";
  } else {
    text += "its pin or context is gone, or the mapping is of the process that forked this one; both must outlive it";
  }
  throw Error(-result, text.c_str());
}

/// A handle that is closed once, by `Close`. The destructor ignores its error.
template <class Handle, int (*Close)(Handle)>
class Owner {
 public:
  Owner() noexcept = default;
  explicit Owner(Handle handle) noexcept : handle_(handle) {}
  Owner(Owner&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
  Owner& operator=(Owner&& other) noexcept {
    Owner taken(std::move(other));
    std::swap(handle_, taken.handle_);
    return *this;
  }
  ~Owner() {
    if (handle_.value != 0) Close(handle_);
  }
  [[nodiscard]] Handle get() const noexcept { return handle_; }
  /// Closes now and throws if that fails.
  void close() {
    const Handle handle = std::exchange(handle_, Handle{});
    if (handle.value != 0) check(Close(handle));
  }

 private:
  Handle handle_{};
};

}  // namespace detail

template <class T>
concept FlagValue = std::is_trivially_copyable_v<T> &&
    (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

/// Contiguous data that may be copied byte by byte: std::vector, std::array, std::span, arrays.
template <class Range>
concept Bytes = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>;

/// A copy that was started (Mapping::start_read, start_write). Both sides belong to it until it is finished, which the
/// destructor does in silence.
class StartedCopy {
 public:
  explicit StartedCopy(gdrkit_copy_t copy) noexcept : owner_(copy) {}
  /// true once finish() would wait neither for the GPU nor for other threads.
  [[nodiscard]] bool is_done() const {
    const int result = gdrkit_is_copy_done(owner_.get());
    detail::check(result);
    return result != 0;
  }
  /// Waits, and throws if the copy failed.
  void finish() { owner_.close(); }

 private:
  detail::Owner<gdrkit_copy_t, gdrkit_finish_copy> owner_;
};

/// One piece of a copy: {offset, source, size_bytes} and {offset, target, size_bytes}.
using WriteSegment = gdrkit_write_segment;
using ReadSegment = gdrkit_read_segment;

/// Device memory in this process's address space. Offsets are in bytes from the first byte that was asked for.
class Mapping {
 public:
  /// The mapped memory itself. Plain loads of a write-combining mapping are slow: read() reads whole lines. Plain
  /// stores need a store fence (_mm_sfence) before a flag that announces them.
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

  /// Host to device. The stores have left this CPU core when it returns. Earlier stores to host memory are ordered
  /// before it only by a store fence (_mm_sfence) of the caller's own.
  template <Bytes Source>
  void write(std::size_t offset, const Source& source) const {
    const std::size_t size_bytes = std::ranges::size(source) * sizeof(std::ranges::range_value_t<Source>);
    detail::check_copy(gdrkit_write(owner_.get(), offset, std::ranges::data(source), size_bytes), "write", offset,
                       size_bytes, size());
  }

  /// Device to host. The data is no older than the call.
  template <Bytes Target>
  void read(std::size_t offset, Target&& target) const {
    const std::size_t size_bytes = std::ranges::size(target) * sizeof(std::ranges::range_value_t<Target>);
    detail::check_copy(gdrkit_read(owner_.get(), offset, std::ranges::data(target), size_bytes), "read", offset,
                       size_bytes, size());
  }

  /// Stores one naturally aligned value in one piece, after everything that this thread wrote by write(). Stores of
  /// one's own through bytes() may still sit in write-combining buffers: a store fence (_mm_sfence) must follow them.
  template <FlagValue T>
  void store_flag(std::size_t offset, T value) const {
    check_alignment(offset, sizeof(T));
    detail::check_copy(gdrkit_write(owner_.get(), offset, &value, sizeof value), "write", offset, sizeof value, size());
  }

  /// Loads one naturally aligned value in one piece, freshly each time, so that a loop may poll it. Later loads of this
  /// thread see what the writer stored before the value.
  template <FlagValue T>
  [[nodiscard]] T load_flag(std::size_t offset) const {
    check_alignment(offset, sizeof(T));
    T value;
    detail::check_copy(gdrkit_read(owner_.get(), offset, &value, sizeof value), "read", offset, sizeof value, size());
    return value;
  }

  /// Several pieces, complete on return; see gdrkit_write_segments.
  void write_segments(std::span<const WriteSegment> segments) const {
    detail::check(gdrkit_write_segments(owner_.get(), segments.data(), segments.size()));
  }
  void read_segments(std::span<const ReadSegment> segments) const {
    detail::check(gdrkit_read_segments(owner_.get(), segments.data(), segments.size()));
  }
  /// Complete when the copy is finished; see gdrkit_start_write.
  [[nodiscard]] StartedCopy start_write(std::span<const WriteSegment> segments) const {
    return start(gdrkit_start_write, segments);
  }
  [[nodiscard]] StartedCopy start_read(std::span<const ReadSegment> segments) const {
    return start(gdrkit_start_read, segments);
  }

  /// Unmaps now and throws if that fails; the destructor unmaps in silence.
  void unmap() {
    bytes_ = {};
    owner_.close();
  }

  Mapping(Mapping&& other) noexcept
      : owner_(std::move(other.owner_)), bytes_(std::exchange(other.bytes_, std::span<std::byte>{})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    owner_ = std::move(other.owner_);
    bytes_ = std::exchange(other.bytes_, std::span<std::byte>{});
    return *this;
  }

 private:
  friend class Pin;
  Mapping(gdrkit_pin_t pin, void* address, std::size_t size_bytes) noexcept
      : owner_(pin), bytes_(static_cast<std::byte*>(address), size_bytes) {}

  template <class Call, class Segment>
  [[nodiscard]] StartedCopy start(Call call, std::span<const Segment> segments) const {
    gdrkit_copy_t copy{};
    detail::check(call(owner_.get(), segments.data(), segments.size(), &copy));
    return StartedCopy(copy);
  }
  void check_alignment(std::size_t offset, std::size_t alignment) const {
    if ((reinterpret_cast<std::uintptr_t>(bytes_.data()) + offset) % alignment != 0) {
      const std::string text = "a flag of " + std::to_string(alignment) + " bytes at offset " + std::to_string(offset) +
                               " is not naturally aligned";
      throw Error(EINVAL, text.c_str());
    }
  }

  detail::Owner<gdrkit_pin_t, gdrkit_unmap> owner_;
  std::span<std::byte> bytes_;
};

/// Device memory that stays where it is. One mapping at a time.
class Pin {
 public:
  /// The pin must outlive the mapping, so a temporary one cannot be mapped.
  [[nodiscard]] Mapping map(const MapOptions& options = {}) && = delete;
  [[nodiscard]] Mapping map(const MapOptions& options = {}) const& {
    gdrkit_map_options given{};
    given.struct_size = sizeof given;
    given.mapping_type = static_cast<std::int32_t>(options.type);
    given.engine = static_cast<std::int32_t>(options.engine);
    void* address = nullptr;
    detail::check(gdrkit_map(owner_.get(), &given, &address));
    return Mapping(owner_.get(), address, size_bytes_);
  }

  [[nodiscard]] gdrkit_pin_info info() const {
    gdrkit_pin_info info{};
    info.struct_size = sizeof info;
    detail::check(gdrkit_get_pin_info(owner_.get(), &info));
    return info;
  }
  /// true once the owner freed the memory and the mapping lost it (see gdrkit_is_invalidated).
  [[nodiscard]] bool is_invalidated() const {
    const int result = gdrkit_is_invalidated(owner_.get());
    detail::check(result);
    return result != 0;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_bytes_; }
  [[nodiscard]] gdrkit_pin_t handle() const noexcept { return owner_.get(); }

  /// Unpins now and throws if that fails; the destructor unpins in silence.
  void unpin() { owner_.close(); }

 private:
  friend class Context;
  Pin(gdrkit_pin_t pin, std::size_t size_bytes) noexcept : owner_(pin), size_bytes_(size_bytes) {}

  detail::Owner<gdrkit_pin_t, gdrkit_unpin> owner_;
  std::size_t size_bytes_;
};

/// Device memory from the library, for programs without CUDA code of their own; see gdrkit_buffer_allocate.
class Buffer {
 public:
  [[nodiscard]] std::uint64_t device_address() const noexcept { return device_address_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_bytes_; }
  [[nodiscard]] int device() const noexcept { return device_; }

  /// Copies by the CUDA driver instead of CPU stores and loads, complete on return. Offsets are in bytes.
  template <Bytes Source>
  void copy_from_host(std::size_t offset, const Source& source) const {
    const std::size_t size_bytes = std::ranges::size(source) * sizeof(std::ranges::range_value_t<Source>);
    detail::check(gdrkit_buffer_copy_from_host(owner_.get(), offset, std::ranges::data(source), size_bytes));
  }
  template <Bytes Target>
  void copy_to_host(std::size_t offset, Target&& target) const {
    const std::size_t size_bytes = std::ranges::size(target) * sizeof(std::ranges::range_value_t<Target>);
    detail::check(gdrkit_buffer_copy_to_host(owner_.get(), offset, std::ranges::data(target), size_bytes));
  }
  [[nodiscard]] gdrkit_buffer_t handle() const noexcept { return owner_.get(); }

  /// Frees now and throws if that fails; the destructor frees in silence.
  void free() { owner_.close(); }

 private:
  friend class Context;
  explicit Buffer(gdrkit_buffer_t buffer) : owner_(buffer) {
    gdrkit_buffer_info info{};
    info.struct_size = sizeof info;
    detail::check(gdrkit_buffer_get_info(buffer, &info));
    device_address_ = info.device_address;
    size_bytes_ = static_cast<std::size_t>(info.size_bytes);
    device_ = info.device;
  }

  detail::Owner<gdrkit_buffer_t, gdrkit_buffer_free> owner_;
  std::uint64_t device_address_ = 0;
  std::size_t size_bytes_ = 0;
  int device_ = 0;
};

/// A way to device memory, chosen when it is opened. Throws Error with std::errc::no_such_device when there is none.
class Context {
 public:
  Context() : Context(ContextOptions{}) {}
  explicit Context(const ContextOptions& options) {
    gdrkit_open_options given{};
    given.struct_size = sizeof given;
    given.backend = options.backend.empty() ? nullptr : options.backend.c_str();
    given.copy_kernel = options.copy_kernel.empty() ? nullptr : options.copy_kernel.c_str();
    gdrkit_context_t context{};
    detail::check(gdrkit_open(&given, &context));
    owner_ = detail::Owner<gdrkit_context_t, gdrkit_close>(context);
  }

  /// Any alignment, any size > 0, inside one allocation of device memory.
  [[nodiscard]] Pin pin(std::uint64_t device_address, std::size_t size_bytes) const {
    gdrkit_pin_t pin{};
    detail::check(gdrkit_pin(owner_.get(), device_address, size_bytes, &pin));
    return Pin(pin, size_bytes);
  }
  [[nodiscard]] Pin pin(const void* device_pointer, std::size_t size_bytes) const {
    return pin(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(device_pointer)), size_bytes);
  }

  /// All of a buffer.
  [[nodiscard]] Pin pin(const Buffer& buffer) const { return pin(buffer.device_address(), buffer.size()); }

  /// Device memory on device number `device`, as CUDA counts; what it holds is not defined. Memory of your own, from
  /// cudaMalloc say, is pinned just as well.
  [[nodiscard]] Buffer allocate(std::size_t size_bytes, int device = 0) const {
    gdrkit_buffer_t buffer{};
    detail::check(gdrkit_buffer_allocate(owner_.get(), device, size_bytes, &buffer));
    return Buffer(buffer);
  }

  [[nodiscard]] gdrkit_context_info info() const {
    gdrkit_context_info info{};
    info.struct_size = sizeof info;
    detail::check(gdrkit_get_context_info(owner_.get(), &info));
    return info;
  }
  [[nodiscard]] const char* backend_name() const { return info().backend_name; }
  [[nodiscard]] bool is_emulated() const { return info().is_emulated != 0; }
  [[nodiscard]] gdrkit_context_t handle() const noexcept { return owner_.get(); }

  /// Closes now and throws if that fails; the destructor closes in silence.
  void close() { owner_.close(); }

 private:
  detail::Owner<gdrkit_context_t, gdrkit_close> owner_;
};

}  // namespace gdrkit

#endif
