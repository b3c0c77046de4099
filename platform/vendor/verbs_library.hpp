// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// libibverbs: the functions of libibverbs.so.1 that test whether a device can register a dma-buf, loaded at run time.
// Objects stay opaque: no layout is required.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"

namespace gdrkit::platform {

struct VerbsDeviceHandle;
struct VerbsContext;
struct VerbsDomain;  ///< a protection domain
struct VerbsRegion;  ///< a memory region

/// One pointer per function of verbs_calls.def. Functions that return a pointer return nullptr and set errno on
/// failure.
struct VerbsCalls {
#define GDRKIT_VERBS_CALL(member, symbol, version, result, ...) result (*member)(__VA_ARGS__) = nullptr;
#include "platform/vendor/verbs_calls.def"
#undef GDRKIT_VERBS_CALL
};

/// Returns the functions of libibverbs.so.1, which stays loaded. Loading opens no device. ENOENT: the library is
/// missing. ENOSYS: it lacks a function that every libibverbs.so.1 has; the error names it. A failed call may be
/// repeated.
[[nodiscard]] base::Result<const VerbsCalls*> verbs_calls() noexcept;

}  // namespace gdrkit::platform
