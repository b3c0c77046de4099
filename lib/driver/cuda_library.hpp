// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// libcuda.so.1, loaded at run time and kept for the life of the process.
#pragma once

#include "base/result.hpp"

namespace gdrkit::driver {

/// The dlopen handle of libcuda. Loading neither initialises CUDA nor creates a context. ENOENT when there is none; the
/// text quotes the loader. Thread safe; a failure is not remembered, so a later call may succeed.
[[nodiscard]] base::Result<void*> cuda_library() noexcept;

/// The address of one exported function, by its exact name ("cuMemAlloc_v2"); ENOSYS when this driver lacks it.
[[nodiscard]] base::Result<void*> cuda_symbol(const char* name) noexcept;

}  // namespace gdrkit::driver
