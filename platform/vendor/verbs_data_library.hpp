// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// libibverbs: the functions of libibverbs.so.1 that move data, loaded at run time. They use the layouts of
// verbs_objects.hpp; those of verbs_library.hpp do not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "platform/vendor/verbs_library.hpp"
#include "platform/vendor/verbs_objects.hpp"

namespace gdrkit::platform {

/// One pointer per function of verbs_data_calls.def. On failure they return nullptr and set errno, or return the errno.
struct VerbsDataCalls {
#define GDRKIT_VERBS_CALL(member, symbol, version, result, ...) result (*member)(__VA_ARGS__) = nullptr;
#include "platform/vendor/verbs_data_calls.def"
#undef GDRKIT_VERBS_CALL
};

/// Like verbs_calls().
[[nodiscard]] base::Result<const VerbsDataCalls*> verbs_data_calls() noexcept;

}  // namespace gdrkit::platform
