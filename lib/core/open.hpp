// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The steps of open(), with which tests open contexts on their own backends.
#pragma once

#include <memory>
#include <span>

#include "backend/backend.hpp"
#include "base/result.hpp"
#include "base/settings.hpp"
#include "core/core.hpp"
#include "engine/path.hpp"

namespace gdrkit::core {

/// Opens settings.backend if it is set. Otherwise opens the first of `backends` that is automatic and usable; an
/// untried one (Traits::is_untried) only if no other is. EINVAL: unknown name. ENODEV: none is usable; the text
/// contains the reason of every backend. A forced backend returns its own error. May throw std::bad_alloc.
[[nodiscard]] base::Result<std::unique_ptr<backend::Backend>> choose_backend(
    std::span<const backend::Registration> backends, const base::Settings& settings);

/// As open(), on this backend instead of one from the list. `cuda`: the CUDA functions that engines call. `limits`: how
/// long the engines' GPU kernel may stay resident, and how long the CPU waits for it.
[[nodiscard]] base::Result<Handle> open_with(std::unique_ptr<backend::Backend> backend, const base::Settings& settings,
                                             const engine::CudaCalls* cuda = nullptr,
                                             const engine::ResidenceLimits& limits = {}) noexcept;
/// As open(), on the first usable one of these backends instead of those of the list.
[[nodiscard]] base::Result<Handle> open_first_of(std::span<const backend::Registration> backends,
                                                 const base::Settings& settings) noexcept;

}  // namespace gdrkit::core
