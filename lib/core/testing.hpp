// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Functions with which tests open contexts on their own backends.
#pragma once

#include <memory>
#include <span>

#include "core/core.hpp"
#include "engine/path.hpp"

namespace gdrkit::core {

/// As open(), on this backend instead of one from the list. `cuda`: the CUDA functions that engines call. `limits`: how
/// long the engines' GPU kernel may stay resident, and how long the CPU waits for it.
[[nodiscard]] base::Result<Handle> open_with(std::unique_ptr<backend::Backend> backend, const base::Settings& settings,
                                             const engine::CudaCalls* cuda = nullptr,
                                             const engine::ResidenceLimits& limits = {}) noexcept;
/// As open(), on the first usable one of these backends instead of those of the list.
[[nodiscard]] base::Result<Handle> open_first_of(std::span<const backend::Registration> backends,
                                                 const base::Settings& settings) noexcept;

}  // namespace gdrkit::core
