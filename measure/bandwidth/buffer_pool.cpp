// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bandwidth/buffer_pool.hpp"

#include <algorithm>
#include <cstring>

#include "cli/interface/demand.hpp"
#include "platform/gpu_code/pattern_value.cuh"

namespace gdrkit::measure::bandwidth {
namespace {

constexpr std::uint8_t cleared_byte = 0x5A;

}  // namespace

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
  buffer->allocation = cli::demand(std::move(allocation));
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

Pattern::Pattern(Gpus* gpus, BufferPool* pool)
    : gpus_(*gpus), pool_(*pool), noise_(chunk_bytes), expected_(chunk_bytes) {
  for (std::size_t at = 0; at < chunk_bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = platform::pattern_hash(at, 0);
    std::memcpy(&noise_[at], &word, sizeof(word));
  }
}

void Pattern::write(std::uint8_t* chunk, std::size_t size_bytes, std::uint64_t seed, std::size_t offset) const {
  std::memcpy(chunk, noise_.data(), size_bytes);
  for (std::size_t at = 0; at < size_bytes; at += page_bytes) {
    const std::uint64_t stamp[] = {platform::pattern_hash(seed, 0) ^ platform::pattern_hash(offset + at, 0), seed};
    std::memcpy(chunk + at, stamp, std::min(sizeof(stamp), size_bytes - at));
  }
}

std::size_t Pattern::take_staging(int gpu) {
  const std::size_t staging = pool_.take(host, gpu, chunk_bytes);
  pool_[staging].seed = 0;
  return staging;
}

void Pattern::fill(Buffer* buffer, std::uint64_t seed) {
  if (buffer->seed == seed) return;
  buffer->seed = 0;
  const std::size_t staging = buffer->gpu == host ? 0 : take_staging(buffer->gpu);
  for (std::size_t offset = 0; offset < buffer->size_bytes; offset += chunk_bytes) {
    const std::size_t size = std::min(chunk_bytes, buffer->size_bytes - offset);
    if (buffer->gpu == host) {
      write(buffer->host_bytes() + offset, size, seed, offset);
      continue;
    }
    std::uint8_t* bytes = pool_[staging].host_bytes();
    write(bytes, size, seed, offset);
    cli::demand(gpus_.current(buffer->gpu).copy_to_device(buffer->allocation.address() + offset, bytes, size));
  }
  if (buffer->gpu != host) pool_[staging].is_used = false;
  buffer->seed = seed;
}

void Pattern::clear(Buffer* buffer) {
  buffer->seed = 0;
  if (buffer->gpu == host) {
    std::memset(buffer->host_bytes(), cleared_byte, buffer->size_bytes);
  } else {
    cli::demand(gpus_.current(buffer->gpu).fill(buffer->allocation.address(), cleared_byte, buffer->size_bytes));
  }
}

std::optional<std::size_t> Pattern::first_wrong(const Buffer& buffer, std::uint64_t seed, std::size_t size_bytes) {
  const std::size_t staging = buffer.gpu == host ? 0 : take_staging(buffer.gpu);
  std::optional<std::size_t> wrong;
  for (std::size_t offset = 0; offset < size_bytes && !wrong; offset += chunk_bytes) {
    const std::size_t size = std::min(chunk_bytes, size_bytes - offset);
    write(expected_.data(), size, seed, offset);
    const std::uint8_t* content = buffer.gpu == host ? buffer.host_bytes() + offset : pool_[staging].host_bytes();
    if (buffer.gpu != host) {
      cli::demand(gpus_.current(buffer.gpu)
                      .copy_to_host(pool_[staging].host_bytes(), buffer.allocation.address() + offset, size));
    }
    if (std::memcmp(content, expected_.data(), size) == 0) continue;
    std::size_t page = 0;
    while (std::memcmp(content + page, expected_.data() + page, std::min(page_bytes, size - page)) == 0) {
      page += page_bytes;
    }
    wrong = offset + page;
  }
  if (buffer.gpu != host) pool_[staging].is_used = false;
  return wrong;
}

}  // namespace gdrkit::measure::bandwidth
