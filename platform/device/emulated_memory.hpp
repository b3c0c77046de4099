// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The emulated device's memory (lib/driver/emulated_memory.hpp) for code that must not include the private headers of
// lib, and the functions that share this memory between processes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "driver/emulated_memory.hpp"

namespace gdrkit::platform {

using driver::emulated_adopt;
using driver::emulated_find;
using driver::emulated_page_bytes;

/// Like emulated_allocate, for whole pages of kind device. *fd is the memory file; the caller closes it.
/// emulated_export finds the allocation while a descriptor of the file is open.
[[nodiscard]] base::Result<std::uint64_t> emulated_allocate_exportable(std::size_t size_bytes, int* fd) noexcept;
/// Returns a descriptor of the memory file of the live allocation that starts at `address`; emulated_adopt maps it in
/// another process. The caller closes it. EOPNOTSUPP: this process has no open descriptor of the file. EINVAL: no
/// allocation starts at `address`.
[[nodiscard]] base::Result<int> emulated_export(std::uint64_t address) noexcept;
/// Creates a memory file that processes share as one emulated allocation of `size_bytes`, a multiple of
/// emulated_page_bytes. Pages use memory only after they are written. The caller closes the descriptor.
[[nodiscard]] inline base::Result<int> emulated_create_shared(std::size_t size_bytes) noexcept {
  return driver::emulated_create_file(size_bytes, driver::EmulatedKind::device);
}

}  // namespace gdrkit::platform
