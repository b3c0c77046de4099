// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// OwnHeapMemory: access to this PE's GPU memory for the delivery of messages and for puts of GPU memory to other nodes.
#pragma once

#include <memory>

#include "platform/device/device.hpp"
#include "shmem/heap/symmetric_heap.hpp"
#include "shmem/remote/own_heap.hpp"
#include "shmem/transport/atomics.hpp"
#include "shmem/transport/transport.hpp"

namespace gdrkit::shmem_impl::transport {

/// Uses the transport bar1, if set, for sizes up to its limits for host memory; otherwise the driver's copies in a
/// separate stream. Thread-safe.
class OwnHeapMemory final : public remote::OwnHeap {
 public:
  /// All must outlive it.
  [[nodiscard]] static base::Result<std::unique_ptr<OwnHeapMemory>> make(platform::Device& device,
                                                                         const heap::SymmetricHeap& heap,
                                                                         Atomics& atomics) noexcept;
  /// Sets the transport. Call it before other PEs access the heap.
  void use(Transport& transport) noexcept { bar1_ = &transport; }
  ~OwnHeapMemory() override;

  [[nodiscard]] base::Result<std::uint64_t> address_of(std::uint64_t offset,
                                                       std::uint64_t size_bytes) noexcept override;
  [[nodiscard]] base::Result<remote::OwnChunk> chunk_of(std::uint64_t offset) noexcept override;
  base::Status write(std::uint64_t address, const void* data, std::size_t size_bytes) noexcept override;
  base::Status read(std::uint64_t address, void* data, std::size_t size_bytes) noexcept override;
  base::Status update(std::uint64_t address, std::size_t size_bytes, unsigned operation, std::uint64_t operand,
                      std::uint64_t compare, std::uint64_t* old) noexcept override;
  base::Status complete() noexcept override;

 private:
  OwnHeapMemory(platform::Device& device, const heap::SymmetricHeap& heap, Atomics& atomics) noexcept
      : device_(device), heap_(heap), atomics_(atomics) {}
  [[nodiscard]] bool should_use_bar1(std::uint64_t address, std::size_t size_bytes, bool is_write) noexcept;
  /// Returns whether the failure is an error of bar1, and not memory that it cannot map.
  [[nodiscard]] bool is_bar1_failure(const base::Status& failed) noexcept;
  base::Status complete_stores() noexcept;
  [[nodiscard]] heap::HeapPosition position_of(std::uint64_t address) const noexcept;

  platform::Device& device_;
  const heap::SymmetricHeap& heap_;
  Atomics& atomics_;
  Transport* bar1_ = nullptr;
  platform::Stream stream_;
};

}  // namespace gdrkit::shmem_impl::transport
