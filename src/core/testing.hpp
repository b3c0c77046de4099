// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// open_with: how tests put a backend of their own under a context.
#pragma once

#include <memory>

#include "core/core.hpp"

namespace gdrkit::core {

/// As open(), on this backend instead of one from the list.
[[nodiscard]] base::Result<Handle> open_with(std::unique_ptr<backend::Backend> backend,
                                             const base::Settings& settings) noexcept;

}  // namespace gdrkit::core
