// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How tests put backends of their own under a context.
#pragma once

#include <memory>
#include <span>

#include "core/core.hpp"
#include "engine/path.hpp"

namespace gdrkit::core {

/// As open(), on this backend instead of one from the list. `cuda`: what engines use in place of the driver; `limits`:
/// how long their GPU kernel may stay, and the CPU waits for it.
[[nodiscard]] base::Result<Handle> open_with(std::unique_ptr<backend::Backend> backend, const base::Settings& settings,
                                             const engine::CudaCalls* cuda = nullptr,
                                             const engine::ResidenceLimits& limits = {}) noexcept;
/// As open(), on the first of these that can run instead of those of the list.
[[nodiscard]] base::Result<Handle> open_first_of(std::span<const backend::Registration> backends,
                                                 const base::Settings& settings) noexcept;

}  // namespace gdrkit::core
