// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/vendor/nvml_library.hpp"

#include "platform/vendor/load_library.hpp"

namespace gdrkit::platform {
namespace {

base::Status find_all_nvml(void* library, NvmlCalls* calls) noexcept {
#define GDRKIT_NVML_OPTIONAL_CALL(member, symbol, ...) (void)find_function(library, #symbol, &calls->member);
#define GDRKIT_NVML_CALL(member, symbol, ...)           \
  if (!find_function(library, #symbol, &calls->member)) \
    return base::fail(ENOSYS, "cannot use libnvidia-ml.so.1: it lacks %s; update the NVIDIA driver", #symbol);
#include "platform/vendor/nvml_calls.def"
#undef GDRKIT_NVML_CALL
  return {};
}

}  // namespace

base::Result<const NvmlCalls*> nvml_calls() noexcept {
  // The versioned name: runtime containers contain only that one.
  return load_library<NvmlCalls>("libnvidia-ml.so.1", "NVML",
                                 "install the NVIDIA driver, or mount it into the container", find_all_nvml);
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
