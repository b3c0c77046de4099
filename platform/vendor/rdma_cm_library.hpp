// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// librdmacm: the functions of librdmacm.so.1 that connect queue pairs by IP address, loaded at run time. They use the
// layouts of rdma_cm_objects.hpp.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "platform/vendor/rdma_cm_objects.hpp"

namespace gdrkit::platform {

/// One pointer per function of rdma_cm_calls.def. On failure they return -1 or nullptr and set errno.
struct CmCalls {
#define GDRKIT_CM_CALL(member, symbol, version, result, ...) result (*member)(__VA_ARGS__) = nullptr;
#include "platform/vendor/rdma_cm_calls.def"
#undef GDRKIT_CM_CALL
};

/// Returns the functions of librdmacm.so.1, which stays loaded. ENOENT: the library is missing. ENOSYS: it lacks a
/// function that rdma-core has since version 23; the error names it. A failed call may be repeated.
[[nodiscard]] base::Result<const CmCalls*> cm_calls() noexcept;

}  // namespace gdrkit::platform
