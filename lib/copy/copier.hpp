// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copier: the decisions for all copies of a mapping. A copy itself only depends on address and size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "copy/word_access.hpp"
#include "cpu/features.hpp"
#include "cpu/mapping_type.hpp"
#include "cpu/ordering.hpp"

namespace gdrkit::copy {

using cpu::MappingType;

/// Copies whole 64-byte lines. The device address is 64-byte aligned; the host address may have any alignment.
using CopyLines = void (*)(void* target, const void* source, std::size_t line_count) noexcept;

/// True if the size is a power of two and the address is aligned to it; false for 0 bytes.
[[nodiscard]] inline bool is_aligned_power_of_two(const void* device, std::size_t size) noexcept {
  return ((reinterpret_cast<std::uintptr_t>(device) | size) & (size - 1)) == 0;
}

/// True for whole lines, or 0 bytes.
[[nodiscard]] inline bool has_whole_lines(const void* device, std::size_t size) noexcept {
  return (reinterpret_cast<std::uintptr_t>(device) | size) % line_bytes == 0;
}

/// One scalar load of 1, 2, 4 or 8 bytes. It is single-copy atomic.
inline void load_word(void* host, const void* device, std::size_t size) noexcept {
  switch (size) {
    case 8: load_word<8>(host, device); break;
    case 4: load_word<4>(host, device); break;
    case 2: load_word<2>(host, device); break;
    default: load_word<1>(host, device); break;
  }
}

/// The order of a read with the caller's other accesses (docs/design/0013). In both, no load is served from a
/// streaming-load buffer that an earlier call filled.
enum class ReadOrder : std::uint8_t {
  ordered,     ///< as Copier::from_device() documents
  as_gdrcopy,  ///< only later stores are ordered after earlier ones. The CPU may load up to 64 bytes before the call.
};

/// Trivially copyable; part of the mapping's record. Copies do not allocate, lock, log, call the system or read the
/// environment.
struct Copier {
  MappingType type = MappingType::none;
  bool streaming_loads = false;        ///< load_lines uses the CPU's streaming-load buffers
  std::uint8_t widest_load_bytes = 0;  ///< the largest piece that one ordinary load reads; 0: only words
  CopyLines store_lines = nullptr;     ///< host to device; for write-combining mappings only, like load_lines
  CopyLines load_lines = nullptr;      ///< device to host
  const char* store_name = "";         ///< name of the copy kernel; "memcpy" for a cached, "words" for a device mapping
  const char* load_name = "";

  /// Copies from host to device. Writes each device byte once, by naturally aligned accesses (on cached mappings,
  /// memcpy chooses the accesses). Writes a naturally aligned word of 1, 2, 4 or 8 bytes by a single access. Includes
  /// the fences: on return, the stores have left this core for the device. On a cached mapping, which is coherent, they
  /// are ordered before all later stores. The `size` bytes at `device` must lie in the mapping.
  void to_device(void* device, const void* host, std::size_t size) const noexcept;

  /// Copies from device to host. Includes the fences: the data is never older than the call or than an earlier load of
  /// the caller, so polling returns fresh data. Reads a naturally aligned word of 1, 2, 4 or 8 bytes (a flag) by a
  /// single scalar load. Later loads of the caller are not older than it. For other sizes, a write-combining mapping
  /// may be read beyond the range, but not beyond its 64-byte lines, and each line is read once.
  void from_device(void* host, const void* device, std::size_t size) const noexcept {
    order_before_load(size);
    load(host, device, size);
  }

  /// The two halves of from_device(). The fence depends on the size only, so a caller can execute it before it looks up
  /// the mapping. An ordinary load from a write-combining mapping starts when all earlier instructions have retired and
  /// their stores have left the store buffer. Before it, a short copy therefore makes no call, which would store.
  template <ReadOrder order = ReadOrder::ordered>
  static void order_before_load(std::size_t size) noexcept {
    if (size > line_bytes) [[unlikely]] {
      cpu::order_before_streaming_loads();
    } else if constexpr (order == ReadOrder::ordered) {
      cpu::order_before_loads();
    }
  }
  template <ReadOrder order = ReadOrder::ordered>
  void load(void* host, const void* device, std::size_t size) const noexcept {
    if (type == MappingType::write_combining && is_aligned_power_of_two(device, size) &&
        (size <= 8 || size <= widest_load_bytes)) [[likely]] {
      if (size <= 8) {
        load_word(host, device, size);
        if constexpr (order == ReadOrder::ordered) cpu::order_after_loads();
      } else {
        load_piece(host, device, size);
      }
    } else if (type == MappingType::write_combining && size > line_bytes && has_whole_lines(device, size)) {
      load_lines(host, device, size / line_bytes);
    } else {
      load_more(host, device, size);
    }
    if constexpr (order == ReadOrder::as_gdrcopy) cpu::order_stores_after_loads();
  }

 private:
  void load_more(void* host, const void* device, std::size_t size) const noexcept;
};

/// Selects the copy kernels for this CPU and mapping type. `forced`: the name of a copy kernel (GDRKIT_COPY_KERNEL), or
/// empty. A forced copy kernel without loads (movdir64b, avx512_movdir64b) leaves the choice of loads automatic. Cached
/// and device mappings use no copy kernel, but a forced name is still checked. EINVAL: unknown name, or
/// MappingType::none. EOPNOTSUPP: this CPU does not support the copy kernel. The errors list the usable names.
[[nodiscard]] base::Result<Copier> choose(const cpu::Features& features, MappingType type, const char* forced) noexcept;

/// One line of kernels_<architecture>.def.
struct KernelInfo {
  const char* name;
  CopyLines store_lines;  ///< nullptr if unsupported; the same for load_lines
  CopyLines load_lines;
  bool streaming_loads;
  std::uint8_t widest_load_bytes;  ///< 16, 32 or 64: the widest load of load_piece() on every such CPU; 0: none
  bool (*runs_on)(const cpu::Features&) noexcept;
};
[[nodiscard]] std::span<const KernelInfo> kernels() noexcept;

}  // namespace gdrkit::copy
