// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/vendor/ucx_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

namespace gdrkit::platform {
namespace {

/// The first missing function, or nullptr. Also searches the libraries with which the library is linked.
const char* load_all(void* library, UcxCalls* calls) noexcept {
#define GDRKIT_UCX_CALL(member, symbol, ...)                                            \
  calls->member = reinterpret_cast<decltype(calls->member)>(::dlsym(library, #symbol)); \
  if (calls->member == nullptr) return #symbol;
#define GDRKIT_UCX_OPTIONAL_CALL(member, symbol, ...) \
  calls->member = reinterpret_cast<decltype(calls->member)>(::dlsym(library, #symbol));
#include "platform/vendor/ucx_calls.def"
#undef GDRKIT_UCX_CALL
#undef GDRKIT_UCX_OPTIONAL_CALL
  return nullptr;
}

}  // namespace

base::Result<const UcxCalls*> ucx_calls() noexcept {
  static std::mutex mutex;
  static UcxCalls calls;
  static bool is_loaded = false;
  const std::lock_guard lock(mutex);
  if (is_loaded) return &calls;
  const char* const named = std::getenv("GDRKIT_UCX_LIBRARY");
  const bool is_named = named != nullptr && *named != '\0';
  const char* const name = is_named ? named : "libucp.so.0";
  void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* const text = ::dlerror();
    return base::fail(
        ENOENT, "cannot load UCX (%s)%s", text != nullptr ? text : "unknown error",
        is_named ? "; correct GDRKIT_UCX_LIBRARY, or unset it to load the installed libucp.so.0"
                 : "; install Debian's package libucx0, or set GDRKIT_UCX_LIBRARY to the path of a libucp.so.0");
  }
  if (const char* const missing = load_all(library, &calls); missing != nullptr) {
    (void)::dlclose(library);
    return base::fail(ENOSYS, "cannot use %s: it lacks %s; use UCX 1.13 or newer", name, missing);
  }
  is_loaded = true;
  return &calls;
}

UcxStatus ucx_hook_cuda(const UcxCalls& calls) noexcept {
  if (calls.set_event_handler == nullptr || calls.unset_event_handler == nullptr) return ucx_ok;
  constexpr int events = ucx_event_cuda_allocation | ucx_event_cuda_free;
  const UcxEventHandler handler = [](int, void*, void*) {};
  const UcxStatus status = calls.set_event_handler(events, 0, handler, nullptr);
  // The hooks stay installed. The handler must be removed, because this library can be unloaded before UCX.
  if (status == ucx_ok) calls.unset_event_handler(events, handler, nullptr);
  return status;
}

void prepare_ucx_before_cuda() noexcept {
  if (const auto calls = ucx_calls()) (void)ucx_hook_cuda(**calls);
}

std::string ucx_version(const UcxCalls& calls) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  calls.get_version(&major, &minor, &release);
  return "UCX " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace gdrkit::platform
