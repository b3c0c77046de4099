// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copier: all choices of a copy, made when memory is mapped; the copy only distinguishes address and size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "copy/kernel.hpp"
#include "cpu/features.hpp"
#include "cpu/mapping_type.hpp"
#include "cpu/ordering.hpp"

namespace gdrkit::copy {

using cpu::MappingType;

/// The bulk part of one copy kernel: whole 64-byte lines, device side 64-byte aligned, host side any alignment.
using CopyLines = void (*)(void* target, const void* source, std::size_t line_count) noexcept;
/// One ordinary (not streaming) load of 16, 32 or 64 bytes, at most the copy kernel's widest, from a source aligned to
/// it.
using LoadPiece = void (*)(void* target, const void* source, std::size_t piece_bytes) noexcept;

/// true for 1, 2, 4, 8, 16, ... bytes at a multiple of as many; false for 0 bytes.
[[nodiscard]] inline bool is_aligned_power_of_two(const void* device, std::size_t size) noexcept {
  return ((reinterpret_cast<std::uintptr_t>(device) | size) & (size - 1)) == 0;
}

/// One scalar load of 1, 2, 4 or 8 bytes, which is single-copy atomic.
inline void load_word(void* host, const void* device, std::size_t size) noexcept {
  switch (size) {
    case 8: copy_kernel::load_word<8>(host, device); break;
    case 4: copy_kernel::load_word<4>(host, device); break;
    case 2: copy_kernel::load_word<2>(host, device); break;
    default: copy_kernel::load_word<1>(host, device); break;
  }
}

/// Trivially copyable; lives in the mapping's record. No allocation, lock, system call, log or environment read in
/// copies.
struct Copier {
  MappingType type = MappingType::none;
  bool streaming_loads = false;        ///< load_lines goes through the CPU's streaming-load buffers
  std::uint8_t widest_load_bytes = 0;  ///< of load_piece
  CopyLines store_lines = nullptr;     ///< host to device; set for write-combining mappings only, as those below
  LoadPiece load_piece = nullptr;      ///< nullptr: the copy kernel has none
  CopyLines load_lines = nullptr;      ///< device to host
  const char* store_name = "";         ///< copy kernel's name; "memcpy" on a cached mapping, "words" on a device one
  const char* load_name = "";

  /// Host to device. Each device byte is written once by a naturally aligned access (cached mappings: memcpy's choice),
  /// a naturally aligned 1, 2, 4 or 8 bytes by a single one. When it returns, the stores have left this core for the
  /// device; on a cached mapping, which is coherent, they are ordered before all later ones (fences included). `device`
  /// must lie in the mapping with `size` bytes.
  void to_device(void* device, const void* host, std::size_t size) const noexcept;

  /// Device to host. Never returns data older than the call, nor older than what an earlier load of the caller saw
  /// (fence included), so that polling sees fresh data. A naturally aligned 1, 2, 4 or 8 bytes (a flag) are read by a
  /// single scalar load, and what the caller loads afterwards is not older than they are (second fence included).
  /// Otherwise a WC mapping may be read beyond the range, but never beyond its 64-byte lines; each line is read once.
  void from_device(void* host, const void* device, std::size_t size) const noexcept {
    order_before_load(size);
    load_ordered(host, device, size);
  }

  /// The two halves of from_device(). The fence depends on the size only, so that a caller makes it before it looks the
  /// mapping up: behind a fence every instruction adds to the time of the load, before it hardly any does.
  static void order_before_load(std::size_t size) noexcept {
    if (size <= line_bytes) [[likely]] {
      cpu::order_before_loads();
    } else {
      cpu::order_before_streaming_loads();
    }
  }
  void load_ordered(void* host, const void* device, std::size_t size) const noexcept {
    if (type == MappingType::write_combining && is_aligned_power_of_two(device, size)) [[likely]] {
      if (size <= 8) {
        load_word(host, device, size);
        cpu::order_after_loads();
        return;
      }
      if (size <= widest_load_bytes) {
        load_piece(host, device, size);
        return;
      }
    }
    load_more(host, device, size);
  }

 private:
  void load_more(void* host, const void* device, std::size_t size) const noexcept;
};

/// Picks for this CPU and mapping type. `forced` empty, or a copy kernel's name (GDRKIT_COPY_KERNEL): unknown name
/// EINVAL, not on this CPU EOPNOTSUPP, each with a text that lists the names usable here. A forced copy kernel
/// without loads (movdir64b) leaves the choice of loads automatic. Cached and device mappings use no copy kernel; a
/// forced name is still checked. EINVAL for MappingType::none.
[[nodiscard]] base::Result<Copier> choose(const cpu::Features& features, MappingType type, const char* forced) noexcept;

/// One line of this architecture's kernels_<architecture>.def.
struct KernelInfo {
  const char* name;
  CopyLines store_lines;  ///< nullptr if it does not store (or load) lines
  CopyLines load_lines;
  bool streaming_loads;
  LoadPiece load_piece;            ///< nullptr if widest_load_bytes is 0
  std::uint8_t widest_load_bytes;  ///< 0, 16, 32 or 64
  bool (*runs_on)(const cpu::Features&) noexcept;
};
[[nodiscard]] std::span<const KernelInfo> kernels() noexcept;

}  // namespace gdrkit::copy
