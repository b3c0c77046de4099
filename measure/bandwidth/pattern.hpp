// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pattern: the contents of buffers, chosen such that a byte from another offset, buffer or copy is detected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "measure/bandwidth/buffer_pool.hpp"

namespace gdrkit::measure::bandwidth {

class Pattern {
 public:
  explicit Pattern(Gpus* gpus, BufferPool* pool);

  /// Fills the whole buffer, unless it already contains that pattern. `seed` must not be 0.
  void fill(Buffer* buffer, std::uint64_t seed);
  /// Fills with bytes that no pattern contains.
  void clear(Buffer* buffer);
  /// Offset of the first page of `size_bytes` that does not contain the pattern.
  [[nodiscard]] std::optional<std::size_t> first_wrong(const Buffer& buffer, std::uint64_t seed,
                                                       std::size_t size_bytes);

  static constexpr std::size_t page_bytes = 4096;  ///< each begins with its own stamp of seed and offset
  static constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

 private:
  /// Writes the pattern from `offset` on, a multiple of page_bytes, to `chunk`.
  void write(std::uint8_t* chunk, std::size_t size_bytes, std::uint64_t seed, std::size_t offset) const;

  std::size_t take_staging(int gpu);

  Gpus& gpus_;
  BufferPool& pool_;
  std::vector<std::uint8_t> noise_;     // of chunk_bytes
  std::vector<std::uint8_t> expected_;  // the same size
};

}  // namespace gdrkit::measure::bandwidth
