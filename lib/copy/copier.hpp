// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copier: everything a copy needs to know, decided when a mapping is made; the copy itself decides by size alone.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "cpu/features.hpp"
#include "cpu/mapping_type.hpp"

namespace gdrkit::copy {

using cpu::MappingType;

/// The bulk part of one copy kernel: whole 64-byte lines, device side 64-byte aligned, host side any alignment.
using CopyLines = void (*)(void* target, const void* source, std::size_t line_count) noexcept;

/// Trivially copyable; lives in the mapping's record. No allocation, lock, system call, log or environment read in
/// copies.
struct Copier {
  MappingType type = MappingType::none;
  CopyLines store_lines = nullptr;  ///< host to device; set for write-combining mappings alone
  CopyLines load_lines = nullptr;   ///< device to host, likewise
  bool streaming_loads = false;     ///< load_lines goes through the CPU's streaming-load buffers
  const char* store_name = "";      ///< copy kernel's name; "memcpy" on a cached mapping, "words" on a device mapping
  const char* load_name = "";

  /// Host to device. Each device byte is written once by a naturally aligned access (cached mappings: memcpy's choice),
  /// a naturally aligned 1, 2, 4 or 8 bytes by a single one. When it returns, the stores have left this core for the
  /// device (WC: fence included). `device` must lie in the mapping with `size` bytes.
  void to_device(void* device, const void* host, std::size_t size) const noexcept;
  /// Device to host. Never returns data older than the call (WC: fences included), so that polling sees fresh data. A
  /// naturally aligned 1, 2, 4 or 8 bytes are read by a single scalar load. Otherwise a WC mapping may be read by whole
  /// 64-byte lines, each once, beyond the range but never beyond its lines.
  void from_device(void* host, const void* device, std::size_t size) const noexcept;
};

/// Picks for this CPU and mapping type. `forced` empty, or a copy kernel's name (GDRKIT_COPY_KERNEL): unknown name
/// EINVAL, not on this CPU EOPNOTSUPP, each with a detail that lists the names usable here. A forced copy kernel
/// without loads (movdir64b) leaves the choice of loads automatic. Cached and device mappings use no copy kernel; a
/// forced name is still checked. EINVAL for MappingType::none.
[[nodiscard]] base::Result<Copier> choose(const cpu::Features& features, MappingType type, const char* forced) noexcept;

/// One line of kernels_x86_64.def.
struct KernelInfo {
  const char* name;
  CopyLines store_lines;  ///< nullptr if it does not store (or load) lines
  CopyLines load_lines;
  bool streaming_loads;
  bool (*runs_on)(const cpu::Features&) noexcept;
};
struct KernelList {
  const KernelInfo* first;
  std::size_t count;
  [[nodiscard]] const KernelInfo* begin() const noexcept { return first; }
  [[nodiscard]] const KernelInfo* end() const noexcept { return first + count; }
};
[[nodiscard]] KernelList kernels() noexcept;

}  // namespace gdrkit::copy
