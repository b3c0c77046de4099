// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Station: the measured memory of one PE, and the parameters of the loops.
#pragma once

#include <cstddef>
#include <cstdint>

#include "measure/harness/direction.hpp"

namespace gdrkit::transfer::shmem {

struct Station {
  int pe = 0;
  int peer = 0;                            ///< the next PE
  std::uint8_t* object = nullptr;          ///< symmetric: what the others put to and get from
  std::uint8_t* symmetric = nullptr;       ///< symmetric: the local side
  std::uint8_t* host = nullptr;            ///< ordinary memory as malloc has it for this size: the local side
  std::uint8_t* mapped = nullptr;          ///< ordinary memory of a separate mmap: the local side
  std::uint8_t* registered = nullptr;      ///< ordinary memory that the library was shown: the local side
  std::uint8_t* pinned = nullptr;          ///< host memory that the driver has pinned: the local side
  std::uint64_t* word = nullptr;           ///< symmetric: of p, g and atomic operations
  std::uint64_t* signal = nullptr;         ///< symmetric: words of ping-pong, put_signal, ping-pong on streams
  std::uint64_t* device_signal = nullptr;  ///< symmetric: the same of GPU kernels
  std::size_t size_bytes = 0;              ///< of each operation
  std::uint64_t turn = 0;                  ///< of ping-pong, counted over all batches
  std::uint64_t stream_turn = 0;           ///< the same on streams
  std::uint64_t device_turn = 0;           ///< the same of GPU kernels
  std::size_t object_bytes = 0;            ///< of `object`
  std::uint64_t device_batches = 0;        ///< of GPU kernels so far, alike on all PEs that take part
  void* stream = nullptr;                  ///< the library's own
};

/// Symmetric memory that a station takes from the heap, for operations of up to `largest_bytes`.
[[nodiscard]] constexpr std::size_t object_bytes(std::size_t largest_bytes) {
  constexpr std::size_t least_bytes = std::size_t{4} << 20;  // a message of each thread of a grid
  static_assert(least_bytes >= measure::rotation_bytes);
  return largest_bytes > least_bytes ? largest_bytes : least_bytes;
}
/// A fourth of them for words of the CPU, its signals and those of GPU kernels.
inline constexpr std::size_t word_area_bytes = 65536;
/// Of a message in malloc's heap; glibc maps blocks from 128 KiB on.
inline constexpr std::size_t largest_heap_message_bytes = 65536;
[[nodiscard]] constexpr std::size_t heap_bytes_for(std::size_t largest_bytes) {
  return 2 * object_bytes(largest_bytes) + (std::size_t{64} << 20);
}

}  // namespace gdrkit::transfer::shmem
