// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copy kernel "movdir64b": direct stores. Each line is one 64-byte write that is never split. Stores only.
#include <immintrin.h>

#include <cstddef>

#include "copy/word_access.hpp"

namespace gdrkit::copy::copy_kernel::movdir64b {

[[gnu::target("movdir64b")]] void store_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<char*>(target);
  const auto* from = static_cast<const char*>(source);
  for (; line_count != 0; --line_count, to += line_bytes, from += line_bytes) _movdir64b(to, from);
}

}  // namespace gdrkit::copy::copy_kernel::movdir64b
