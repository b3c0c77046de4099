// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Registered buffers in the heap's address range. They are placed from its end downwards and the heap grows upwards, so
// neither limits the other until the range is full.
#include <fcntl.h>

#include <algorithm>
#include <cinttypes>
#include <iterator>
#include <mutex>
#include <new>

#include "shmem/heap/symmetric_heap.hpp"

namespace gdrkit::shmem_impl::heap {
namespace {

/// Chunks of buffers that a transport can keep apart.
constexpr std::size_t largest_buffer_count = 256;

}  // namespace

base::Result<SharedMemory> SymmetricHeap::share(std::uint64_t address, std::uint64_t size_bytes) noexcept {
  if (address == 0 || size_bytes > UINT64_MAX - address) {
    return base::fail(
        EINVAL, "cannot register %" PRIu64 " bytes at 0x%" PRIx64 ": invalid range; pass an address and a size above 0",
        size_bytes, address);
  }
  if (contains(reinterpret_cast<const void*>(address))) {
    return base::fail(EINVAL, "cannot register 0x%" PRIx64 ": memory of the symmetric heap needs no registration",
                      address);
  }
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [offset, buffer] : buffers_) {
      const bool is_apart = address >= buffer.address + buffer.size_bytes || address + size_bytes <= buffer.address;
      if (is_apart) continue;
      return base::fail(EEXIST,
                        "cannot register %" PRIu64 " bytes at 0x%" PRIx64 ": a registered buffer of %" PRIu64
                        " bytes at 0x%" PRIx64 " overlaps the range; unregister that buffer first",
                        size_bytes, address, buffer.size_bytes, buffer.address);
    }
  }
  return space_->share(address, size_bytes);
}

base::Status SymmetricHeap::settle(const base::Status& own, const char* step) noexcept try {
  return agree(own, step);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while comparing the results of the PEs");
}

/// Returns the highest gap that is large enough, with a granule on both sides, so that an access beyond a buffer's end
/// faults.
base::Result<std::uint64_t> SymmetricHeap::place_for(std::uint64_t size_bytes) const noexcept {
  const std::uint64_t granule = space_->granularity_bytes();
  const std::uint64_t required = round_up(size_bytes, granule) + 2 * granule;
  std::uint64_t gap_end = max_bytes_;
  for (auto next = buffers_.rbegin();; ++next) {
    const bool is_last = next == buffers_.rend();
    const std::uint64_t gap_begin = is_last ? blocks_.end() : next->second.chunk.end();
    if (gap_end >= gap_begin && gap_end - gap_begin >= required) {
      return (gap_end - required) / granule * granule + granule;
    }
    if (is_last) break;
    gap_end = next->first;
  }
  return base::fail(ENOMEM,
                    "cannot register a buffer of %" PRIu64
                    " bytes: the symmetric heap has too little free space; increase the limit of %" PRIu64
                    " bytes (GDRKIT_SHMEM_HEAP_MAX, or heap_max_bytes in the options)",
                    size_bytes, max_bytes_);
}

base::Result<std::uint64_t> SymmetricHeap::add_buffer(std::uint64_t address, std::uint64_t size_bytes,
                                                      const SharedMemory& memory) noexcept try {
  auto place = place_for(memory.size_bytes);
  if (!place) return place;
  SymmetricBuffer buffer{{0, *place, memory.size_bytes, true}, size_bytes, address};
  const auto is_taken = [&](std::size_t number) {
    for (const auto& [offset, other] : buffers_) {
      if (other.chunk.number == number) return true;
    }
    return false;
  };
  while (is_taken(buffer.chunk.number)) ++buffer.chunk.number;
  if (buffer.chunk.number >= largest_buffer_count) {
    return base::fail(ENOSPC, "cannot register a buffer: %zu buffers are registered (the maximum); unregister a buffer",
                      largest_buffer_count);
  }
  decltype(buffers_) made;
  made.emplace(*place, buffer);
  if (auto attached = attach_buffers(*place, memory); !attached) return base::pass(attached);
  const std::unique_lock lock(mutex_);
  buffers_.merge(made);
  growth_end_ = std::min(growth_end_, *place - space_->granularity_bytes());
  return *place;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while registering a buffer");
}

base::Status SymmetricHeap::attach_buffers(std::uint64_t offset, const SharedMemory& memory) {
  auto shared = node_.exchange_fds(memory.fd.get(), nullptr, 0, nullptr, "sharing registered buffers");
  if (!shared) return base::pass(shared);
  (*shared)[static_cast<std::size_t>(own_slot_)] = base::UniqueFd(::fcntl(memory.fd.get(), F_DUPFD_CLOEXEC, 0));
  base::Status attached;
  int slot = 0;
  while (attached && slot < static_cast<int>(shared->size())) {
    attached =
        space_->attach_shared(slot, offset, memory.size_bytes, std::move((*shared)[static_cast<std::size_t>(slot)]));
    if (attached) ++slot;
  }
  auto all = agree(attached, "mapping registered buffers");
  for (int undone = 0; !all && undone < slot; ++undone) (void)space_->remove_shared(undone, offset, memory.size_bytes);
  return all;
}

base::Result<SymmetricBuffer> SymmetricHeap::find_buffer(std::uint64_t offset) const noexcept {
  const std::shared_lock lock(mutex_);
  const auto found = buffers_.find(offset);
  if (found != buffers_.end()) return found->second;
  return base::fail(
      EINVAL,
      "cannot unregister 0x%" PRIx64
      ": no registered buffer starts there; pass an address that gdrkit_shmem_buffer_register_symmetric returned",
      own_address(offset));
}

base::Status SymmetricHeap::remove_buffer(std::uint64_t offset) noexcept {
  SymmetricBuffer removed;
  {
    const std::unique_lock lock(mutex_);
    const auto found = buffers_.find(offset);
    if (found == buffers_.end())
      return base::fail(EINVAL,
                        "cannot unregister the buffer at offset %" PRIu64
                        " of the symmetric heap: no registered buffer starts there",
                        offset);
    removed = found->second;
    buffers_.erase(found);
    locked_change();
  }
  base::Status done;
  for (int slot = 0; slot < static_cast<int>(node_.pes().size()); ++slot) {
    base::keep_first(done, space_->remove_shared(slot, offset, removed.chunk.size_bytes));
  }
  return done;
}

const SymmetricBuffer* SymmetricHeap::locked_buffer_at(std::uint64_t offset) const noexcept {
  if (offset < growth_end_) return nullptr;
  const auto after = buffers_.upper_bound(offset);
  if (after == buffers_.begin()) return nullptr;
  const SymmetricBuffer& buffer = std::prev(after)->second;
  return offset < buffer.chunk.end() ? &buffer : nullptr;
}

bool SymmetricHeap::has_memory(std::uint64_t offset, std::uint64_t size_bytes) const noexcept {
  const std::shared_lock lock(mutex_);
  const SymmetricBuffer* const buffer = locked_buffer_at(offset);
  const std::uint64_t end = buffer != nullptr ? buffer->chunk.end() : blocks_.end();
  return offset <= end && size_bytes <= end - offset;
}

}  // namespace gdrkit::shmem_impl::heap
