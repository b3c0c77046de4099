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
  /// The caller must make the device current. `connections` must outlive the object.
  [[nodiscard]] static base::Result<std::unique_ptr<Transfers>> make(Connections& connections);
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;
  /// Stops the proxy. Call it before the connections are closed.
  void stop_proxy() noexcept;

  base::Status put(void* target, const void* source, std::size_t size_bytes, int pe, bool is_async) noexcept;
  base::Status get(void* target, const void* source, std::size_t size_bytes, int pe, bool is_async) noexcept;
  base::Status signal(void* word, std::uint64_t value, gdrkit_shmem_signal operation, int pe) noexcept;
  base::Status put_signal(void* target, const void* source, std::size_t size_bytes, void* word, std::uint64_t value,
                          gdrkit_shmem_signal operation, int pe, bool is_async) noexcept;
  /// As a blocking put_signal with GDRKIT_SHMEM_SIGNAL_SET, for scratch memory and a word of a team, which are not in
  /// symmetric allocations.
  base::Status put_to_team(void* target, const void* source, std::size_t size_bytes, void* word, std::uint64_t value,
                           int pe) noexcept;
  /// Gets to host memory from the teams' part of a heap.
  base::Status get_from_team(void* target, const void* source, std::size_t size_bytes, int pe) noexcept;
  /// Stores the old value in `*fetched` unless `fetched` is nullptr. With `is_async`, the value is stored by the end of
  /// quiet at the latest.
  base::Status atomic(void* target, std::size_t size_bytes, gdrkit_shmem_atomic_operation operation,
                      std::uint64_t operand, std::uint64_t compare, std::uint64_t* fetched, int pe,
                      bool is_async = false) noexcept;

  void fence() noexcept { order_.fence(); }
  /// Completes outstanding puts to and gets from `pe` that this PE's CPU began.
  base::Status complete_to(int pe) noexcept;
  /// Completes all transfers of this PE's CPU and its GPU kernels to all PEs.
  base::Status complete_all() noexcept;

  /// Returns the kind of local memory. Queries the CUDA driver if neither the address nor a registered buffer
  /// determines it (LocalBuffers::kind_of). Fails with EINVAL if a range in this PE's heap exceeds its allocation.
  [[nodiscard]] base::Result<transport::LocalMemory> kind_of_memory(const void* address,
                                                                    std::size_t size_bytes) const noexcept;
  /// Registers a local buffer of the application. Fails with EEXIST if it overlaps a registered buffer.
  base::Status register_buffer(const void* address, std::size_t size_bytes) noexcept;
  base::Status unregister_buffer(const void* address) noexcept;
  void unregister_all_buffers() noexcept { buffers_.clear(); }
  /// Drops what the transports keep for `chunk`, before it is freed. No PE may use it any more.
  void forget(const heap::HeapChunk& chunk) noexcept;

  /// Returns the proxy, which executes commands of GPU kernels, or nullptr if all PEs are on this node.
  [[nodiscard]] proxy::Proxy* proxy() const noexcept { return proxy_.get(); }
  /// Human-readable text, one line per transport: the transfers to and from `pe` that it serves, or why it serves none.
  [[nodiscard]] base::Result<std::string> describe(int pe) noexcept;

 private:
  explicit Transfers(Connections& connections);
  base::Status make_proxy();
  /// Like put, but returns the number of the transport that performed it.
  [[nodiscard]] base::Result<std::size_t> put_by(const PeerPosition& target, const void* source, std::size_t size_bytes,
                                                 bool is_async) noexcept;
  base::Status get_by(const PeerPosition& source, void* target, std::size_t size_bytes, transport::LocalMemory memory,
                      bool is_async) noexcept;
  /// put_signal with GDRKIT_SHMEM_SIGNAL_SET.
  base::Status put_then_store(const PeerPosition& target, const void* source, std::size_t size_bytes,
                              const PeerPosition& word, std::uint64_t value, bool is_async) noexcept;
  base::Status store_word(const PeerPosition& word, std::uint64_t value, std::size_t size_bytes,
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
