// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/engines/rank_buffers.hpp"

#include <cstdlib>
#include <cstring>

#include "base/result.hpp"

namespace gdrkit::transfer::engines {

RankBuffers::RankBuffers(const MessageRequest& request) {
  allocate(request, request.source_bytes, &source_);
  allocate(request, request.target_bytes, &target_);
}

RankBuffers::~RankBuffers() {
  std::free(source_.host);
  std::free(target_.host);
}

void RankBuffers::allocate(const MessageRequest& request, std::size_t size_bytes, Buffer* buffer) {
  if (request.place == 'H') {
    constexpr std::size_t page_bytes = 4096;
    const std::size_t whole_pages = (size_bytes + page_bytes - 1) / page_bytes * page_bytes;
    buffer->host = std::aligned_alloc(page_bytes, whole_pages);
    if (buffer->host == nullptr) {
      cli::fail(cli::format("gdrkit osu: cannot allocate a buffer of %zu bytes; use a smaller -m", whole_pages));
    }
    std::memset(buffer->host, 0, whole_pages);
    buffer->address = reinterpret_cast<std::uint64_t>(buffer->host);
    return;
  }
  const auto kind = request.place == 'M' ? platform::AllocationKind::managed : platform::AllocationKind::cuda_malloc;
  auto memory = request.processes->device().allocate(kind, size_bytes);
  if (!memory) {
    cli::fail(cli::format("gdrkit osu: cannot allocate %zu bytes of GPU memory: %s; use a smaller -m", size_bytes,
                          memory.error().text()));
  }
  buffer->device = std::move(*memory);
  buffer->address = buffer->device.address();
}

}  // namespace gdrkit::transfer::engines
