// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/parts/transfers.hpp"

#include <cinttypes>
#include <new>
#include <vector>

#include "gdrkit/shmem_device.cuh"
#include "platform/device/cuda_calls.hpp"
#include "platform/device/device.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

std::size_t limit_of(const transport::Transport& transport, bool is_put, transport::LocalMemory memory) noexcept {
  const transport::TransportLimits& limits = transport.limits();
  return (is_put ? limits.put : limits.get)[static_cast<std::size_t>(memory)];
}

/// Calls `carry(transport number)` for the first transport from `begin` on that is to perform this transfer. If it
/// cannot reach the slot or its memory, tries the next transport.
template <class Carry>
base::Result<std::size_t> with_transport(const std::vector<std::unique_ptr<transport::Transport>>& transports,
                                         std::size_t begin, int slot, std::size_t size_bytes, bool is_put,
                                         transport::LocalMemory memory, Carry carry) noexcept {
  base::Status last = base::fail_literal(EOPNOTSUPP,
                                         "cannot copy the data: no transport supports this combination of memory, size "
                                         "and PE; gdrkit shmem info lists the transports");
  for (std::size_t i = begin; i < transports.size(); ++i) {
    if (size_bytes > limit_of(*transports[i], is_put, memory)) continue;
    if (auto serves = transports[i]->serves(slot); !serves) {
      last = std::move(serves);
      continue;
    }
    last = carry(i);
    if (last) return i;
    if (last.error().errno_value != EOPNOTSUPP && transports[i]->serves(slot)) break;
  }
  return base::pass(last);
}

const char* name_of(transport::LocalMemory memory) noexcept {
  switch (memory) {
    case transport::LocalMemory::host: return "host";
    case transport::LocalMemory::pinned: return "pinned host";
    case transport::LocalMemory::heap: return "symmetric";
    case transport::LocalMemory::device: break;
  }
  return "device";
}

std::string size_text(std::size_t size_bytes) {
  return size_bytes % 1024 == 0 ? std::to_string(size_bytes / 1024) + " KiB" : std::to_string(size_bytes) + " bytes";
}

/// "host up to 32 KiB, symmetric": for each local memory that the transport serves.
std::string text_of(const std::size_t (&limits)[transport::local_memory_count]) {
  std::string text;
  for (std::size_t memory = 0; memory < transport::local_memory_count; ++memory) {
    if (limits[memory] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(name_of(static_cast<transport::LocalMemory>(memory)));
    if (limits[memory] != SIZE_MAX) text += " up to " + size_text(limits[memory]);
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

Transfers::Transfers(Connections& connections)
    : connections_(connections), transports_(connections.transports()), proxy_work_(*this, connections) {
  order_.open(connections.slots(), transports_.size());
}

base::Result<std::unique_ptr<Transfers>> Transfers::make(Connections& connections) {
  std::unique_ptr<Transfers> made(new Transfers(connections));
  if (connections.remote() != nullptr) {
    if (auto proxied = made->make_proxy(); !proxied) return base::pass(proxied);
  }
  return made;
}

base::Status Transfers::make_proxy() {
  const node::Node& node = connections_.node();
  const int own = node.index_of(connections_.pe());
  std::vector<std::int32_t> away(static_cast<std::size_t>(connections_.n_pes()), shmem::detail::not_mapped);
  for (const int pe : node.pes()) away[static_cast<std::size_t>(pe)] = node.index_of(pe) - own;
  auto proxy = proxy::Proxy::make(connections_.device(), proxy_work_, away);
  if (!proxy) return base::pass(proxy);
  proxy_ = std::move(*proxy);
  return {};
}

void Transfers::stop_proxy() noexcept {
  if (proxy_ != nullptr) proxy_->stop();
}

base::Result<transport::LocalMemory> Transfers::kind_of_memory(const void* address,
                                                               std::size_t size_bytes) const noexcept {
  if (connections_.heap().contains(address)) {
    if (auto known = connections_.heap().find(address, size_bytes); !known) return base::pass(known);
    return transport::LocalMemory::heap;
  }
  return buffers_.kind_of(address, size_bytes, connections_.cuda());
}

base::Status Transfers::put(void* target, const void* source, std::size_t size_bytes, int pe, bool is_async) noexcept {
  if (size_bytes == 0) return connections_.check_pe(pe);
  const auto peer_target = connections_.find(target, size_bytes, pe);
  if (!peer_target) return base::pass(peer_target);
  if (source == nullptr) return base::fail(EINVAL, "cannot put to PE %d: the source is NULL", pe);
  return base::status_of(put_by(*peer_target, source, size_bytes, is_async));
}

base::Result<std::size_t> Transfers::put_by(const PeerPosition& target, const void* source, std::size_t size_bytes,
                                            bool is_async) noexcept {
  auto memory = kind_of_memory(source, size_bytes);
  if (!memory) return base::pass(memory);
  const int slot = target.slot;
  return with_transport(transports_, connections_.first_transport(slot), slot, size_bytes, true, *memory,
                        [&](std::size_t i) {
                          if (auto ordered = order_.before_put(slot, i, transports_); !ordered) return ordered;
                          return transports_[i]->put(slot, target.position, source, size_bytes, *memory, is_async);
                        });
}

base::Status Transfers::get(void* target, const void* source, std::size_t size_bytes, int pe, bool is_async) noexcept {
  if (size_bytes == 0) return connections_.check_pe(pe);
  const auto peer_source = connections_.find(source, size_bytes, pe);
  if (!peer_source) return base::pass(peer_source);
  if (target == nullptr) return base::fail(EINVAL, "cannot get from PE %d: the target is NULL", pe);
  auto memory = kind_of_memory(target, size_bytes);
  if (!memory) return base::pass(memory);
  return get_by(*peer_source, target, size_bytes, *memory, is_async);
}

base::Status Transfers::get_by(const PeerPosition& source, void* target, std::size_t size_bytes,
                               transport::LocalMemory memory, bool is_async) noexcept {
  const int slot = source.slot;
  return base::status_of(with_transport(
      transports_, connections_.first_transport(slot), slot, size_bytes, false, memory,
      [&](std::size_t i) { return transports_[i]->get(slot, source.position, target, size_bytes, memory, is_async); }));
}

base::Status Transfers::get_from_team(void* target, const void* source, std::size_t size_bytes, int pe) noexcept {
  const auto slot = connections_.slot_of(pe);
  if (!slot) return base::pass(slot);
  const auto position = connections_.heap().find_reserved(source, size_bytes);
  if (!position) return base::pass(position);
  return get_by({*slot, *position}, target, size_bytes, transport::LocalMemory::host, false);
}

/// Uses `transport` if given. Otherwise a fence orders the store after the data of all transports, and the function
/// selects a transport for the word.
base::Status Transfers::store_word(const PeerPosition& word, std::uint64_t value, std::size_t size_bytes,
                                   std::optional<std::size_t> transport) noexcept {
  if (!transport) return base::status_of(put_by(word, &value, size_bytes, false));
  if (auto ordered = transports_[*transport]->order(word.slot); !ordered) return ordered;
  return transports_[*transport]->put(word.slot, word.position, &value, size_bytes, transport::LocalMemory::host,
                                      false);
}

base::Status Transfers::signal(void* word, std::uint64_t value, gdrkit_shmem_signal operation, int pe) noexcept {
  if (operation == GDRKIT_SHMEM_SIGNAL_ADD)
    return atomic(word, sizeof value, GDRKIT_SHMEM_ATOMIC_ADD, value, 0, nullptr, pe);
  return atomic(word, sizeof value, GDRKIT_SHMEM_ATOMIC_SET, value, 0, nullptr, pe);
}

base::Status Transfers::put_signal(void* target, const void* source, std::size_t size_bytes, void* word,
                                   std::uint64_t value, gdrkit_shmem_signal operation, int pe, bool is_async) noexcept {
  // Check the word first, so that nothing is written if it is invalid.
  const auto signal_word = connections_.find(word, sizeof value, pe);
  if (!signal_word) return base::pass(signal_word);
  if (size_bytes == 0) return signal(word, value, operation, pe);
  const auto peer_target = connections_.find(target, size_bytes, pe);
  if (!peer_target) return base::pass(peer_target);
  if (source == nullptr) return base::fail(EINVAL, "cannot put to PE %d: the source is NULL", pe);
  if (operation != GDRKIT_SHMEM_SIGNAL_ADD) {
    return put_then_store(*peer_target, source, size_bytes, *signal_word, value, is_async);
  }
  auto carried = put_by(*peer_target, source, size_bytes, is_async);
  if (!carried) return base::pass(carried);
  // Messages to another node stay in order. An update by this GPU needs completed data.
  auto done = connections_.is_remote(peer_target->slot) ? transports_[*carried]->order(peer_target->slot)
                                                        : complete(peer_target->slot);
  if (!done) return done;
  return signal(word, value, operation, pe);
}

base::Status Transfers::put_then_store(const PeerPosition& target, const void* source, std::size_t size_bytes,
                                       const PeerPosition& word, std::uint64_t value, bool is_async) noexcept {
  auto carried = put_by(target, source, size_bytes, is_async);
  if (!carried) return base::pass(carried);
  // Each transport keeps its order, so the same transport writes the word after the data.
  const bool is_pending = transports_[*carried]->is_pending(target.slot);
  return store_word(word, value, sizeof value, is_pending ? carried.value() : std::optional<std::size_t>());
}

base::Status Transfers::put_to_team(void* target, const void* source, std::size_t size_bytes, void* word,
                                    std::uint64_t value, int pe) noexcept {
  const auto slot = connections_.slot_of(pe);
  if (!slot) return base::pass(slot);
  const auto word_position = connections_.heap().find_reserved(word, sizeof value);
  if (!word_position) return base::pass(word_position);
  if (size_bytes == 0) return store_word({*slot, *word_position}, value, sizeof value, std::nullopt);
  const auto position = connections_.heap().find_reserved(target, size_bytes);
  if (!position) return base::pass(position);
  return put_then_store({*slot, *position}, source, size_bytes, {*slot, *word_position}, value, false);
}

base::Status Transfers::atomic(void* target, std::size_t size_bytes, gdrkit_shmem_atomic_operation operation,
                               std::uint64_t operand, std::uint64_t compare, std::uint64_t* fetched, int pe,
                               bool is_async) noexcept {
  if (size_bytes != 4 && size_bytes != 8) {
    return base::fail(EINVAL, "unsupported atomic operation on a %zu-byte word: use 4 or 8 bytes", size_bytes);
  }
  if (reinterpret_cast<std::uint64_t>(target) % size_bytes != 0) {
    return base::fail(
        EINVAL,
        "cannot perform an atomic operation at %p: the address is not a multiple of %zu bytes; pass an aligned address",
        target, size_bytes);
  }
  const auto peer_word = connections_.find(target, size_bytes, pe);
  if (!peer_word) return base::pass(peer_word);
  if (operation == GDRKIT_SHMEM_ATOMIC_SET && fetched == nullptr) {
    return store_word(*peer_word, operand, size_bytes, std::nullopt);
  }
  if (operation == GDRKIT_SHMEM_ATOMIC_FETCH) {
    std::uint64_t value = 0;
    if (fetched == nullptr) return get(&value, target, size_bytes, pe, false);
    *fetched = 0;
    return get(fetched, target, size_bytes, pe, is_async);
  }
  const auto performed = operation == GDRKIT_SHMEM_ATOMIC_SET ? GDRKIT_SHMEM_ATOMIC_SWAP : operation;
  if (connections_.is_remote(peer_word->slot)) {
    return connections_.remote()->update(pe, peer_word->position.offset, size_bytes, static_cast<unsigned>(performed),
                                         operand, compare, fetched, is_async);
  }
  return connections_.atomics().run(connections_.heap().address(peer_word->slot, peer_word->position.offset),
                                    size_bytes, performed, operand, compare, fetched);
}

base::Status Transfers::complete(int slot) noexcept {
  base::Status done;
  for (const auto& transport : transports_) base::keep_first(done, transport->complete(slot));
  return done;
}

base::Status Transfers::complete_to(int pe) noexcept {
  auto slot = connections_.slot_of(pe);
  if (!slot) return base::pass(slot);
  return complete(*slot);
}

base::Status Transfers::complete_all() noexcept {
  base::Status done;
  if (proxy_ != nullptr) base::keep_first(done, proxy_->drain(connections_.limit()));
  for (int slot = 0; slot < connections_.node_pes(); ++slot) base::keep_first(done, complete(slot));
  base::keep_first(done, connections_.atomics().complete());
  if (connections_.remote() != nullptr) base::keep_first(done, connections_.remote()->flush_all());
  return done;
}

base::Status Transfers::register_buffer(const void* address, std::size_t size_bytes) noexcept {
  if (connections_.heap().contains(address)) {
    return base::fail(EINVAL, "cannot register %p: memory of the symmetric heap needs no registration", address);
  }
  const platform::DeviceScope scope(connections_.device());
  if (auto current = scope.status(); !current) return current;
  auto memory = kind_of_memory(address, size_bytes);
  if (!memory) return base::pass(memory);
  const auto word = reinterpret_cast<std::uint64_t>(address);
  if (*memory == transport::LocalMemory::device) {
    // Transfers do not check registered buffers again, so check the extent and the GPU here.
    std::uint64_t start = 0;
    std::size_t extent = 0;
    if (const int got = connections_.cuda()->mem_get_address_range(&start, &extent, word); got != 0) {
      return base::fail_vendor(EINVAL, got,
                               "cannot register %p: cuMemGetAddressRange failed: %s; pass memory that CUDA allocated",
                               address, platform::cuda_result_name(got));
    }
    const std::uint64_t offset = word - start;
    if (offset > extent || size_bytes > extent - offset) {
      return base::fail(EINVAL, "cannot register %p + %zu bytes: the range exceeds the allocation of %zu bytes",
                        address, size_bytes, extent);
    }
    int ordinal = -1;
    int attribute = platform::cuda_pointer_attribute_device_ordinal;
    void* values[] = {&ordinal};
    (void)connections_.cuda()->pointer_get_attributes(1, &attribute, values, word);
    if (ordinal != connections_.device().identity().ordinal) {
      return base::fail(EINVAL, "cannot register %p: the memory is on GPU %d, but PE %d uses GPU %d", address, ordinal,
                        connections_.pe(), connections_.device().identity().ordinal);
    }
  }
  return buffers_.add(word, size_bytes, *memory);
}

base::Status Transfers::unregister_buffer(const void* address) noexcept {
  return buffers_.remove(reinterpret_cast<std::uint64_t>(address));
}

void Transfers::forget(const heap::HeapChunk& chunk) noexcept {
  for (const auto& transport : transports_) transport->forget(chunk);
}

base::Result<std::string> Transfers::describe(int pe) noexcept try {
  auto slot = connections_.slot_of(pe);
  if (!slot) return base::pass(slot);
  std::string text;
  for (const auto& transport : transports_) {
    text += (text.empty() ? "" : "\n") + std::string(transport->name()) + ": ";
    if (auto serves = transport->serves(*slot); !serves) {
      text += std::string("not used: ") + serves.error().text();
      continue;
    }
    const transport::TransportLimits& limits = transport->limits();
    text += "put from " + text_of(limits.put) + "; get to " + text_of(limits.get);
  }
  text += connections_.is_remote(*slot) ? "\nGPU kernels: by a proxy thread of this PE, which executes their commands"
                                        : "\nGPU kernels: by loads and stores";
  return text;
} catch (const std::bad_alloc&) {
  return base::fail(ENOMEM, "out of memory while listing the transports for PE %d", pe);
}

}  // namespace gdrkit::shmem_impl::parts
