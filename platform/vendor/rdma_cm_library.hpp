// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// librdmacm: the part of librdmacm.so.1 that connects queue pairs by IP address, loaded at run time. It relies on the
// layouts of rdma_cm_objects.hpp.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "platform/vendor/rdma_cm_objects.hpp"

namespace gdrkit::platform {

/// One pointer for each function of rdma_cm_calls.def. What fails returns -1 or nullptr with errno.
struct CmCalls {
#define GDRKIT_CM_CALL(member, symbol, version, result, ...) result (*member)(__VA_ARGS__) = nullptr;
#include "platform/vendor/rdma_cm_calls.def"
#undef GDRKIT_CM_CALL
};

/// The functions of librdmacm.so.1, which stays loaded. ENOENT: there is no library, ENOSYS: it lacks a function that
/// rdma-core has since version 23; the text names it. A failure is not remembered.
[[nodiscard]] base::Result<const CmCalls*> cm_calls() noexcept;

}  // namespace gdrkit::platform
