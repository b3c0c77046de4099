// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The 17 functions of libgdrapi.so.2: arguments checked as the original's callers expect, core called, errors turned
// into positive errno.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>

#include "base/result.hpp"
#include "base/settings.hpp"
#include "capi/errno_values.hpp"
#include "core/copy_path.hpp"
#include "core/core.hpp"

#pragma GCC visibility push(default)
#include "gdrapi.h"
// Here the name means the binary symbol, which programs built before API 2.4 load.
#undef gdr_get_info

/// The information struct before API 2.4: what the symbol gdr_get_info fills, and not a byte more.
struct gdr_info_v1 {
  uint64_t va;
  uint64_t mapped_size;
  uint32_t page_size;
  uint64_t tm_cycles;
  uint32_t cycles_per_ms;
  unsigned mapped : 1;
  unsigned wc_mapping : 1;
};
static_assert(sizeof(gdr_info_v1) == 40 && sizeof(gdr_info_v2_t) == 48);
extern "C" int gdr_get_info(gdr_t g, gdr_mh_t handle, gdr_info_v1* info);
#pragma GCC visibility pop

namespace base = gdrkit::base;
namespace core = gdrkit::core;
using gdrkit::capi::errno_text;
using gdrkit::core::MappingType;

namespace {

// Both handles contain core's 64-bit handle; the "pointer" is never dereferenced.
static_assert(sizeof(gdr_t) == sizeof(core::Handle) && sizeof(gdr_mh_t) == sizeof(core::Handle));
core::Handle context_of(gdr_t g) noexcept { return reinterpret_cast<core::Handle>(g); }
core::Handle pin_of(gdr_mh_t handle) noexcept { return handle.h; }

/// As kernel modules encode theirs.
constexpr uint32_t library_version = GDR_API_MAJOR_VERSION << MAJOR_VERSION_SHIFT | GDR_API_MINOR_VERSION;

// GDRCopy's log, as scripts expect it: plain lines on stderr, off unless GDRCOPY_ENABLE_LOGGING is set.

/// Numbers are those of GDRCOPY_LOG_LEVEL: a message is printed when its level is at least the one set.
enum class LogLevel : int { debug = 1, info = 2, error = 4 };

constexpr int not_read = INT_MIN;
constexpr int off = INT_MAX;
// Threads that log for the first time at once read the same environment and store the same value.
constinit std::atomic<int> lowest_level{not_read};

int read_lowest_level() noexcept try {
  const base::Settings settings = base::read_settings();
  return settings.log_enabled ? std::max(settings.log_level, not_read + 1) : off;
} catch (const std::bad_alloc&) {
  return off;
}

bool is_printed(LogLevel level) noexcept {
  int lowest = lowest_level.load(std::memory_order_relaxed);
  if (lowest == not_read) {
    lowest = read_lowest_level();
    lowest_level.store(lowest, std::memory_order_relaxed);
  }
  return lowest != off && static_cast<int>(level) >= lowest;
}

/// Writes one line: the level's prefix, the text, a newline. The environment is read at the first message of the
/// process and never again. Never called on the copy path. Leaves errno alone.
[[gnu::format(printf, 2, 3)]] void log(LogLevel level, const char* format, ...) noexcept {
  if (!is_printed(level)) return;
  const int saved_errno = errno;
  char line[4096];
  constexpr std::size_t room = sizeof line - 1;  // for the newline
  std::strcpy(line, level == LogLevel::debug ? "DBG:  " : level == LogLevel::info ? "INFO: " : "ERR:  ");
  std::size_t length = std::strlen(line);
  va_list arguments;
  va_start(arguments, format);
  const int needed = std::vsnprintf(line + length, room - length, format, arguments);
  va_end(arguments);
  if (needed > 0) length = std::min(length + static_cast<std::size_t>(needed), room - 1);
  line[length++] = '\n';
  // One write for one line, so that lines of several threads and processes do not mix. A failure cannot be reported.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, length);
  errno = saved_errno;
}

int refuse(const char* function, int errno_value, const char* reason) noexcept {
  log(LogLevel::error, "%s: %s (errno=%d/%s)", function, reason, errno_value, errno_text(errno_value));
  return errno_value;
}

int refuse(const char* function, const base::Error& error) noexcept {
  return refuse(function, gdrkit::capi::gdrapi_errno(error.errno_value), error.text());
}

int refuse_null(const char* function) noexcept { return refuse(function, EINVAL, "an output pointer is NULL"); }

// GDRCopy's words, which scripts search for.
constexpr const char* mapped_already = "mh is mapped already";
constexpr const char* not_mapped_yet = "mh is not mapped yet";

/// For a live pin whose call failed; true for others, whose errors have their own text.
bool is_mapped(gdr_t g, gdr_mh_t handle) noexcept {
  const base::Result<core::PinInfo> pin = core::pin_info(context_of(g), pin_of(handle));
  return !pin || pin->is_mapped;
}

/// GDRCopy's own variable forces a backend too. The two variables may conflict.
base::Status apply_force_dmabuf(base::Settings& settings) {
  constexpr const char* dmabuf = "dmabuf";
  if (!settings.force_dmabuf) return {};
  if (!settings.backend.empty() && settings.backend != dmabuf) {
    return base::fail(
        EINVAL,
        "GDRCOPY_USE_DMABUF_MMAP=1 and GDRKIT_BACKEND=%s name different backends; unset one of the two variables",
        settings.backend.c_str());
  }
  settings.backend = dmabuf;
  return {};
}

base::Result<core::Handle> open_from_environment(bool* is_dmabuf_forced) noexcept try {
  base::Settings settings = base::read_settings();
  *is_dmabuf_forced = settings.force_dmabuf;
  if (base::Status forced = apply_force_dmabuf(settings); !forced) return base::pass(forced);
  settings.engine = settings.dropin_engine;
  return core::open(settings);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while opening a context");
}

void log_kernel(const char* name, const char* function) noexcept {
  char upper[32] = "";
  for (std::size_t i = 0; i + 1 < sizeof upper && name[i] != '\0'; ++i) {
    upper[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[i])));
  }
  log(LogLevel::debug, "using %s implementation of %s", upper, function);
}

int pin(const char* function, gdr_t g, unsigned long addr, size_t size, uint32_t flags, gdr_mh_t* handle) noexcept {
  if (handle == nullptr) return refuse_null(function);
  core::PinOptions options;
  options.force_pcie = (flags & GDR_PIN_FLAG_FORCE_PCIE) != 0;
  options.exact_range = false;
  // GDRCopy rounds to pages before it checks the size: an empty range inside a page is that page.
  const bool is_page_of_nothing = size == 0 && (addr & GPU_PAGE_OFFSET) != 0;
  const base::Result<core::Handle> pinned = core::pin(context_of(g), addr, is_page_of_nothing ? 1 : size, options);
  if (!pinned) {
    return refuse(function, gdrkit::capi::gdrapi_pin_errno(pinned.error().errno_value), pinned.error().text());
  }
  handle->h = *pinned;
  return 0;
}

int map(const char* function, gdr_t g, gdr_mh_t handle, void** va, size_t size, int flags) noexcept {
  if (va == nullptr) return refuse_null(function);
  if (flags < GDR_MAP_FLAG_DEFAULT || flags > GDR_MAP_FLAG_REQ_DEVICE_MAPPING) {
    return refuse(function, EINVAL, "invalid flags: use a value of gdr_map_flags_t");
  }
  const base::Result<core::PinInfo> mapped =
      core::map(context_of(g), pin_of(handle), size, static_cast<MappingType>(flags), core::MapStart::page, "");
  if (!mapped) {
    if (mapped.error().errno_value == EAGAIN && is_mapped(g, handle)) return refuse(function, EAGAIN, mapped_already);
    return refuse(function, mapped.error());
  }
  *va = mapped->mapping_address;
  return 0;
}

/// Not inlined, so that the copy path reserves no stack for an error.
[[gnu::noinline, gnu::cold]] int result_of_engine_copy(gdr_mh_t handle, bool is_write, void* device, void* host,
                                                       size_t size) noexcept {
  const base::Status copied = core::copy_mapping_by_engine(pin_of(handle), is_write, device, host, size);
  return copied ? 0 : copied.error().errno_value;
}

template <class Info>
void describe(const core::PinInfo& pin, Info* info) noexcept {
  info->va = pin.page_address;
  info->mapped_size = pin.page_bytes;
  info->page_size = pin.page_size_bytes;
  info->tm_cycles = pin.cost.cycles;
  info->cycles_per_ms = pin.cost.cycles_per_ms;
  const MappingType type = pin.mapping_type;
  info->mapped = type != MappingType::none ? 1 : 0;
  info->wc_mapping = type == MappingType::write_combining ? 1 : 0;
  if constexpr (sizeof(Info) == sizeof(gdr_info_v2_t)) {
    info->mapping_type = static_cast<gdr_mapping_type_t>(type);
  }
}

/// Apart, so that the fast path saves no registers for it.
template <class Info>
[[gnu::noinline]] int fill_info_slowly(const char* function, gdr_t g, gdr_mh_t handle, Info* info) noexcept {
  if (info == nullptr) return refuse_null(function);
  // GDRCopy's module reports revoked memory as not mapped, although the addresses are still in use.
  const base::Result<core::PinInfo> pin = core::pin_info(context_of(g), pin_of(handle), core::Mapped::shown);
  if (!pin) return refuse(function, pin.error());
  describe(*pin, info);
  return 0;
}

template <class Info>
int fill_info(const char* function, gdr_t g, gdr_mh_t handle, Info* info) noexcept {
  const std::optional<core::PinInfo> pin = core::pin_summary(context_of(g), pin_of(handle));
  if (!pin || info == nullptr) return fill_info_slowly(function, g, handle, info);
  describe(*pin, info);
  return 0;
}

}  // namespace

extern "C" {

gdr_t gdr_open(void) {
  bool is_dmabuf_forced = false;
  const base::Result<core::Handle> opened = open_from_environment(&is_dmabuf_forced);
  if (!opened) {
    const int errno_value = gdrkit::capi::gdrapi_errno(opened.error().errno_value);
    log(LogLevel::error, "error opening driver (errno=%d/%s): %s%s", errno_value, errno_text(errno_value),
        is_dmabuf_forced ? "GDRCOPY_USE_DMABUF_MMAP=1 forces dma-buf: " : "", opened.error().text());
    errno = errno_value;
    return nullptr;
  }
  if (const base::Result<core::ContextInfo> info = core::context_info(*opened)) {
    log(LogLevel::info, "Using %s backend", info->traits.name);
    log_kernel(info->store_kernel_name, "gdr_copy_to_mapping");
    log_kernel(info->load_kernel_name, "gdr_copy_from_mapping");
  }
  return reinterpret_cast<gdr_t>(*opened);
}

int gdr_close(gdr_t g) {
  const base::Status closed = core::close(context_of(g));
  return closed ? 0 : refuse(__func__, closed.error());
}

int gdr_pin_buffer(gdr_t g, unsigned long addr, size_t size, uint64_t /*p2p_token*/, uint32_t /*va_space*/,
                   gdr_mh_t* handle) {
  return pin(__func__, g, addr, size, GDR_PIN_FLAG_DEFAULT, handle);
}

int gdr_pin_buffer_v2(gdr_t g, unsigned long addr, size_t size, uint32_t flags, gdr_mh_t* handle) {
  return pin(__func__, g, addr, size, flags, handle);
}

int gdr_unpin_buffer(gdr_t g, gdr_mh_t handle) {
  const base::Status unpinned = core::unpin(context_of(g), pin_of(handle));
  return unpinned ? 0 : refuse(__func__, unpinned.error());
}

int gdr_get_callback_flag(gdr_t g, gdr_mh_t handle, int* flag) {
  if (flag == nullptr) return refuse_null(__func__);
  const base::Result<bool> is_invalidated = core::is_invalidated(context_of(g), pin_of(handle));
  if (!is_invalidated) return refuse(__func__, is_invalidated.error());
  *flag = *is_invalidated ? 1 : 0;
  return 0;
}

int gdr_get_info(gdr_t g, gdr_mh_t handle, gdr_info_v1* info) { return fill_info(__func__, g, handle, info); }

int gdr_get_info_v2(gdr_t g, gdr_mh_t handle, gdr_info_v2_t* info) { return fill_info(__func__, g, handle, info); }

int gdr_map(gdr_t g, gdr_mh_t handle, void** va, size_t size) {
  return map(__func__, g, handle, va, size, GDR_MAP_FLAG_DEFAULT);
}

int gdr_map_v2(gdr_t g, gdr_mh_t handle, void** va, size_t size, int flags) {
  return map(__func__, g, handle, va, size, flags);
}

int gdr_unmap(gdr_t g, gdr_mh_t handle, void* va, size_t size) {
  if (va == nullptr || size == 0)
    return refuse(__func__, EINVAL, "cannot unmap memory: the address is NULL or the size is 0");
  const base::Status unmapped = core::unmap(context_of(g), pin_of(handle), va);
  if (unmapped) return 0;
  const bool is_not_mapped = unmapped.error().errno_value == EINVAL && !is_mapped(g, handle);
  return is_not_mapped ? refuse(__func__, EINVAL, not_mapped_yet) : refuse(__func__, unmapped.error());
}

int gdr_copy_to_mapping(gdr_mh_t handle, void* map_d_ptr, const void* h_ptr, size_t size) {
  const int error = core::copy_to_mapping(pin_of(handle), map_d_ptr, h_ptr, size);
  if (error != core::by_engine) [[likely]]
    return error;
  return result_of_engine_copy(handle, true, map_d_ptr, const_cast<void*>(h_ptr), size);
}

int gdr_copy_from_mapping(gdr_mh_t handle, void* h_ptr, const void* map_d_ptr, size_t size) {
  const int error = core::copy_from_mapping(pin_of(handle), h_ptr, map_d_ptr, size);
  if (error != core::by_engine) [[likely]]
    return error;
  return result_of_engine_copy(handle, false, const_cast<void*>(map_d_ptr), h_ptr, size);
}

void gdr_runtime_get_version(int* major, int* minor) {
  if (major != nullptr) *major = GDR_API_MAJOR_VERSION;
  if (minor != nullptr) *minor = GDR_API_MINOR_VERSION;
}

int gdr_driver_get_version(gdr_t g, int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return refuse_null(__func__);
  const base::Result<core::ContextInfo> info = core::context_info(context_of(g));
  if (!info) return refuse(__func__, info.error());
  // A backend without a kernel module of its own is as new as the library. Not by a call of gdr_runtime_get_version:
  // a library loaded earlier may export the same name.
  const uint32_t module_version = info->traits.module_version != 0 ? info->traits.module_version : library_version;
  *major = static_cast<int>(module_version >> MAJOR_VERSION_SHIFT);
  *minor = static_cast<int>(module_version & MINOR_VERSION_MASK);
  return 0;
}

// The enumeration's check is off in the two functions below: they must accept numbers outside it.

__attribute__((no_sanitize("enum"))) int gdr_get_attribute(gdr_t g, gdr_attr_t attr, int* v) {
  if (v == nullptr) return refuse_null(__func__);
  const base::Result<core::ContextInfo> info = core::context_info(context_of(g));
  if (!info) return refuse(__func__, info.error());
  switch (static_cast<int>(attr)) {
    case GDR_ATTR_USE_PERSISTENT_MAPPING: *v = info->traits.is_persistent ? 1 : 0; return 0;
    case GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE: *v = info->traits.supports_force_pcie ? 1 : 0; return 0;
    case GDR_ATTR_USING_DMA_BUF_MMAP: *v = info->traits.uses_dmabuf_mmap ? 1 : 0; return 0;
    default: *v = 0; return refuse(__func__, EINVAL, "invalid attribute: use a value of gdr_attr_t");
  }
}

__attribute__((no_sanitize("enum"))) int gdr_get_mapping_type_string(gdr_mapping_type_t mapping_type,
                                                                     const char** str) {
  static constexpr const char* names[] = {"None", "Write Combining", "Caching", "Device"};
  static_assert(sizeof names / sizeof names[0] == GDR_MAPPING_TYPE_MAX);
  if (str == nullptr) return refuse_null(__func__);
  const auto index = static_cast<unsigned>(mapping_type);
  if (index >= GDR_MAPPING_TYPE_MAX)
    return refuse(__func__, EINVAL, "invalid mapping type: use a value of gdr_mapping_type_t");
  *str = names[index];
  return 0;
}

}  // extern "C"
