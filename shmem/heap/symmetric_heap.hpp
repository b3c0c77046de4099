// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// SymmetricHeap: the same objects at the same offsets on every PE's GPU.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "base/result.hpp"
#include "platform/device/device.hpp"
#include "shmem/heap/block_list.hpp"
#include "shmem/heap/heap_space.hpp"
#include "shmem/node/node.hpp"

namespace gdrkit::shmem_impl::heap {

struct HeapSizes {
  std::uint64_t initial_bytes = 0;
  std::uint64_t max_bytes = 0;           ///< the same on all PEs
  std::uint64_t reserved_bytes = 65536;  ///< the same on all PEs
};

/// Device memory of one allocation, which is pinned as a whole.
struct HeapChunk {
  std::size_t number = 0;  ///< from 0, in the order of offsets; registered buffers have numbers of their own
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  bool is_buffer = false;  ///< a registered buffer; backends cannot pin some kinds of memory

  [[nodiscard]] std::uint64_t end() const noexcept { return offset + size_bytes; }
};

/// The start of a range in an allocation. The range may extend beyond the chunk.
struct HeapPosition {
  std::uint64_t offset = 0;
  HeapChunk chunk;  ///< contains `offset`
};

/// A buffer of the application that was registered in the heap's address range.
struct SymmetricBuffer {
  HeapChunk chunk;
  std::uint64_t size_bytes = 0;  ///< the requested size; the chunk is the whole allocation
  std::uint64_t address = 0;     ///< the application's own address of the buffer
};

/// One thread of each PE calls collective functions, in the same order and with the same arguments. The caller ensures
/// this, and that the device is current. All other functions are thread-safe, also during collective calls.
class SymmetricHeap {
 public:
  /// The library uses the first HeapSizes::reserved_bytes of the heap. The first `zeroed_bytes` of them are zeroed.
  static constexpr std::uint64_t zeroed_bytes = 57344;

  /// Collective over the node.
  [[nodiscard]] static base::Result<std::unique_ptr<SymmetricHeap>> create(platform::Device& device, node::Node& node,
                                                                           int pe, HeapSizes sizes,
                                                                           const platform::CudaCalls* calls) noexcept;

  /// Collective over the node. Returns the offset of a new object. Grows the heap if no free block is large enough.
  /// Fails with ENOMEM if a GPU has too little memory; the message names its PE, and the heap is unchanged.
  [[nodiscard]] base::Result<std::uint64_t> allocate(std::uint64_t size_bytes, std::uint64_t alignment) noexcept;
  /// Fails with EINVAL if no allocation starts at `address`.
  base::Status free(std::uint64_t address) noexcept;

  // Buffers are at the end of the heap's range, at the same offsets on all PEs. The heap grows up to them.

  /// Exports a buffer for the other PEs. Not collective. Fails with EEXIST if it overlaps a registered buffer.
  [[nodiscard]] base::Result<SharedMemory> share(std::uint64_t address, std::uint64_t size_bytes) noexcept;
  /// Collective over the job's PEs. Fails on all PEs if `own` is a failure on any of them.
  base::Status settle(const base::Status& own, const char* step) noexcept;
  /// Collective over the node. Maps the shared memory of each PE, which has the same size on all PEs of the job, and
  /// returns its offset. On failure nothing has changed. Fails with ENOMEM if the heap's address range is full.
  [[nodiscard]] base::Result<std::uint64_t> add_buffer(std::uint64_t address, std::uint64_t size_bytes,
                                                       const SharedMemory& memory) noexcept;
  /// Fails with EINVAL if no buffer begins there.
  [[nodiscard]] base::Result<SymmetricBuffer> find_buffer(std::uint64_t offset) const noexcept;
  /// Removes this process's mappings, which are no longer used.
  base::Status remove_buffer(std::uint64_t offset) noexcept;

  /// Returns the position of `address`. Fails with EINVAL if [address, address + size_bytes) is not in one allocation.
  [[nodiscard]] base::Result<HeapPosition> find(const void* address, std::uint64_t size_bytes) const noexcept;
  /// The same for the reserved part of the heap.
  [[nodiscard]] base::Result<HeapPosition> find_reserved(const void* address, std::uint64_t size_bytes) const noexcept;
  /// Returns whether `address` is in this PE's slot, allocated or not.
  [[nodiscard]] bool contains(const void* address) const noexcept {
    return reinterpret_cast<std::uint64_t>(address) - own_base_ < max_bytes_;
  }
  /// Returns the address in this process of an offset in the heap of a PE of this node.
  [[nodiscard]] std::uint64_t address(int slot, std::uint64_t offset) const noexcept {
    return space_->address(slot, offset);
  }
  [[nodiscard]] std::uint64_t own_address(std::uint64_t offset) const noexcept { return own_base_ + offset; }
  [[nodiscard]] int own_slot() const noexcept { return own_slot_; }
  [[nodiscard]] int pe_of(int slot) const noexcept { return node_.pes()[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] std::uint64_t stride_bytes() const noexcept { return space_->stride_bytes(); }
  [[nodiscard]] std::uint64_t max_bytes() const noexcept { return max_bytes_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept;  ///< of all chunks
  [[nodiscard]] std::uint64_t used_bytes() const noexcept;
  /// Returns whether the whole range is backed by memory, allocated or not.
  [[nodiscard]] bool has_memory(std::uint64_t offset, std::uint64_t size_bytes) const noexcept;
  /// Returns the chunk that contains `offset`, which must have memory.
  [[nodiscard]] HeapChunk chunk_at(std::uint64_t offset) const noexcept;

 private:
  SymmetricHeap(node::Node& node, int pe) noexcept : node_(node), own_slot_(node.index_of(pe)) {}
  base::Status grow(std::uint64_t size_bytes);
  base::Status attach_peers(std::uint64_t offset, std::uint64_t size_bytes, const base::Result<base::UniqueFd>& own);
  base::Status agree(const base::Status& own, const char* step);
  /// Invalidates the ranges that threads have cached. Call it under the lock when a range is freed or moved.
  void locked_change() noexcept;
  [[nodiscard]] HeapChunk locked_chunk_at(std::uint64_t offset) const noexcept;
  [[nodiscard]] const SymmetricBuffer* locked_buffer_at(std::uint64_t offset) const noexcept;
  [[nodiscard]] base::Result<std::uint64_t> place_for(std::uint64_t size_bytes) const noexcept;
  base::Status attach_buffers(std::uint64_t offset, const SharedMemory& memory);

  node::Node& node_;
  const int own_slot_;
  std::unique_ptr<HeapSpace> space_;
  std::uint64_t own_base_ = 0;
  std::uint64_t max_bytes_ = 0;
  std::uint64_t reserved_bytes_ = 0;
  std::uint64_t growth_end_ = 0;         // one granule below the lowest offset that a buffer ever had
  mutable std::shared_mutex mutex_;      // guards all below
  std::atomic<std::uint64_t> state_{0};  // new when cached results of find() become invalid; unique among heaps
  BlockList blocks_;
  std::vector<HeapChunk> chunks_;
  std::map<std::uint64_t, SymmetricBuffer> buffers_;  // by offset
};

}  // namespace gdrkit::shmem_impl::heap
