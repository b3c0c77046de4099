// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The errno values that the C libraries return, and their texts.
#pragma once

#include <cerrno>
#include <cstring>

namespace gdrkit::capi {

/// The untranslated sentence of an errno value; thread safe, never nullptr.
[[nodiscard]] inline const char* errno_text(int errno_value) noexcept {
  const char* const text = strerrordesc_np(errno_value);
  return text == nullptr ? "Unknown error" : text;
}

// What the drop-in library returns for an error of core: a positive errno.

/// Only values that user space has a name for leave the library: no vendor code, not 524 (ENOTSUPP).
[[nodiscard]] constexpr int gdrapi_errno(int errno_value) noexcept {
  constexpr int internal_enotsupp = 524;
  if (errno_value == internal_enotsupp) return EOPNOTSUPP;
  return errno_value > 0 && errno_value <= EHWPOISON ? errno_value : EIO;
}

/// Callers expect EINVAL for every kind of memory that cannot be pinned; EOPNOTSUPP is what an impossible mapping type
/// gives.
[[nodiscard]] constexpr int gdrapi_pin_errno(int errno_value) noexcept {
  const int value = gdrapi_errno(errno_value);
  return value == EOPNOTSUPP ? EINVAL : value;
}

}  // namespace gdrkit::capi
