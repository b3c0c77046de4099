// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Transport: one way to move bytes between this PE and another. transports.def lists them; one suite tests them all.
#pragma once

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

class HomeMemory;

/// What local memory a transport reads or writes.
enum class LocalMemory : std::uint8_t {
  host,    ///< the CPU may dereference it
  pinned,  ///< the same, and the driver has pinned it: its copies need no detour
  heap,    ///< in an allocation of the own symmetric heap
  device,  ///< other memory of the own GPU
};
inline constexpr std::size_t local_memory_count = 4;

/// Up to which sizes, in bytes, a transport is the one to take, by LocalMemory; 0: not at all.
struct TransportLimits {
  std::size_t put[local_memory_count] = {};
  std::size_t get[local_memory_count] = {};
};

/// Thread-safe. Slots are those of the heap: PEs of this machine, this PE's own too; and behind them, one for each PE
/// number, PEs of other machines (first_remote_slot + pe). Ranges were checked.
class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual const char* name() const noexcept = 0;
  [[nodiscard]] virtual const TransportLimits& limits() const noexcept = 0;
  /// Whether it serves PEs of other machines, and no others.
  [[nodiscard]] virtual bool is_remote() const noexcept { return false; }
  /// An error: it cannot reach that slot, and why. Decided once; makes nothing.
  [[nodiscard]] virtual base::Status serves(int slot) noexcept = 0;

  // Both: EOPNOTSUPP where this transport cannot reach that chunk, for good; then the next one is tried.

  /// `source` may be written again when this returns; with `is_async`, when complete(slot) has. Puts of one
  /// thread to one slot through this transport are seen there in the order of the calls, if order(slot) came between.
  virtual base::Status put(int slot, const heap::HeapRange& target, const void* source, std::size_t size_bytes,
                           LocalMemory memory, bool is_async) noexcept = 0;
  /// `target` holds the data when this returns; with `is_async`, when complete(slot) has.
  virtual base::Status get(int slot, const heap::HeapRange& source, void* target, std::size_t size_bytes,
                           LocalMemory memory, bool is_async) noexcept = 0;

  /// Nobody uses that memory any more, of whichever slot, and it is about to go.
  virtual void forget(const heap::HeapChunk& /*chunk*/) noexcept {}

  /// What was given for the slot before is seen there before what is given after.
  virtual base::Status order(int /*slot*/) noexcept { return {}; }

  /// Whether anything given before is not known to be complete.
  [[nodiscard]] virtual bool is_pending(int slot) const noexcept = 0;
  /// Everything given before by any thread is visible at its target.
  virtual base::Status complete(int slot) noexcept = 0;
};

/// How data goes to other machines: GDRKIT_SHMEM_REMOTE.
enum class RemoteWay : std::uint8_t {
  automatic,  ///< large data directly where UCX can, the rest staged
  direct,     ///< by UCX between GPU addresses
  staged,     ///< by messages through host memory, which the other side puts into its GPU by BAR1 or by copies
  copied,     ///< as staged, by copies only: for comparison
};

/// Of a transport that takes what no other does.
inline constexpr TransportLimits no_limits = {{SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX},
                                              {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX}};

/// What a transport is made from; all must outlive it.
struct TransportSetting {
  platform::Device* device = nullptr;
  const heap::SymmetricHeap* heap = nullptr;
  int slots = 1;
  int first_remote_slot = 1;
  remote::Remote* remote = nullptr;  ///< nullptr: all PEs are on this machine
  HomeMemory* home = nullptr;        ///< with `remote`
  RemoteWay remote_way = RemoteWay::automatic;
  /// GDRKIT_ENGINE: who moves gets on this machine; "": CPU loads, then CUDA's copies.
  const char* reading_engine = "";
};

/// Refuses slots of PEs that are on other machines.
[[nodiscard]] base::Status is_of_this_machine(int slot, int slots) noexcept;

// A transport that cannot run at all is made too, and serves() says why.
#define GDRKIT_SHMEM_TRANSPORT(name) \
  [[nodiscard]] base::Result<std::unique_ptr<Transport>> make_##name(const TransportSetting& setting) noexcept;
#include "shmem/transport/transports.def"
#undef GDRKIT_SHMEM_TRANSPORT

}  // namespace gdrkit::shmem_impl::transport
