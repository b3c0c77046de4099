// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// libibverbs: the part of libibverbs.so.1 that shows whether a device can register a dma-buf, loaded at run time.
// Objects are opaque: their layouts are not used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"

namespace gdrkit::platform {

struct VerbsDeviceHandle;
struct VerbsContext;
struct VerbsDomain;  ///< a protection domain
struct VerbsRegion;  ///< a memory region

/// One pointer for each function of verbs_calls.def. On failure they return nullptr and set errno.
struct VerbsCalls {
#define GDRKIT_VERBS_CALL(member, symbol, version, result, ...) result (*member)(__VA_ARGS__) = nullptr;
#include "platform/vendor/verbs_calls.def"
#undef GDRKIT_VERBS_CALL
};

/// The functions of libibverbs.so.1, which stays loaded. Loading opens no device. ENOENT: the library is missing.
/// ENOSYS: it lacks a function that every libibverbs.so.1 has, which the text names. A failed call may be repeated.
[[nodiscard]] base::Result<const VerbsCalls*> verbs_calls() noexcept;

}  // namespace gdrkit::platform
