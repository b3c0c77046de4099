// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Which engine is the fastest for a copy.
#pragma once

#include <cstddef>

#include "engine/engine.hpp"

namespace gdrkit::engine {

/// Up to this size engine cpu is the fastest whatever else is known of the copy.
[[nodiscard]] std::size_t largest_for_cpu(Direction direction) noexcept;

struct Choice {
  Id warm;  ///< while engine mover is warm
  Id cold;
};
[[nodiscard]] Choice choose(Direction direction, HostMemory host_memory, std::size_t size_bytes) noexcept;

}  // namespace gdrkit::engine
