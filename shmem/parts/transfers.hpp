// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Transfers: puts, gets, signals and atomic operations of a PE, their order and their completion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "gdrkit/shmem.h"
#include "shmem/parts/connections.hpp"
#include "shmem/parts/local_buffers.hpp"
#include "shmem/parts/put_order.hpp"
#include "shmem/parts/transfer_proxy_work.hpp"
#include "shmem/proxy/proxy.hpp"

namespace gdrkit::shmem_impl::parts {

/// Thread-safe, as gdrkit/shmem.h specifies for its functions.
class Transfers {
 public:
  /// The device is current. `connections` must outlive it.
  [[nodiscard]] static base::Result<std::unique_ptr<Transfers>> make(Connections& connections);
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;
  /// Ends the transfers that GPU kernels command. Comes before the connections are closed.
  void stop_proxy() noexcept;

  base::Status put(void* target, const void* source, std::size_t size_bytes, int pe, bool is_async) noexcept;
  base::Status get(void* target, const void* source, std::size_t size_bytes, int pe, bool is_async) noexcept;
  base::Status signal(void* word, std::uint64_t value, gdrkit_shmem_signal operation, int pe) noexcept;
  base::Status put_signal(void* target, const void* source, std::size_t size_bytes, void* word, std::uint64_t value,
                          gdrkit_shmem_signal operation, int pe, bool is_async) noexcept;
  /// `fetched`: nullptr where the answer is not wanted; with `is_async` it may come as late as in quiet.
  base::Status atomic(void* target, std::size_t size_bytes, gdrkit_shmem_atomic_operation operation,
                      std::uint64_t operand, std::uint64_t compare, std::uint64_t* fetched, int pe,
                      bool is_async = false) noexcept;

  void fence() noexcept { order_.fence(); }
  /// Completes what this PE's CPU put to `pe` and wants from it.
  base::Status complete_to(int pe) noexcept;
  /// Completes all transfers of this PE's CPU and its GPU kernels to all PEs.
  base::Status complete_all() noexcept;

  /// EINVAL for a range that leaves its allocation in the own heap.
  [[nodiscard]] base::Result<transport::LocalMemory> memory_of(const void* address,
                                                               std::size_t size_bytes) const noexcept;
  /// Local buffers of the application's. EEXIST: it overlaps one.
  base::Status register_buffer(const void* address, std::size_t size_bytes) noexcept;
  base::Status unregister_buffer(const void* address) noexcept;
  void unregister_all_buffers() noexcept { buffers_.clear(); }
  /// Nobody uses that memory any more, of whichever PE, and it is about to go.
  void forget(const heap::HeapChunk& chunk) noexcept;

  /// Executes the transfers that GPU kernels command; nullptr: all PEs are on this machine.
  [[nodiscard]] proxy::Proxy* proxy() const noexcept { return proxy_.get(); }
  /// A line for each transport: what it carries to and from that PE, or why nothing.
  [[nodiscard]] base::Result<std::string> describe(int pe) noexcept;

 private:
  explicit Transfers(Connections& connections);
  base::Status make_proxy();
  /// Like put, but returns which transport took it.
  [[nodiscard]] base::Result<std::size_t> put_by(int slot, const heap::HeapRange& range, const void* source,
                                                 std::size_t size_bytes, bool is_async) noexcept;
  base::Status store_word(const PeerRange& remote, std::uint64_t value, std::size_t size_bytes,
                          std::optional<std::size_t> transport) noexcept;
  base::Status complete(int slot) noexcept;

  Connections& connections_;
  const Connections::Transports& transports_;
  PutOrder order_;
  LocalBuffers buffers_;
  TransferProxyWork proxy_work_;
  std::unique_ptr<proxy::Proxy> proxy_;
};

}  // namespace gdrkit::shmem_impl::parts
