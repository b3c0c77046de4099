// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/vendor/nccl_library.hpp"

#include <dlfcn.h>

#include <mutex>

namespace gdrkit::platform {
namespace {

constexpr const char* usual_nccl_file = "libnccl.so.2";

template <class Function>
bool load_nccl(void* library, const char* name, Function** function) noexcept {
  *function = reinterpret_cast<Function*>(::dlsym(library, name));
  return *function != nullptr;
}

/// The first missing function, or nullptr.
const char* load_all_nccl(void* library, NcclCalls* calls) noexcept {
#define GDRKIT_NCCL_CALL(member, symbol, type, ...) \
  if (!load_nccl(library, #symbol, &calls->member)) return #symbol;
#define GDRKIT_NCCL_OPTIONAL_CALL(member, symbol, type, ...) (void)load_nccl(library, #symbol, &calls->member);
#include "platform/vendor/nccl_calls.def"
#undef GDRKIT_NCCL_CALL
  return nullptr;
}

base::Status check_nccl(void* library, const char* file, NcclCalls* calls) noexcept {
  if (const char* missing = load_all_nccl(library, calls); missing != nullptr) {
    return base::fail(ENOSYS, "cannot use %s: it lacks %s; install NCCL 2.18 or newer", file, missing);
  }
  if (const int result = calls->get_version(&calls->version); result != nccl_success) {
    return base::fail_vendor(EIO, result, "cannot use NCCL: ncclGetVersion of %s failed with error %d", file, result);
  }
  if (calls->version >= oldest_nccl_version) return {};
  return base::fail(ENOSYS, "cannot use %s: it is NCCL %d.%d; use 2.18 or newer", file, calls->version / 10000,
                    calls->version / 100 % 100);
}

}  // namespace

base::Result<const NcclCalls*> nccl_calls(const char* path) noexcept {
  static std::mutex mutex;
  static NcclCalls calls;
  static bool is_loaded = false;
  const std::lock_guard lock(mutex);
  if (is_loaded) return &calls;
  const char* const file = path != nullptr ? path : usual_nccl_file;
  void* library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* text = ::dlerror();
    return base::fail(ENOENT, "cannot load NCCL (%s); install libnccl.so.2", text != nullptr ? text : "unknown error");
  }
  NcclCalls found;
  if (auto checked = check_nccl(library, file, &found); !checked) {
    (void)::dlclose(library);
    return base::pass(checked);
  }
  calls = found;
  is_loaded = true;
  return &calls;
}

}  // namespace gdrkit::platform
