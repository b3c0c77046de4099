// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BufferPool: the buffers of the copies, kept from test to test, as pinning half a GiB takes longer than copying it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "measure/bandwidth/gpus.hpp"
#include "measure/bandwidth/plan.hpp"
#include "platform/device/device.hpp"

namespace gdrkit::measure::bandwidth {

struct Buffer {
  int gpu = host;  ///< whose memory it is
  int near = 0;    ///< of host memory: the GPU whose node it is on
  std::size_t size_bytes = 0;
  platform::Allocation allocation;
  std::uint64_t seed = 0;  ///< of the pattern that it holds whole; 0: it holds none
  bool is_used = false;

  [[nodiscard]] std::uint8_t* host_bytes() const { return reinterpret_cast<std::uint8_t*>(allocation.address()); }
};

class BufferPool {
 public:
  explicit BufferPool(Gpus* gpus) : gpus_(*gpus) {}
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// Memory of GPU `gpu`, or pinned host memory near GPU `near`. When memory lacks, idle buffers are given back first.
  /// Valid until the next release_all() and take(). Throws Failure.
  [[nodiscard]] std::size_t take(int gpu, int near, std::size_t size_bytes);
  [[nodiscard]] Buffer& operator[](std::size_t number) { return *buffers_[number]; }
  /// All are idle again; their contents stay.
  void release_all();

 private:
  void free_idle();

  Gpus& gpus_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

}  // namespace gdrkit::measure::bandwidth
