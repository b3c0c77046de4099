// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pattern: what buffers are filled with, so that a byte at another place, of another buffer or of before is seen.
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

  /// The whole buffer; nothing to do when it holds that pattern already. `seed` is not 0.
  void fill(Buffer* buffer, std::uint64_t seed);
  /// Bytes that no pattern has.
  void clear(Buffer* buffer);
  /// Offset of the first page of `size_bytes` that does not hold the pattern.
  [[nodiscard]] std::optional<std::size_t> first_wrong(const Buffer& buffer, std::uint64_t seed,
                                                       std::size_t size_bytes);

  static constexpr std::size_t page_bytes = 4096;  ///< each begins with its own stamp of seed and offset
  static constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

 private:
  /// `chunk` becomes the pattern from `offset` on, a multiple of page_bytes.
  void write(std::uint8_t* chunk, std::size_t size_bytes, std::uint64_t seed, std::size_t offset) const;

  std::size_t take_staging(int gpu);

  Gpus& gpus_;
  BufferPool& pool_;
  std::vector<std::uint8_t> noise_;     // of chunk_bytes
  std::vector<std::uint8_t> expected_;  // likewise
};

}  // namespace gdrkit::measure::bandwidth
