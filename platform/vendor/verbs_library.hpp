// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// libibverbs.so.1, loaded at run time: the part that shows whether a device can register a dma-buf, and the part that
// transfers data. Only the second relies on the layouts of verbs_objects.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "platform/vendor/verbs_objects.hpp"

namespace gdrkit::platform {

struct VerbsDeviceHandle;

/// One pointer for each function of verbs_calls.def. On failure they return nullptr and set errno.
struct VerbsCalls {
#define GDRKIT_VERBS_CALL(member, symbol, version, result, ...) result (*member)(__VA_ARGS__) = nullptr;
#include "platform/vendor/verbs_calls.def"
#undef GDRKIT_VERBS_CALL
};

/// The functions of libibverbs.so.1, which stays loaded. Loading opens no device. ENOENT: the library is missing.
/// ENOSYS: it lacks a function that every libibverbs.so.1 has, which the text names. A failed call may be repeated.
[[nodiscard]] base::Result<const VerbsCalls*> verbs_calls() noexcept;

/// One pointer for each function of verbs_data_calls.def. On failure they return nullptr and set errno, or return the
/// errno.
struct VerbsDataCalls {
#define GDRKIT_VERBS_CALL(member, symbol, version, result, ...) result (*member)(__VA_ARGS__) = nullptr;
#include "platform/vendor/verbs_data_calls.def"
#undef GDRKIT_VERBS_CALL
};

/// Like verbs_calls().
[[nodiscard]] base::Result<const VerbsDataCalls*> verbs_data_calls() noexcept;

}  // namespace gdrkit::platform
