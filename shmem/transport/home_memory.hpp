// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// HomeMemory: a PE's own GPU memory as its thread for other machines reads and writes it.
#pragma once

#include <memory>

#include "platform/device/device.hpp"
#include "shmem/heap/symmetric_heap.hpp"
#include "shmem/remote/home.hpp"
#include "shmem/transport/atomics.hpp"
#include "shmem/transport/transport.hpp"

namespace gdrkit::shmem_impl::transport {

/// By a transport that serves the own slot up to its limits for host memory, where it was given one (bar1); else by the
/// driver's copies in a stream of its own. Thread-safe.
class HomeMemory final : public remote::Home {
 public:
  /// All must outlive it.
  [[nodiscard]] static base::Result<std::unique_ptr<HomeMemory>> make(platform::Device& device,
                                                                      const heap::SymmetricHeap& heap,
                                                                      Atomics& atomics) noexcept;
  /// Before others reach the heap.
  void use(Transport& transport) noexcept { bar1_ = &transport; }
  ~HomeMemory() override;

  [[nodiscard]] base::Result<std::uint64_t> address_of(std::uint64_t offset,
                                                       std::uint64_t size_bytes) noexcept override;
  [[nodiscard]] base::Result<remote::HomeChunk> chunk_of(std::uint64_t offset) noexcept override;
  base::Status write(std::uint64_t address, const void* data, std::size_t size_bytes) noexcept override;
  base::Status read(std::uint64_t address, void* data, std::size_t size_bytes) noexcept override;
  base::Status update(std::uint64_t address, std::size_t size_bytes, unsigned operation, std::uint64_t operand,
                      std::uint64_t compare, std::uint64_t* old) noexcept override;
  base::Status complete() noexcept override;

 private:
  HomeMemory(platform::Device& device, const heap::SymmetricHeap& heap, Atomics& atomics) noexcept
      : device_(device), heap_(heap), atomics_(atomics) {}
  [[nodiscard]] bool goes_by_bar1(std::uint64_t address, std::size_t size_bytes, bool is_write) noexcept;
  /// Whether a failure is one of bar1's, and not that it cannot map that memory.
  [[nodiscard]] bool is_bar1s_own(const base::Status& failed) noexcept;
  base::Status complete_stores() noexcept;
  [[nodiscard]] heap::HeapRange range_of(std::uint64_t address) const noexcept;

  platform::Device& device_;
  const heap::SymmetricHeap& heap_;
  Atomics& atomics_;
  Transport* bar1_ = nullptr;
  platform::Stream stream_;
};

}  // namespace gdrkit::shmem_impl::transport
