// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// libibverbs: the part of libibverbs.so.1 that is asked whether a device can register a dma-buf, loaded at run time.
// Objects stay opaque: no layout of theirs is relied on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"

namespace gdrkit::platform {

struct VerbsDeviceHandle;
struct VerbsContext;
struct VerbsDomain;  ///< a protection domain
struct VerbsRegion;  ///< a memory region

/// One pointer for each function of verbs_calls.def. Pointers are null on failure, which errno then explains.
struct VerbsCalls {
#define GDRKIT_VERBS_CALL(member, symbol, version, result, ...) result (*member)(__VA_ARGS__) = nullptr;
#include "platform/vendor/verbs_calls.def"
#undef GDRKIT_VERBS_CALL
};

/// The functions of libibverbs.so.1, which stays loaded. Loading opens no device. ENOENT: there is no library, ENOSYS:
/// it lacks a function that every libibverbs.so.1 has; the sentence names it. A failure is not remembered.
[[nodiscard]] base::Result<const VerbsCalls*> verbs_calls() noexcept;

}  // namespace gdrkit::platform
