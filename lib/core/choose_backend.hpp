// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Which backend a new context gets.
#pragma once

#include <memory>
#include <span>

#include "backend/backend.hpp"
#include "base/result.hpp"
#include "base/settings.hpp"

namespace gdrkit::core {

/// Only settings.backend if it is set (EINVAL for an unknown name, else its own error); otherwise the first of
/// `backends` that is automatic and can run, or ENODEV with every backend's reason. May throw std::bad_alloc.
[[nodiscard]] base::Result<std::unique_ptr<backend::Backend>> choose_backend(
    std::span<const backend::Registration> backends, const base::Settings& settings);

}  // namespace gdrkit::core
