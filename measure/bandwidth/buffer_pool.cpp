// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bandwidth/buffer_pool.hpp"

#include <algorithm>

namespace gdrkit::measure::bandwidth {

BufferPool::~BufferPool() {
  release_all();
  free_idle();
}

std::size_t BufferPool::take(int gpu, int near, std::size_t size_bytes) {
  for (std::size_t number = 0; number < buffers_.size(); ++number) {
    Buffer& buffer = *buffers_[number];
    const bool fits = buffer.gpu == gpu && buffer.size_bytes == size_bytes && (gpu != host || buffer.near == near);
    if (buffer.is_used || !fits) continue;
    buffer.is_used = true;
    return number;
  }
  auto buffer = std::make_unique<Buffer>();
  buffer->gpu = gpu;
  buffer->near = near;
  buffer->size_bytes = size_bytes;
  if (gpu == host) (void)gpus_.settle_near(near);
  platform::Device& device = gpus_.current(gpu == host ? near : gpu);
  const auto kind = gpu == host ? platform::AllocationKind::host : platform::AllocationKind::cuda_malloc;
  auto allocation = device.allocate(kind, size_bytes);
  if (!allocation.has_value()) {
    free_idle();
    (void)gpus_.current(gpu == host ? near : gpu);
    allocation = device.allocate(kind, size_bytes);
  }
  buffer->allocation = demand(std::move(allocation));
  buffer->is_used = true;
  buffers_.push_back(std::move(buffer));
  return buffers_.size() - 1;
}

void BufferPool::release_all() {
  for (auto& buffer : buffers_) buffer->is_used = false;
}

void BufferPool::free_idle() {
  // Used buffers keep their numbers. Idle ones at the end of the list are removed, and the others release their memory.
  for (auto& buffer : buffers_) {
    if (buffer->is_used || buffer->size_bytes == 0) continue;
    // A buffer must be freed in the context that allocated it. After a failure here its memory stays allocated until
    // the process ends.
    if (gpus_[buffer->gpu == host ? buffer->near : buffer->gpu].device->make_current().has_value()) {
      (void)buffer->allocation.free();
    }
    buffer->size_bytes = 0;
    buffer->seed = 0;
  }
  while (!buffers_.empty() && !buffers_.back()->is_used) buffers_.pop_back();
}

}  // namespace gdrkit::measure::bandwidth
