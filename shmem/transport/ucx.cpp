// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ucx: PEs of other nodes, by messages that their threads deliver (staged), or by UCX between addresses (direct).
//
// Ordering: staged puts of one PE to another are delivered in the order of the calls. Direct ones are not ordered by
// UCX: order() waits for those before. Staged data passes through buffers of this side in pieces.
#include <algorithm>
#include <new>
#include <vector>

#include "shmem/remote/remote.hpp"
#include "shmem/transport/own_heap_memory.hpp"
#include "shmem/transport/transport.hpp"

namespace gdrkit::shmem_impl::transport {
namespace {

/// From here on UCX's own transfers are faster than messages through the other side's thread.
constexpr std::size_t direct_from_bytes = 16384;

class Ucx final : public Transport {
 public:
  explicit Ucx(const TransportSetting& setting) noexcept
      : remote_(setting.remote),
        own_heap_(setting.own_heap),
        is_emulated_(setting.device->is_emulated()),
        first_slot_(setting.node_pes),
        way_(setting.remote_way) {}

  [[nodiscard]] const char* name() const noexcept override { return "ucx"; }
  [[nodiscard]] bool is_remote() const noexcept override { return true; }
  [[nodiscard]] const TransportLimits& limits() const noexcept override { return no_limits; }
  base::Status serves(int slot) noexcept override {
    if (remote_ == nullptr)
      return base::fail_literal(EOPNOTSUPP, "UCX serves only other nodes, and all PEs are on this node");
    if (slot < first_slot_)
      return base::fail_literal(EOPNOTSUPP, "UCX serves only other nodes, and the PE is on this node");
    if (way_ != RemoteWay::direct) return {};
    return remote_->serves_direct(pe_of(slot));
  }

  base::Status put(int slot, const heap::HeapPosition& target, const void* source, std::size_t size_bytes,
                   LocalMemory memory, bool is_async) noexcept override {
    const int pe = pe_of(slot);
    const bool is_device = !is_host(memory);
    if (goes_directly(pe, size_bytes)) {
      auto done = remote_->put_direct(pe, target.offset, source, size_bytes, is_device, is_async);
      if (way_ == RemoteWay::direct || done || done.error().errno_value != EOPNOTSUPP) return done;
    }
    if (!is_device) return remote_->put(pe, target.offset, source, size_bytes);
    return put_from_device(pe, target.offset, reinterpret_cast<std::uint64_t>(source), size_bytes);
  }

  base::Status get(int slot, const heap::HeapPosition& source, void* target, std::size_t size_bytes, LocalMemory memory,
                   bool is_async) noexcept override {
    const int pe = pe_of(slot);
    const bool is_device = !is_host(memory);
    if (goes_directly(pe, size_bytes)) {
      auto done = remote_->get_direct(pe, source.offset, target, size_bytes, is_device, is_async);
      if (way_ == RemoteWay::direct || done || done.error().errno_value != EOPNOTSUPP) return done;
    }
    return remote_->get(pe, source.offset, target, size_bytes, is_device, is_async);
  }

  void forget(const heap::HeapChunk& chunk) noexcept override {
    if (remote_ != nullptr) remote_->forget(chunk.offset);
  }
  base::Status order(int slot) noexcept override { return remote_->order(pe_of(slot)); }
  [[nodiscard]] bool is_pending(int slot) const noexcept override {
    return remote_ != nullptr && slot >= first_slot_ && remote_->is_pending(pe_of(slot));
  }
  base::Status complete(int slot) noexcept override {
    if (remote_ == nullptr || slot < first_slot_) return {};
    return remote_->flush(pe_of(slot));
  }

 private:
  [[nodiscard]] int pe_of(int slot) const noexcept { return slot - first_slot_; }
  [[nodiscard]] bool goes_directly(int pe, std::size_t size_bytes) const noexcept {
    if (way_ == RemoteWay::direct) return true;
    if (way_ != RemoteWay::automatic || size_bytes < direct_from_bytes || is_emulated_) return false;
    return remote_->serves_direct(pe).has_value();
  }

  base::Status put_from_device(int pe, std::uint64_t offset, std::uint64_t source, std::size_t size_bytes) noexcept
      try {
    for (std::size_t at = 0; at < size_bytes; at += remote::Remote::piece_bytes) {
      std::vector<char> bytes(std::min(remote::Remote::piece_bytes, size_bytes - at));
      if (auto read = own_heap_->read(source + at, bytes.data(), bytes.size()); !read) return read;
      if (auto sent = remote_->put_kept(pe, offset + at, std::move(bytes)); !sent) return sent;
    }
    return {};
  } catch (const std::bad_alloc&) {
    return base::fail_literal(ENOMEM, "out of memory while sending data to another node");
  }

  remote::Remote* const remote_;
  OwnHeapMemory* const own_heap_;
  // No direct transfers then: UCX 1.13 emulates puts to host memory over TCP in software, and aborts the process when
  // it acknowledges one to a dead PE.
  const bool is_emulated_;
  const int first_slot_;
  const RemoteWay way_;
};

}  // namespace

base::Result<std::unique_ptr<Transport>> make_ucx(const TransportSetting& setting) noexcept try {
  return std::make_unique<Ucx>(setting);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while creating transport 'ucx'");
}

}  // namespace gdrkit::shmem_impl::transport
