// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Transport: one way to move bytes between this PE and another. transports.def lists them; one suite tests them all.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "platform/device/device.hpp"
#include "shmem/heap/symmetric_heap.hpp"

namespace gdrkit::shmem_impl::remote {
class Remote;
}  // namespace gdrkit::shmem_impl::remote

namespace gdrkit::shmem_impl::transport {

class OwnHeapMemory;

/// What local memory a transport reads or writes.
enum class LocalMemory : std::uint8_t {
  host,    ///< the CPU may dereference it
  pinned,  ///< host memory that the driver has pinned, so that its copies are direct
  heap,    ///< in an allocation of this PE's symmetric heap
  device,  ///< other memory of this PE's GPU
};
inline constexpr std::size_t local_memory_count = 4;

[[nodiscard]] constexpr bool is_host(LocalMemory memory) noexcept {
  return memory == LocalMemory::host || memory == LocalMemory::pinned;
}

/// Maximum sizes in bytes, by LocalMemory, for which a transport is used; 0: never.
struct TransportLimits {
  std::size_t put[local_memory_count] = {};
  std::size_t get[local_memory_count] = {};
};

/// Thread-safe. Slots below TransportSetting::node_pes are the PEs of this node, including this PE, as in the heap.
/// Slot node_pes + pe is a PE of another node. Callers check the ranges.
class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual const char* name() const noexcept = 0;
  [[nodiscard]] virtual const TransportLimits& limits() const noexcept = 0;
  /// Returns whether it serves PEs of other nodes only.
  [[nodiscard]] virtual bool is_remote() const noexcept { return false; }
  /// Fails with the reason if it cannot access that slot.
  [[nodiscard]] virtual base::Status serves(int slot) noexcept = 0;

  // put and get fail with EOPNOTSUPP if this transport can never access that chunk, or with any error if serves() fails
  // afterwards. The caller then tries the next transport.

  /// The source may be reused after the call; with `is_async`, after complete(slot). Puts of one thread to one slot
  /// become visible in the order of the calls if order(slot) was called between them.
  virtual base::Status put(int slot, const heap::HeapPosition& target, const void* source, std::size_t size_bytes,
                           LocalMemory memory, bool is_async) noexcept = 0;
  /// The target holds the data after the call; with `is_async`, after complete(slot).
  virtual base::Status get(int slot, const heap::HeapPosition& source, void* target, std::size_t size_bytes,
                           LocalMemory memory, bool is_async) noexcept = 0;

  /// Drops what is kept for the chunk, in all slots. The caller frees the chunk after the call.
  virtual void forget(const heap::HeapChunk& /*chunk*/) noexcept {}

  /// Orders earlier puts to the slot before later ones.
  virtual base::Status order(int /*slot*/) noexcept { return {}; }

  /// Returns whether an earlier operation may be incomplete.
  [[nodiscard]] virtual bool is_pending(int slot) const noexcept = 0;
  /// Completes all earlier operations of all threads. They are visible at their targets.
  virtual base::Status complete(int slot) noexcept = 0;
};

/// Path of data to other nodes: GDRKIT_SHMEM_REMOTE.
enum class RemoteWay : std::uint8_t {
  automatic,  ///< large data directly where UCX can, the rest staged
  direct,     ///< by UCX, between local memory and the other PE's GPU address
  staged,     ///< by messages through host memory; the other PE writes the data to its GPU through BAR1 or by copies
  copied,     ///< like staged, but only by copies; for comparison
};

/// Limits of a transport without limits.
inline constexpr TransportLimits no_limits = {{SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX},
                                              {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX}};

/// What a transport is made from; all must outlive it.
struct TransportSetting {
  platform::Device* device = nullptr;
  const heap::SymmetricHeap* heap = nullptr;
  int node_pes = 1;
  remote::Remote* remote = nullptr;   ///< nullptr: all PEs are on this node
  OwnHeapMemory* own_heap = nullptr;  ///< with `remote`
  RemoteWay remote_way = RemoteWay::automatic;
  /// GDRKIT_ENGINE: engine for gets from PEs of this node; "": CPU loads, then CUDA's copies.
  const char* reading_engine = "";
};

/// Fails for slots of PEs on other nodes.
[[nodiscard]] inline base::Status check_on_this_node(int slot, int node_pes) noexcept {
  if (slot < node_pes) return {};
  return base::fail_literal(EOPNOTSUPP, "the PE is on another node, or GDRKIT_SHMEM_DISABLE_P2P=1 is set");
}

// A transport that cannot run is created, too: its serves() returns the reason.
#define GDRKIT_SHMEM_TRANSPORT(name) \
  [[nodiscard]] base::Result<std::unique_ptr<Transport>> make_##name(const TransportSetting& setting) noexcept;
#include "shmem/transport/transports.def"
#undef GDRKIT_SHMEM_TRANSPORT

}  // namespace gdrkit::shmem_impl::transport
