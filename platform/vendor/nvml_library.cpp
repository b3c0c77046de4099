// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/vendor/nvml_library.hpp"

#include <dlfcn.h>

#include <mutex>

namespace gdrkit::platform {
namespace {

template <class Function>
bool load(void* library, const char* name, Function** function) noexcept {
  *function = reinterpret_cast<Function*>(::dlsym(library, name));
  return *function != nullptr;
}

/// The first missing function, or nullptr.
const char* load_all(void* library, NvmlCalls* calls) noexcept {
#define GDRKIT_NVML_OPTIONAL_CALL(member, symbol, ...) (void)load(library, #symbol, &calls->member);
#define GDRKIT_NVML_CALL(member, symbol, ...) \
  if (!load(library, #symbol, &calls->member)) return #symbol;
#include "platform/vendor/nvml_calls.def"
#undef GDRKIT_NVML_CALL
  return nullptr;
}

}  // namespace

base::Result<const NvmlCalls*> nvml_calls() noexcept {
  static std::mutex mutex;
  static NvmlCalls calls;
  static bool is_loaded = false;
  const std::lock_guard lock(mutex);
  if (is_loaded) return &calls;
  // The versioned name: runtime containers contain only that one.
  void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* text = ::dlerror();
    return base::fail(ENOENT, "cannot load NVML (%s); install the NVIDIA driver, or mount it into the container",
                      text != nullptr ? text : "unknown error");
  }
  if (const char* missing = load_all(library, &calls); missing != nullptr) {
    (void)::dlclose(library);
    return base::fail(ENOSYS, "cannot use libnvidia-ml.so.1: it lacks %s; update the NVIDIA driver", missing);
  }
  is_loaded = true;
  return &calls;
}

const char* nvml_result_name(int result) noexcept {
  switch (result) {
    case nvml_success: return "NVML_SUCCESS";
    case 1: return "NVML_ERROR_UNINITIALIZED";
    case nvml_invalid_argument: return "NVML_ERROR_INVALID_ARGUMENT";
    case nvml_not_supported: return "NVML_ERROR_NOT_SUPPORTED";
    case nvml_no_permission: return "NVML_ERROR_NO_PERMISSION";
    case 6: return "NVML_ERROR_NOT_FOUND";
    case 7: return "NVML_ERROR_INSUFFICIENT_SIZE";
    case 8: return "NVML_ERROR_INSUFFICIENT_POWER";
    case nvml_driver_not_loaded: return "NVML_ERROR_DRIVER_NOT_LOADED";
    case 10: return "NVML_ERROR_TIMEOUT";
    case 11: return "NVML_ERROR_IRQ_ISSUE";
    case 12: return "NVML_ERROR_LIBRARY_NOT_FOUND";
    case nvml_function_not_found: return "NVML_ERROR_FUNCTION_NOT_FOUND";
    case 14: return "NVML_ERROR_CORRUPTED_INFOROM";
    case nvml_gpu_is_lost: return "NVML_ERROR_GPU_IS_LOST";
    case 16: return "NVML_ERROR_RESET_REQUIRED";
    case 17: return "NVML_ERROR_OPERATING_SYSTEM";
    case nvml_lib_rm_version_mismatch: return "NVML_ERROR_LIB_RM_VERSION_MISMATCH";
    case 19: return "NVML_ERROR_IN_USE";
    case 20: return "NVML_ERROR_MEMORY";
    case 21: return "NVML_ERROR_NO_DATA";
    case 25: return "NVML_ERROR_ARGUMENT_VERSION_MISMATCH";
    case 26: return "NVML_ERROR_DEPRECATED";
    case 27: return "NVML_ERROR_NOT_READY";
    case 28: return "NVML_ERROR_GPU_NOT_FOUND";
    case 29: return "NVML_ERROR_INVALID_STATE";
    case 999: return "NVML_ERROR_UNKNOWN";
    default: return "an unknown result";
  }
}

}  // namespace gdrkit::platform
