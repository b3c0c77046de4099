// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/vendor/rdma_cm_library.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <mutex>

namespace gdrkit::platform {
namespace {

/// The first missing function, or nullptr.
const char* load_cm(void* library, CmCalls* calls) noexcept {
#define GDRKIT_CM_CALL(member, symbol, version, ...)                                              \
  calls->member = reinterpret_cast<decltype(calls->member)>(::dlvsym(library, #symbol, version)); \
  if (calls->member == nullptr) return #symbol;
#include "platform/vendor/rdma_cm_calls.def"
#undef GDRKIT_CM_CALL
  return nullptr;
}

}  // namespace

base::Result<const CmCalls*> cm_calls() noexcept {
  static std::mutex mutex;
  static CmCalls calls;
  static bool is_loaded = false;
  const std::lock_guard lock(mutex);
  if (is_loaded) return &calls;
  void* library = ::dlopen("librdmacm.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* text = ::dlerror();
    return base::fail(ENOENT, "cannot load librdmacm (%s); install librdmacm1",
                      text != nullptr ? text : "unknown error");
  }
  if (const char* missing = load_cm(library, &calls); missing != nullptr) {
    (void)::dlclose(library);
    return base::fail(ENOSYS, "cannot use librdmacm.so.1: it lacks %s; install rdma-core 23 or newer", missing);
  }
  is_loaded = true;
  return &calls;
}

}  // namespace gdrkit::platform
