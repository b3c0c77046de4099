// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// libcuda.so.1, loaded at run time and never unloaded.
#pragma once

#include "base/result.hpp"

namespace gdrkit::driver {

/// The dlopen handle of libcuda. Loading does not initialize CUDA or create a context. ENOENT: the library cannot be
/// loaded; the text quotes the loader. Thread safe. Failures are not cached, so a later call may succeed.
[[nodiscard]] base::Result<void*> cuda_library() noexcept;

/// The address of the exported function with this exact name ("cuMemAlloc_v2"). ENOSYS: this driver lacks it.
[[nodiscard]] base::Result<void*> cuda_symbol(const char* name) noexcept;

}  // namespace gdrkit::driver
