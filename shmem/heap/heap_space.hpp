// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// HeapSpace: a range of this process's device addresses with one slot for each PE of the node, at one stride.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "platform/device/cuda_calls.hpp"
#include "platform/device/device.hpp"
#include "shmem/node/node.hpp"

namespace gdrkit::shmem_impl::heap {

/// Memory of the application that other processes can map.
struct SharedMemory {
  base::UniqueFd fd;
  std::uint64_t size_bytes = 0;  ///< of the whole allocation, which is mapped as one
};

/// Slots contain chunks of device memory: this PE's slot has memory of this PE's device, the others have their PEs'
/// memory, imported from file descriptors. Offsets are relative to a slot; offsets and sizes are multiples of
/// granularity_bytes(). Not thread-safe. Requires that the device is current (Device::make_current). The destructor
/// unmaps and frees everything.
class HeapSpace {
 public:
  /// Alignment of slots in bytes. An offset that is a multiple of a smaller power of two gives an address with that
  /// alignment.
  static constexpr std::uint64_t slot_alignment = std::uint64_t{1} << 30;

  virtual ~HeapSpace() = default;

  /// On a GPU `calls` is the driver (nullptr: libcuda). `device` must outlive the result. Fails with ENOMEM if there is
  /// too little address space.
  [[nodiscard]] static base::Result<std::unique_ptr<HeapSpace>> reserve(platform::Device& device, int slots,
                                                                        int own_slot, std::uint64_t max_bytes,
                                                                        const platform::CudaCalls* calls) noexcept;

  [[nodiscard]] std::uint64_t stride_bytes() const noexcept { return stride_bytes_; }
  [[nodiscard]] std::uint64_t address(int slot, std::uint64_t offset) const noexcept {
    return base_ + static_cast<std::uint64_t>(slot) * stride_bytes_ + offset;
  }
  [[nodiscard]] virtual std::uint64_t granularity_bytes() const noexcept = 0;

  /// Allocates a chunk, maps it in this PE's slot, and returns the descriptor that others pass to attach.
  [[nodiscard]] virtual base::Result<base::UniqueFd> create(std::uint64_t offset,
                                                            std::uint64_t size_bytes) noexcept = 0;
  /// Maps another PE's chunk.
  virtual base::Status attach(int slot, std::uint64_t offset, std::uint64_t size_bytes,
                              base::UniqueFd chunk) noexcept = 0;
  /// Unmaps a chunk that create or attach mapped.
  virtual base::Status remove(int slot, std::uint64_t offset, std::uint64_t size_bytes) noexcept = 0;

  /// Exports memory of this PE's device that the application allocated. `address` must be the start of its allocation.
  /// Fails with EOPNOTSUPP if this kind of memory cannot be shared; the error names what to use instead. Fails with
  /// EINVAL if the range is invalid.
  [[nodiscard]] virtual base::Result<SharedMemory> share(std::uint64_t address, std::uint64_t size_bytes) noexcept = 0;
  /// Maps the result of share() on that slot's PE. The granularity_bytes() before and after it must stay free of
  /// chunks.
  virtual base::Status attach_shared(int slot, std::uint64_t offset, std::uint64_t size_bytes,
                                     base::UniqueFd memory) noexcept = 0;
  virtual base::Status remove_shared(int slot, std::uint64_t offset, std::uint64_t size_bytes) noexcept = 0;

 protected:
  std::uint64_t base_ = 0;
  std::uint64_t stride_bytes_ = 0;
};

/// HeapSpace::reserve calls one of these, depending on the device.
[[nodiscard]] base::Result<std::unique_ptr<HeapSpace>> reserve_on_gpu(platform::Device& device, int slots, int own_slot,
                                                                      std::uint64_t max_bytes,
                                                                      const platform::CudaCalls& calls) noexcept;
[[nodiscard]] base::Result<std::unique_ptr<HeapSpace>> reserve_emulated(platform::Device& device, int slots,
                                                                        int own_slot, std::uint64_t max_bytes) noexcept;

}  // namespace gdrkit::shmem_impl::heap
