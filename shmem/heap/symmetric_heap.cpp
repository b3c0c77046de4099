// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/heap/symmetric_heap.hpp"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <new>

#include "shmem/bootstrap/star_wire.hpp"

namespace gdrkit::shmem_impl::heap {
namespace {

/// Minimum growth of a heap in bytes, so that many small allocations need few chunks.
constexpr std::uint64_t smallest_growth = std::uint64_t{64} << 20;

/// A range that a thread looked up while the heap's state number was `state`.
struct Known {
  std::uint64_t state = 0;
  Block block;
  HeapChunk chunk;

  [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t size_bytes) const noexcept {
    const std::uint64_t inside = offset - block.offset;
    return inside < block.size_bytes && size_bytes <= block.size_bytes - inside &&
           offset - chunk.offset < chunk.size_bytes;
  }
};
/// Enough for the data and the signal of a put, from the heap or to it.
struct Recent {
  Known known[4];
  std::size_t oldest = 0;
};
constinit thread_local Recent recent;

std::atomic<std::uint64_t> last_state{0};  // no two heaps of the process share a number

}  // namespace

base::Result<std::unique_ptr<SymmetricHeap>> SymmetricHeap::create(platform::Device& device, node::Node& node, int pe,
                                                                   HeapSizes sizes,
                                                                   const platform::CudaCalls* calls) noexcept try {
  std::unique_ptr<SymmetricHeap> heap(new SymmetricHeap(node, pe));
  auto space = HeapSpace::reserve(device, static_cast<int>(node.pes().size()), heap->own_slot_, sizes.max_bytes, calls);
  if (auto all = heap->agree(base::status_of(space), "reserving the symmetric heap"); !all) {
    return base::pass(all);
  }
  heap->space_ = std::move(*space);
  heap->own_base_ = heap->space_->address(heap->own_slot_, 0);
  heap->max_bytes_ = round_up(sizes.max_bytes, heap->space_->granularity_bytes());
  heap->growth_end_ = heap->max_bytes_;
  heap->reserved_bytes_ = round_up(sizes.reserved_bytes, BlockList::unit_bytes);
  if (auto grown = heap->grow(std::max(sizes.initial_bytes, heap->reserved_bytes_)); !grown) return base::pass(grown);
  (void)heap->blocks_.take(heap->reserved_bytes_, BlockList::unit_bytes);
  auto zeroed = device.fill(heap->own_base_, 0, zeroed_bytes);
  if (auto all = heap->agree(zeroed, "clearing the symmetric heap"); !all) return base::pass(all);
  return heap;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while creating the symmetric heap");
}

base::Status SymmetricHeap::agree(const base::Status& own, const char* step) {
  const bootstrap::PeOutcome mine(own);
  std::vector<bootstrap::PeOutcome> all(node_.pes().size());
  if (auto exchanged = node_.exchange_fds(-1, &mine, sizeof mine, all.data(), step); !exchanged)
    return base::pass(exchanged);
  // Name the PE also if it is this one: PEs of other nodes receive the message.
  base::Status agreed;
  for (std::size_t i = 0; agreed && i < all.size(); ++i) {
    if (all[i].errno_value == 0) continue;
    agreed = bootstrap::fail_as(all[i], std::string(step) + " failed on PE " + std::to_string(node_.pes()[i]));
  }
  auto over_nodes = node_.agree_over_nodes(std::move(agreed), step);
  return own ? over_nodes : own;
}

/// The chunk is added to the list after all PEs have mapped it. If one PE fails, all PEs undo their part.
base::Status SymmetricHeap::grow(std::uint64_t size_bytes) {
  const std::uint64_t offset = blocks_.end();
  std::uint64_t growth_bytes = round_up(std::max(size_bytes, smallest_growth), space_->granularity_bytes());
  if (size_bytes > growth_end_ - offset) {
    char buffers[64] = "";
    if (growth_end_ < max_bytes_) {
      std::snprintf(buffers, sizeof buffers, ", because registered buffers use %" PRIu64 " bytes",
                    max_bytes_ - growth_end_);
    }
    return base::fail(ENOMEM,
                      "cannot grow the symmetric heap by %" PRIu64 " bytes: only %" PRIu64
                      " bytes are free%s; increase the limit of %" PRIu64
                      " bytes (GDRKIT_SHMEM_HEAP_MAX, or heap_max_bytes in the options)",
                      size_bytes, growth_end_ - offset, buffers, max_bytes_);
  }
  growth_bytes = std::min(growth_bytes, growth_end_ - offset);
  chunks_.reserve(chunks_.size() + 1);
  auto own = space_->create(offset, growth_bytes);
  auto attached = attach_peers(offset, growth_bytes, own);
  if (!attached) {
    if (own) (void)space_->remove(own_slot_, offset, growth_bytes);
    return attached;
  }
  const std::unique_lock lock(mutex_);
  blocks_.extend(growth_bytes);
  chunks_.push_back({chunks_.size(), offset, growth_bytes});
  locked_change();
  return {};
}

base::Status SymmetricHeap::attach_peers(std::uint64_t offset, std::uint64_t size_bytes,
                                         const base::Result<base::UniqueFd>& own) {
  if (auto made = agree(base::status_of(own), "growing the symmetric heap"); !made) {
    return made;
  }
  auto chunks = node_.exchange_fds(own->get(), nullptr, 0, nullptr, "sharing the symmetric heap");
  if (!chunks) return base::pass(chunks);
  base::Status attached;
  int slot = 0;
  for (; attached && slot < static_cast<int>(chunks->size()); ++slot) {
    if (slot == own_slot_) continue;
    attached = space_->attach(slot, offset, size_bytes, std::move((*chunks)[static_cast<std::size_t>(slot)]));
  }
  const int failed_slot = attached ? slot : slot - 1;
  auto all = agree(attached, "mapping the heaps of the other PEs");
  if (all) return {};
  for (int undone = 0; undone < failed_slot; ++undone) {
    if (undone != own_slot_) (void)space_->remove(undone, offset, size_bytes);
  }
  return all;
}

base::Result<std::uint64_t> SymmetricHeap::allocate(std::uint64_t size_bytes, std::uint64_t alignment) noexcept try {
  if (size_bytes > max_bytes_) {
    return base::fail(ENOMEM,
                      "cannot allocate %" PRIu64 " bytes: the symmetric heap is limited to %" PRIu64
                      " bytes; increase GDRKIT_SHMEM_HEAP_MAX, or heap_max_bytes in the options",
                      size_bytes, max_bytes_);
  }
  {
    const std::unique_lock lock(mutex_);
    if (auto offset = blocks_.take(size_bytes, alignment)) return *offset;
  }
  if (auto grown = grow(blocks_.missing_bytes(size_bytes, alignment)); !grown) return base::pass(grown);
  const std::unique_lock lock(mutex_);
  if (auto offset = blocks_.take(size_bytes, alignment)) return *offset;
  return base::fail(EIO,
                    "cannot allocate %" PRIu64
                    " bytes in the symmetric heap: no free range is large enough; free other allocations",
                    size_bytes);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while allocating symmetric memory");
}

base::Status SymmetricHeap::free(std::uint64_t address) noexcept try {
  const std::unique_lock lock(mutex_);
  locked_change();
  const std::uint64_t offset = address - own_base_;
  if (offset >= reserved_bytes_ && offset < max_bytes_ && blocks_.release(offset)) return {};
  return base::fail(EINVAL,
                    "cannot free 0x%" PRIx64
                    ": no symmetric allocation starts there; pass an address that an allocation returned",
                    address);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while freeing symmetric memory");
}

void SymmetricHeap::locked_change() noexcept {
  state_.store(last_state.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_release);
}

base::Result<HeapPosition> SymmetricHeap::find(const void* address, std::uint64_t size_bytes) const noexcept {
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - own_base_;
  if (offset >= max_bytes_) {
    return base::fail(EINVAL,
                      "cannot access %p: the address is not in this PE's symmetric heap (0x%" PRIx64 " + %" PRIu64
                      " bytes); pass memory of gdrkit_shmem_malloc",
                      address, own_base_, this->size_bytes());
  }
  Recent& mine = recent;
  // Freeing an allocation during a transfer by another thread is a race of the application. All other threads see the
  // new state.
  const std::uint64_t state = state_.load(std::memory_order_acquire);
  for (const Known& known : mine.known) {
    if (known.state == state && known.holds(offset, size_bytes)) return HeapPosition{offset, known.chunk};
  }
  const std::shared_lock lock(mutex_);
  auto block = blocks_.find(offset);
  if (const SymmetricBuffer* const buffer = locked_buffer_at(offset); buffer != nullptr) {
    block = Block{buffer->chunk.offset, buffer->size_bytes};
  }
  if (!block || block->offset < reserved_bytes_) {
    return base::fail(EINVAL, "cannot access %p: the address is not in a symmetric allocation of this PE", address);
  }
  const std::uint64_t inside = offset - block->offset;
  if (inside <= block->size_bytes && size_bytes <= block->size_bytes - inside) {
    const HeapChunk chunk = locked_chunk_at(offset);
    mine.known[mine.oldest] = {state_.load(std::memory_order_relaxed), *block, chunk};
    mine.oldest = (mine.oldest + 1) % std::size(mine.known);
    return HeapPosition{offset, chunk};
  }
  return base::fail(
      EINVAL, "cannot access %p + %" PRIu64 " bytes: the range exceeds the symmetric allocation of %" PRIu64 " bytes",
      address, size_bytes, block->size_bytes);
}

base::Result<HeapPosition> SymmetricHeap::find_reserved(const void* address, std::uint64_t size_bytes) const noexcept {
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - own_base_;
  if (offset < reserved_bytes_ && size_bytes <= reserved_bytes_ - offset) return HeapPosition{offset, chunk_at(offset)};
  return base::fail(EINVAL,
                    "cannot access %p + %" PRIu64
                    " bytes: the range is not in the memory that gdrkit reserves for collectives",
                    address, size_bytes);
}

std::uint64_t SymmetricHeap::size_bytes() const noexcept {
  const std::shared_lock lock(mutex_);
  return blocks_.end();
}

std::uint64_t SymmetricHeap::used_bytes() const noexcept {
  const std::shared_lock lock(mutex_);
  return blocks_.taken_bytes() - reserved_bytes_;
}

HeapChunk SymmetricHeap::chunk_at(std::uint64_t offset) const noexcept {
  const std::shared_lock lock(mutex_);
  return locked_chunk_at(offset);
}

HeapChunk SymmetricHeap::locked_chunk_at(std::uint64_t offset) const noexcept {
  if (const SymmetricBuffer* const buffer = locked_buffer_at(offset); buffer != nullptr) return buffer->chunk;
  const auto after = std::upper_bound(chunks_.begin(), chunks_.end(), offset,
                                      [](std::uint64_t at, const HeapChunk& chunk) { return at < chunk.offset; });
  return *std::prev(after);
}

}  // namespace gdrkit::shmem_impl::heap
