// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Which device is to touch memory that belongs to no CUDA context, such as another process's, imported for one device.
#pragma once

#include <optional>

namespace gdrkit::driver {

/// `own`, the memory's own device, or the first other one that may access it where `own` certainly may not.
/// `may_access(device)`: by CUDA's word; nothing where CUDA cannot say, or there is no such device.
template <class MayAccess>
int device_with_access(int own, MayAccess may_access) noexcept {
  constexpr int device_limit = 64;  // more than any machine has
  if (const std::optional<bool> found = may_access(own); !found || *found) return own;
  for (int other = 0; other < device_limit; ++other) {
    const std::optional<bool> found = may_access(other);
    if (!found) break;
    if (*found) return other;
  }
  return own;
}

}  // namespace gdrkit::driver
