// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BufferPool: buffers of the copies, kept from test to test, because pinning half a GiB takes longer than copying it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "measure/bandwidth/gpus.hpp"
#include "measure/bandwidth/plan.hpp"
#include "platform/device/device.hpp"

namespace gdrkit::measure::bandwidth {

struct Buffer {
  int gpu = host;  ///< the GPU that owns the memory, or host
  int near = 0;    ///< of host memory: the GPU on whose node it is
  std::size_t size_bytes = 0;
  platform::Allocation allocation;
  std::uint64_t seed = 0;  ///< of the pattern that fills it completely; 0: none
  bool is_used = false;

  [[nodiscard]] std::uint8_t* host_bytes() const { return reinterpret_cast<std::uint8_t*>(allocation.address()); }
};

class BufferPool {
 public:
  explicit BufferPool(Gpus* gpus) : gpus_(*gpus) {}
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// Memory of GPU `gpu`, or pinned host memory near GPU `near`. If memory is short, idle buffers are freed first.
  /// Valid until the take() after the next release_all(). Throws Failure.
  [[nodiscard]] std::size_t take(int gpu, int near, std::size_t size_bytes);
  [[nodiscard]] Buffer& operator[](std::size_t number) { return *buffers_[number]; }
  /// Marks all buffers as idle; their contents are kept.
  void release_all();

 private:
  void free_idle();

  Gpus& gpus_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

/// The contents of buffers, chosen such that a byte from another offset, buffer or copy is detected.
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
