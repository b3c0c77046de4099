// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/vendor/ucx_library.hpp"

#include <cstdlib>

#include "platform/vendor/load_library.hpp"

namespace gdrkit::platform {

base::Result<const UcxCalls*> ucx_calls() noexcept {
  const char* const named = std::getenv("GDRKIT_UCX_LIBRARY");
  const bool is_named = named != nullptr && *named != '\0';
  const char* const file = is_named ? named : "libucp.so.0";
  const auto find_all = [file](void* library, UcxCalls* calls) -> base::Status {
#define GDRKIT_UCX_CALL(member, symbol, ...)            \
  if (!find_function(library, #symbol, &calls->member)) \
    return base::fail(ENOSYS, "cannot use %s: it lacks %s; use UCX 1.13 or newer", file, #symbol);
#define GDRKIT_UCX_OPTIONAL_CALL(member, symbol, ...) (void)find_function(library, #symbol, &calls->member);
#include "platform/vendor/ucx_calls.def"
#undef GDRKIT_UCX_CALL
#undef GDRKIT_UCX_OPTIONAL_CALL
    return {};
  };
  return load_library<UcxCalls>(
      file, "UCX",
      is_named ? "correct GDRKIT_UCX_LIBRARY, or unset it to load the installed libucp.so.0"
               : "install Debian's package libucx0, or set GDRKIT_UCX_LIBRARY to the path of a libucp.so.0",
      find_all);
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
