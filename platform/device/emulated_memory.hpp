// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The emulated device's memory (lib/driver/emulated_memory.hpp) for code that uses platform and not the private
// headers of lib, and how processes share this memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "driver/emulated_memory.hpp"

namespace gdrkit::platform {

using driver::emulated_adopt;
using driver::emulated_find;
using driver::emulated_page_bytes;

/// Like emulated_allocate, for whole pages of kind device; *fd is the memory file, which the caller closes.
/// emulated_export finds it only while it is open.
[[nodiscard]] base::Result<std::uint64_t> emulated_allocate_exportable(std::size_t size_bytes, int* fd) noexcept;
/// A descriptor of the memory file of the live allocation that starts at `address`, to be mapped elsewhere by
/// emulated_adopt; the caller closes it. EOPNOTSUPP: this process has none open. EINVAL: no allocation starts there.
[[nodiscard]] base::Result<int> emulated_export(std::uint64_t address) noexcept;
/// A memory file that processes share as one emulated allocation of `size_bytes`, a multiple of emulated_page_bytes.
/// Pages are allocated on first write. The caller closes the descriptor.
[[nodiscard]] inline base::Result<int> emulated_create_shared(std::size_t size_bytes) noexcept {
  return driver::emulated_create_file(size_bytes, driver::EmulatedKind::device);
}

}  // namespace gdrkit::platform
