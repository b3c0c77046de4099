// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Release of UCX's registrations for memory that is freed before the heap.
#include "shmem/remote/remote.hpp"

namespace gdrkit::shmem_impl::remote {

void Remote::forget(std::uint64_t offset) noexcept {
  const Entered entered(*this);
  for (auto& one : peers_) {
    if (!one) continue;
    std::erase_if(one->chunks, [&](const RemoteChunk& chunk) {
      if (chunk.offset != offset) return false;
      calls_->rkey_destroy(chunk.key);
      return true;
    });
  }
  for (std::size_t i = 0; i < registered_.size(); ++i) {
    if (registered_chunks_[i].offset != offset) continue;
    (void)calls_->mem_unmap(worker_->context(), registered_[i]);
    registered_.erase(registered_.begin() + static_cast<std::ptrdiff_t>(i));
    registered_chunks_.erase(registered_chunks_.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

}  // namespace gdrkit::shmem_impl::remote
