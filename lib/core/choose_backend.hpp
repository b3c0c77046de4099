// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Selects the backend of a new context.
#pragma once

#include <memory>
#include <span>

#include "backend/backend.hpp"
#include "base/result.hpp"
#include "base/settings.hpp"

namespace gdrkit::core {

/// Opens settings.backend if it is set. Otherwise opens the first of `backends` that is automatic and usable; an
/// untried one (Traits::is_untried) only if no other is. EINVAL: unknown name. ENODEV: none is usable; the text
/// contains the reason of every backend. A forced backend returns its own error. May throw std::bad_alloc.
[[nodiscard]] base::Result<std::unique_ptr<backend::Backend>> choose_backend(
    std::span<const backend::Registration> backends, const base::Settings& settings);

}  // namespace gdrkit::core
