// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// HostBuffer: the host's buffer of a copy, in ordinary (pageable) memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gdrkit::measure {

/// Page aligned, and touched by the thread that creates it: that thread's memory policy determines the place of its
/// pages.
class HostBuffer {
 public:
  /// Throws Failure if the machine has too little memory left, and std::bad_alloc.
  explicit HostBuffer(std::size_t size_bytes);
  ~HostBuffer();
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  [[nodiscard]] std::uint8_t* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

/// Pseudo-random bytes, the same for the same seed.
inline void fill_with_pattern(std::span<std::uint8_t> bytes, std::uint32_t seed) {
  for (std::uint8_t& byte : bytes) {
    seed = seed * 1664525u + 1013904223u;
    byte = static_cast<std::uint8_t>(seed >> 24);
  }
}

}  // namespace gdrkit::measure
