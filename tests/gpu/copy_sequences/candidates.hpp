// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The instruction sequences that a copy through a write-combining mapping could use.
#pragma once

#include <cstddef>
#include <span>

#include "copy/copier.hpp"
#include "core/copy_path.hpp"
#include "measure/harness/direction.hpp"

namespace gdrkit::tests {

using measure::Direction;

/// Copies a power of two of bytes. The device address is aligned to the size, or to 64 bytes.
using Sequence = void (*)(void* target, const void* source, std::size_t size) noexcept;

struct Candidate {
  const char* name;
  Direction direction;
  std::size_t smallest_bytes;
  std::size_t largest_bytes;
  Sequence run;  ///< nullptr: the library under test
  /// With `run` nullptr: how the library reads. Writes have no choice.
  copy::ReadOrder order = core::drop_in_reads;
};

/// Those that this CPU supports. The first of each direction is the baseline, the second is the library.
[[nodiscard]] std::span<const Candidate> candidates();

}  // namespace gdrkit::tests
