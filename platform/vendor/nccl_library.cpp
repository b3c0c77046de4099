// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/vendor/nccl_library.hpp"

#include "platform/vendor/load_library.hpp"

namespace gdrkit::platform {

base::Result<const NcclCalls*> nccl_calls(const char* path) noexcept {
  const char* const file = path != nullptr ? path : "libnccl.so.2";
  const auto find_all = [file](void* library, NcclCalls* calls) -> base::Status {
#define GDRKIT_NCCL_CALL(member, symbol, type, ...)     \
  if (!find_function(library, #symbol, &calls->member)) \
    return base::fail(ENOSYS, "cannot use %s: it lacks %s; install NCCL 2.18 or newer", file, #symbol);
#define GDRKIT_NCCL_OPTIONAL_CALL(member, symbol, type, ...) (void)find_function(library, #symbol, &calls->member);
#include "platform/vendor/nccl_calls.def"
#undef GDRKIT_NCCL_CALL
    if (const int result = calls->get_version(&calls->version); result != nccl_success) {
      return base::fail_vendor(EIO, result, "cannot use NCCL: ncclGetVersion of %s failed with error %d", file, result);
    }
    if (calls->version >= oldest_nccl_version) return {};
    return base::fail(ENOSYS, "cannot use %s: it is NCCL %d.%d; use 2.18 or newer", file, calls->version / 10000,
                      calls->version / 100 % 100);
  };
  return load_library<NcclCalls>(file, "NCCL", "install libnccl.so.2", find_all);
}

}  // namespace gdrkit::platform
