// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Which positive errno the drop-in face returns for an error of the inside.
#pragma once

#include <cerrno>

namespace gdrkit::capi {

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
