// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/vendor/rdma_cm_library.hpp"

#include "platform/vendor/load_library.hpp"

namespace gdrkit::platform {
namespace {

base::Status find_all_cm(void* library, CmCalls* calls) noexcept {
#define GDRKIT_CM_CALL(member, symbol, version, ...)             \
  if (!find_function(library, #symbol, &calls->member, version)) \
    return base::fail(ENOSYS, "cannot use librdmacm.so.1: it lacks %s; install rdma-core 23 or newer", #symbol);
#include "platform/vendor/rdma_cm_calls.def"
#undef GDRKIT_CM_CALL
  return {};
}

}  // namespace

base::Result<const CmCalls*> cm_calls() noexcept {
  return load_library<CmCalls>("librdmacm.so.1", "librdmacm", "install librdmacm1", find_all_cm);
}

}  // namespace gdrkit::platform
