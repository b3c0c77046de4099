// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit's own C API: arguments checked, core called, errors turned into negative errno and the text kept.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <new>
#include <optional>
#include <string>
#include <type_traits>

#include "base/settings.hpp"
#include "base/sized_struct.hpp"
#include "capi/errno_values.hpp"
#include "core/copy_path.hpp"
#include "core/core.hpp"

#pragma GCC visibility push(default)
#include "gdrkit/detail/engine_profile.h"
#include "gdrkit/gdrkit.h"
#pragma GCC visibility pop

namespace base = gdrkit::base;
namespace capi = gdrkit::capi;
namespace core = gdrkit::core;
using gdrkit::core::MappingType;
using gdrkit::core::Verification;

static_assert(GDRKIT_MAPPING_WRITE_COMBINING == static_cast<int>(MappingType::write_combining) &&
              GDRKIT_MAPPING_CACHED == static_cast<int>(MappingType::cached) &&
              GDRKIT_MAPPING_DEVICE == static_cast<int>(MappingType::device));
static_assert(GDRKIT_VERIFIED_BY_INTERFACE == static_cast<int>(Verification::none) &&
              GDRKIT_VERIFIED_CONTENT == static_cast<int>(Verification::content) &&
              GDRKIT_VERIFIED_STRUCTURAL == static_cast<int>(Verification::structural) &&
              GDRKIT_VERIFIED_CALIBRATED == static_cast<int>(Verification::calibrated));

namespace {

// Sizes of the structs' first versions; they stay when a struct grows.
constexpr std::size_t first_open_options = 24;
constexpr std::size_t first_context_info = 40;
constexpr std::size_t first_pin_info = 64;
constexpr std::size_t first_buffer_info = 24;
constexpr std::size_t first_backend_report = 1056;
constexpr std::size_t first_map_options = 16;
static_assert(sizeof(gdrkit_map_options) == first_map_options);
static_assert(sizeof(gdrkit_buffer_info) == first_buffer_info);
static_assert(sizeof(gdrkit_open_options) == first_open_options && sizeof(gdrkit_context_info) == first_context_info &&
              sizeof(gdrkit_pin_info) == first_pin_info && sizeof(gdrkit_backend_report) == first_backend_report);

// Plain bytes, which no thread's end destroys: a later destructor of that thread may still call in.
thread_local char last_detail[base::SharedText::capacity] = "";

/// What a failed call returns; keeps its text. Not for the copy path.
template <class T>
int error_of(const base::Result<T>& failed) noexcept {
  std::snprintf(last_detail, sizeof last_detail, "%s", failed.error().text());
  return -failed.error().errno_value;
}

int result_of(const base::Status& status) noexcept { return status ? 0 : error_of(status); }

/// For calls that make a handle; `value` is the caller's.
int store_handle(const base::Result<core::Handle>& made, uint64_t* value) noexcept {
  if (!made) return error_of(made);
  *value = *made;
  return 0;
}

int refuse_null(const char* what) noexcept {
  return error_of(base::Status(base::fail(EINVAL, "invalid argument: the pointer to %s is NULL", what)));
}

base::Result<core::Handle> open_with_options(const gdrkit_open_options* caller) noexcept try {
  base::Settings settings = base::read_settings();
  if (caller != nullptr) {
    gdrkit_open_options options{};
    if (base::Status known = base::read_options(caller, first_open_options, &options); !known) return base::pass(known);
    if (options.reserved != 0) return base::fail(EINVAL, "invalid options: field 'reserved' is not 0");
    if (options.backend != nullptr) settings.backend = options.backend;
    if (options.copy_kernel != nullptr) settings.copy_kernel = options.copy_kernel;
  }
  return core::open(settings);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while opening a context");
}

base::Result<core::BackendReport> probe(unsigned index) noexcept try {
  return core::probe_backend(index, base::read_settings());
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while testing a backend");
}

void* user_address(const core::PinInfo& info) noexcept {
  if (!info.is_mapped) return nullptr;
  return static_cast<char*>(info.mapping_address) + (info.user_address - info.page_address);
}

/// By enum gdrkit_engine; "" is core's default.
constexpr const char* engine_names[] = {"", "cpu", "lanes", "copy_engine", "mover", "automatic"};
static_assert(std::size(engine_names) == GDRKIT_ENGINE_AUTOMATIC + 1);

base::Status check_map_options(const gdrkit_map_options& options) noexcept {
  if (options.mapping_type < 0 || options.mapping_type > GDRKIT_MAPPING_DEVICE) {
    return base::fail(EINVAL, "invalid mapping type %d; use a value of enum gdrkit_mapping_type", options.mapping_type);
  }
  if (options.engine < 0 || options.engine > GDRKIT_ENGINE_AUTOMATIC) {
    return base::fail(EINVAL, "invalid engine %d; use a value of enum gdrkit_engine", options.engine);
  }
  if (options.reserved != 0) return base::fail(EINVAL, "invalid options: field 'reserved' is not 0");
  return {};
}

// core reads the caller's array in place.
template <class Segment, auto host>
constexpr bool has_layout_of_core =
    sizeof(Segment) == sizeof(core::Segment) &&
    offsetof(Segment, offset) == offsetof(core::Segment, offset) && host == offsetof(core::Segment, host) &&
    offsetof(Segment, size_bytes) == offsetof(core::Segment, size_bytes);
static_assert(has_layout_of_core<gdrkit_write_segment, offsetof(gdrkit_write_segment, source)> &&
              has_layout_of_core<gdrkit_read_segment, offsetof(gdrkit_read_segment, target)>);

template <class Segment>
int copy_segments(gdrkit_pin_t pin, const Segment* segments, size_t count) noexcept {
  constexpr bool is_write = std::is_same_v<Segment, gdrkit_write_segment>;
  if (segments == nullptr && count != 0) return refuse_null("the segments");
  return result_of(core::copy_segments(pin.value, is_write, {reinterpret_cast<const core::Segment*>(segments), count}));
}

template <class Segment>
int start_copy(gdrkit_pin_t pin, const Segment* segments, size_t count, gdrkit_copy_t* copy) noexcept {
  constexpr bool is_write = std::is_same_v<Segment, gdrkit_write_segment>;
  if (copy == nullptr) return refuse_null("the copy");
  if (segments == nullptr && count != 0) return refuse_null("the segments");
  return store_handle(core::start_copy(pin.value, is_write, {reinterpret_cast<const core::Segment*>(segments), count}),
                      &copy->value);
}

/// The copy path returns only EINVAL. Stores the cause, without a lock or an allocation. Not inlined, so that the copy
/// path reserves no stack for the text.
[[gnu::noinline, gnu::cold]] int fail_copy(gdrkit_pin_t pin, const char* operation, size_t offset,
                                           size_t size_bytes) noexcept {
  const core::MappingView* const view = core::find_mapping(pin.value);
  const char* cause = nullptr;
  char text[64];
  if (view == nullptr) {
    cause = "the pin is not mapped, or its handle is invalid";
  } else if (!core::is_inside(offset, size_bytes, view->user_bytes)) {
    std::snprintf(text, sizeof text, "the mapping has %zu bytes", static_cast<size_t>(view->user_bytes));
    cause = text;
  } else {
    cause = "the host pointer is NULL";
  }
  std::snprintf(last_detail, sizeof last_detail, "cannot %s %zu bytes at offset %zu: %s", operation, size_bytes, offset,
                cause);
  return -EINVAL;
}

/// Not inlined, so that the copy path reserves no stack for an error.
[[gnu::noinline, gnu::cold]] int result_of_engine_copy(gdrkit_pin_t pin, bool is_write, size_t offset, void* host,
                                                       size_t size_bytes) noexcept {
  return result_of(core::copy_by_engine(pin.value, is_write, offset, host, size_bytes));
}

}  // namespace

extern "C" {

int gdrkit_open(const struct gdrkit_open_options* options, gdrkit_context_t* context) {
  if (context == nullptr) return refuse_null("the context");
  return store_handle(open_with_options(options), &context->value);
}

int gdrkit_close(gdrkit_context_t context) { return result_of(core::close(context.value)); }

int gdrkit_get_context_info(gdrkit_context_t context, struct gdrkit_context_info* info) {
  if (base::Status known = base::check_info(info, first_context_info); !known) return error_of(known);
  const base::Result<core::ContextInfo> found = core::context_info(context.value);
  if (!found) return error_of(found);
  gdrkit_context_info filled{};
  filled.page_size_bytes = found->traits.page_size_bytes;
  filled.backend_name = found->traits.name;
  filled.store_kernel_name = found->store_kernel_name;
  filled.load_kernel_name = found->load_kernel_name;
  filled.is_persistent = found->traits.is_persistent ? 1 : 0;
  filled.is_emulated = found->traits.is_emulated ? 1 : 0;
  base::write_info(info, filled);
  return 0;
}

int gdrkit_engine_profile_path(gdrkit_context_t context, int device, char* path, size_t capacity) {
  if (path == nullptr) return refuse_null("the path");
  const base::Result<std::string> found = core::engine_profile_path(context.value, device);
  if (!found) return error_of(found);
  if (found->size() >= capacity) {
    return error_of(base::Status(base::fail(
        ERANGE, "cannot return the path of the tuning profile: the buffer has %zu bytes, but %zu bytes are required",
        capacity, found->size() + 1)));
  }
  std::memcpy(path, found->c_str(), found->size() + 1);
  return 0;
}

int gdrkit_pin(gdrkit_context_t context, uint64_t device_address, size_t size_bytes, gdrkit_pin_t* pin) {
  if (pin == nullptr) return refuse_null("the pin");
  return store_handle(core::pin(context.value, device_address, size_bytes, {}), &pin->value);
}

int gdrkit_unpin(gdrkit_pin_t pin) { return result_of(core::unpin(std::nullopt, pin.value)); }

int gdrkit_get_pin_info(gdrkit_pin_t pin, struct gdrkit_pin_info* info) {
  if (base::Status known = base::check_info(info, first_pin_info); !known) return error_of(known);
  const base::Result<core::PinInfo> found = core::pin_info(std::nullopt, pin.value);
  if (!found) return error_of(found);
  gdrkit_pin_info filled{};
  filled.page_size_bytes = found->page_size_bytes;
  filled.page_address = found->page_address;
  filled.page_bytes = found->page_bytes;
  filled.user_address = found->user_address;
  filled.user_bytes = found->user_bytes;
  filled.is_mapped = found->is_mapped ? 1 : 0;
  filled.mapping_type = static_cast<int32_t>(found->mapping_type);
  filled.verification = static_cast<int32_t>(found->verification);
  filled.address = user_address(*found);
  base::write_info(info, filled);
  return 0;
}

int gdrkit_map(gdrkit_pin_t pin, const struct gdrkit_map_options* caller, void** address) {
  if (address == nullptr) return refuse_null("the address");
  gdrkit_map_options options{};
  if (caller != nullptr) {
    if (base::Status known = base::read_options(caller, first_map_options, &options); !known) return error_of(known);
  }
  if (base::Status valid = check_map_options(options); !valid) return error_of(valid);
  const base::Result<core::PinInfo> mapped =
      core::map(std::nullopt, pin.value, std::nullopt, static_cast<MappingType>(options.mapping_type),
                core::MapStart::anywhere, engine_names[options.engine]);
  if (!mapped) return error_of(mapped);
  *address = user_address(*mapped);
  return 0;
}

int gdrkit_unmap(gdrkit_pin_t pin) { return result_of(core::unmap(std::nullopt, pin.value)); }

int gdrkit_is_invalidated(gdrkit_pin_t pin) {
  const base::Result<bool> is_invalidated = core::is_invalidated(std::nullopt, pin.value);
  if (!is_invalidated) return error_of(is_invalidated);
  return *is_invalidated ? 1 : 0;
}

int gdrkit_write(gdrkit_pin_t pin, size_t offset, const void* source, size_t size_bytes) {
  const int error = core::write(pin.value, offset, source, size_bytes);
  if (error == 0) [[likely]]
    return 0;
  if (error != core::by_engine) return fail_copy(pin, "write", offset, size_bytes);
  return result_of_engine_copy(pin, true, offset, const_cast<void*>(source), size_bytes);
}

int gdrkit_read(gdrkit_pin_t pin, size_t offset, void* target, size_t size_bytes) {
  const int error = core::read(pin.value, offset, target, size_bytes);
  if (error == 0) [[likely]]
    return 0;
  if (error != core::by_engine) return fail_copy(pin, "read", offset, size_bytes);
  return result_of_engine_copy(pin, false, offset, target, size_bytes);
}

int gdrkit_write_segments(gdrkit_pin_t pin, const struct gdrkit_write_segment* segments, size_t count) {
  return copy_segments(pin, segments, count);
}

int gdrkit_read_segments(gdrkit_pin_t pin, const struct gdrkit_read_segment* segments, size_t count) {
  return copy_segments(pin, segments, count);
}

int gdrkit_start_write(gdrkit_pin_t pin, const struct gdrkit_write_segment* segments, size_t count,
                       gdrkit_copy_t* copy) {
  return start_copy(pin, segments, count, copy);
}

int gdrkit_start_read(gdrkit_pin_t pin, const struct gdrkit_read_segment* segments, size_t count, gdrkit_copy_t* copy) {
  return start_copy(pin, segments, count, copy);
}

int gdrkit_is_copy_done(gdrkit_copy_t copy) {
  const base::Result<bool> is_done = core::is_copy_done(copy.value);
  if (!is_done) return error_of(is_done);
  return *is_done ? 1 : 0;
}

int gdrkit_finish_copy(gdrkit_copy_t copy) { return result_of(core::finish_copy(copy.value)); }

int gdrkit_buffer_allocate(gdrkit_context_t context, int device, size_t size_bytes, gdrkit_buffer_t* buffer) {
  if (buffer == nullptr) return refuse_null("the buffer");
  return store_handle(core::allocate_buffer(context.value, device, size_bytes), &buffer->value);
}

int gdrkit_buffer_free(gdrkit_buffer_t buffer) { return result_of(core::free_buffer(buffer.value)); }

int gdrkit_buffer_get_info(gdrkit_buffer_t buffer, struct gdrkit_buffer_info* info) {
  if (base::Status known = base::check_info(info, first_buffer_info); !known) return error_of(known);
  const base::Result<core::BufferInfo> found = core::buffer_info(buffer.value);
  if (!found) return error_of(found);
  gdrkit_buffer_info filled{};
  filled.device = found->device;
  filled.device_address = found->address;
  filled.size_bytes = found->size_bytes;
  base::write_info(info, filled);
  return 0;
}

int gdrkit_buffer_copy_from_host(gdrkit_buffer_t buffer, size_t offset, const void* source, size_t size_bytes) {
  return result_of(core::copy_to_buffer(buffer.value, offset, source, size_bytes));
}

int gdrkit_buffer_copy_to_host(gdrkit_buffer_t buffer, size_t offset, void* target, size_t size_bytes) {
  return result_of(core::copy_from_buffer(buffer.value, offset, target, size_bytes));
}

int gdrkit_probe_backend(unsigned index, struct gdrkit_backend_report* report) {
  if (base::Status known = base::check_info(report, first_backend_report); !known) return error_of(known);
  const base::Result<core::BackendReport> probed = probe(index);
  if (!probed) return error_of(probed);
  gdrkit_backend_report filled{};
  filled.is_usable = probed->usable ? 1 : 0;
  filled.is_automatic = probed->backend->automatic ? 1 : 0;
  filled.name = probed->backend->name;
  filled.summary = probed->backend->summary;
  if (!probed->usable) {
    const base::Error& error = probed->usable.error();
    filled.error = -error.errno_value;
    std::memcpy(filled.reason, error.text(), strnlen(error.text(), sizeof filled.reason - 1));
  }
  base::write_info(report, filled);
  return 0;
}

const char* gdrkit_copy_kernel_name(unsigned index, int* is_usable) {
  const base::Result<core::CopyKernelReport> kernel = core::copy_kernel(index);
  if (!kernel) return nullptr;
  if (is_usable != nullptr) *is_usable = kernel->is_usable ? 1 : 0;
  return kernel->name;
}

const char* gdrkit_engine_name(int engine) {
  return engine < 0 || engine > GDRKIT_ENGINE_AUTOMATIC ? nullptr : engine_names[engine];
}

const char* gdrkit_strerror(int error) {
  if (error == 0) return capi::errno_text(0);
  return capi::errno_text(error < 0 ? static_cast<int>(0u - static_cast<unsigned>(error)) : error);
}

const char* gdrkit_last_error(void) { return last_detail; }

#define GDRKIT_TEXT_OF(number) #number
#define GDRKIT_TEXT(number) GDRKIT_TEXT_OF(number)
const char* gdrkit_version(void) {
  return GDRKIT_TEXT(GDRKIT_VERSION_MAJOR) "." GDRKIT_TEXT(GDRKIT_VERSION_MINOR) "." GDRKIT_TEXT(GDRKIT_VERSION_PATCH);
}

}  // extern "C"
