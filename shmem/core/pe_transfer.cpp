// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What a PE does to others' memory.
#include <cinttypes>
#include <cstdio>
#include <new>

#include "shmem/core/pe.hpp"

namespace gdrkit::shmem_impl::core {
namespace {

std::size_t limit_of(const transport::Transport& transport, bool is_put, transport::LocalMemory memory) noexcept {
  const transport::TransportLimits& limits = transport.limits();
  return (is_put ? limits.put : limits.get)[static_cast<std::size_t>(memory)];
}

/// Calls `carry(transport number)` with the first from `begin` on that is to take this transfer; where one turns out
/// not to reach the slot or its memory, the next.
template <class Carry>
base::Result<std::size_t> with_transport(const std::vector<std::unique_ptr<transport::Transport>>& transports,
                                         std::size_t begin, int slot, std::size_t size_bytes, bool is_put,
                                         transport::LocalMemory memory, Carry carry) noexcept {
  base::Status last = base::fail_literal(EOPNOTSUPP, "no transport carries this");
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

}  // namespace

base::Result<transport::LocalMemory> Pe::memory_of(const void* address, std::size_t size_bytes) const noexcept {
  if (connections_->heap().contains(address)) {
    auto range = connections_->heap().find(address, size_bytes);
    if (!range) return base::pass(range);
    return transport::LocalMemory::heap;
  }
  return buffers_.kind_of(address, size_bytes, connections_->cuda());
}

base::Status Pe::put(void* target, const void* source, std::size_t size_bytes, int pe, bool is_async) noexcept {
  const auto slot = connections_->slot_of(pe);
  if (!slot) return base::pass(slot);
  const auto range = connections_->heap().find(target, size_bytes);
  if (!range) return base::pass(range);
  if (size_bytes == 0) return {};
  if (source == nullptr) return base::fail(EINVAL, "the source of a put to PE %d is NULL", pe);
  auto carried = put_by(*slot, *range, source, size_bytes, is_async);
  if (!carried) return base::pass(carried);
  return {};
}

base::Result<std::size_t> Pe::put_by(int slot, const heap::HeapRange& range, const void* source, std::size_t size_bytes,
                                     bool is_async) noexcept {
  auto memory = memory_of(source, size_bytes);
  if (!memory) return base::pass(memory);
  return with_transport(connections_->transports(), connections_->first_transport(slot), slot, size_bytes, true,
                        *memory, [&](std::size_t i) {
                          if (auto ordered = order_.before_put(slot, i, connections_->transports()); !ordered)
                            return ordered;
                          return connections_->transports()[i]->put(slot, range, source, size_bytes, *memory, is_async);
                        });
}

base::Status Pe::get(void* target, const void* source, std::size_t size_bytes, int pe, bool is_async) noexcept {
  auto remote = connections_->find(source, size_bytes, pe);
  if (!remote) return base::pass(remote);
  if (size_bytes == 0) return {};
  if (target == nullptr) return base::fail(EINVAL, "the target of a get from PE %d is NULL", pe);
  auto memory = memory_of(target, size_bytes);
  if (!memory) return base::pass(memory);
  auto carried = with_transport(connections_->transports(), connections_->first_transport(remote->slot), remote->slot,
                                size_bytes, false, *memory, [&](std::size_t i) {
                                  return connections_->transports()[i]->get(remote->slot, remote->range, target,
                                                                            size_bytes, *memory, is_async);
                                });
  if (!carried) return base::pass(carried);
  return {};
}

/// `transport`: the one to use; else the one that is chosen for a word, after a fence has put it behind all others'
/// data.
base::Status Pe::store_word(const parts::PeerRange& remote, std::uint64_t value, std::size_t size_bytes,
                            std::optional<std::size_t> transport) noexcept {
  if (!transport) {
    auto carried = put_by(remote.slot, remote.range, &value, size_bytes, false);
    if (!carried) return base::pass(carried);
    return {};
  }
  if (auto ordered = connections_->transports()[*transport]->order(remote.slot); !ordered) return ordered;
  return connections_->transports()[*transport]->put(remote.slot, remote.range, &value, size_bytes,
                                                     transport::LocalMemory::host, false);
}

base::Status Pe::signal(void* word, std::uint64_t value, SignalOperation operation, int pe) noexcept {
  if (operation == SignalOperation::add)
    return atomic(word, sizeof value, transport::AtomicOperation::add, value, 0, nullptr, pe);
  return atomic(word, sizeof value, transport::AtomicOperation::set, value, 0, nullptr, pe);
}

base::Status Pe::put_signal(void* target, const void* source, std::size_t size_bytes, void* word, std::uint64_t value,
                            SignalOperation operation, int pe, bool is_async) noexcept {
  // The word first: where it is wrong, nothing is written.
  auto signal_word = connections_->find(word, sizeof value, pe);
  if (!signal_word) return base::pass(signal_word);
  auto remote = connections_->find(target, size_bytes, pe);
  if (!remote) return base::pass(remote);
  if (size_bytes == 0) return signal(word, value, operation, pe);
  if (source == nullptr) return base::fail(EINVAL, "the source of a put to PE %d is NULL", pe);
  auto carried = put_by(remote->slot, remote->range, source, size_bytes, is_async);
  if (!carried) return base::pass(carried);
  if (operation == SignalOperation::add) {
    // Messages to another machine keep their order; an update by this GPU follows what is complete.
    auto done = connections_->is_remote(remote->slot) ? connections_->transports()[*carried]->order(remote->slot)
                                                      : complete(remote->slot);
    if (!done) return done;
    return signal(word, value, operation, pe);
  }
  // A transport keeps its own order, so the word follows the data by the same one.
  const bool is_pending = connections_->transports()[*carried]->is_pending(remote->slot);
  return store_word(*signal_word, value, sizeof value, is_pending ? carried.value() : std::optional<std::size_t>());
}

base::Status Pe::atomic(void* target, std::size_t size_bytes, transport::AtomicOperation operation,
                        std::uint64_t operand, std::uint64_t compare, std::uint64_t* fetched, int pe,
                        bool is_async) noexcept {
  if (size_bytes != 4 && size_bytes != 8) {
    return base::fail(EINVAL, "an atomic operation needs a word of 4 or 8 bytes, not %zu", size_bytes);
  }
  if (reinterpret_cast<std::uint64_t>(target) % size_bytes != 0) {
    return base::fail(EINVAL, "%p is not aligned to the %zu bytes of an atomic operation", target, size_bytes);
  }
  auto remote = connections_->find(target, size_bytes, pe);
  if (!remote) return base::pass(remote);
  if (operation == transport::AtomicOperation::set && fetched == nullptr) {
    return store_word(*remote, operand, size_bytes, std::nullopt);
  }
  if (operation == transport::AtomicOperation::fetch) {
    std::uint64_t value = 0;
    if (fetched == nullptr) return get(&value, target, size_bytes, pe, false);
    *fetched = 0;
    return get(fetched, target, size_bytes, pe, is_async);
  }
  const auto performed = operation == transport::AtomicOperation::set ? transport::AtomicOperation::swap : operation;
  if (connections_->is_remote(remote->slot)) {
    return connections_->remote()->update(pe, remote->range.offset, size_bytes, static_cast<unsigned>(performed),
                                          operand, compare, fetched, is_async);
  }
  return connections_->atomics().run(connections_->heap().address(remote->slot, remote->range.offset), size_bytes,
                                     performed, operand, compare, fetched);
}

base::Status Pe::complete(int slot) noexcept {
  base::Status done;
  for (const auto& transport : connections_->transports()) base::keep_first(done, transport->complete(slot));
  return done;
}

base::Status Pe::complete_to(int pe) noexcept {
  auto slot = connections_->slot_of(pe);
  if (!slot) return base::pass(slot);
  return complete(*slot);
}

base::Status Pe::complete_all() noexcept {
  base::Status done;
  if (proxy_ != nullptr) base::keep_first(done, proxy_->drain(connections_->limit()));
  for (int slot = 0; slot < connections_->node_pes(); ++slot) base::keep_first(done, complete(slot));
  base::keep_first(done, connections_->atomics().complete());
  if (connections_->remote() != nullptr) base::keep_first(done, connections_->remote()->flush_all());
  return done;
}

base::Status Pe::quiet() noexcept {
  auto done = complete_all();
  base::keep_first(done, check_gpu_waits());
  return done;
}

base::Status Pe::check_gpu_waits() noexcept try {
  if (auto whole = collectives_->take_fault(); !whole) return whole;
  if (auto failed = proxy_ != nullptr ? proxy_->take_failure() : base::Status(); !failed) {
    (void)control_->take_given_up();  // this is why
    return base::fail_vendor(failed.error().errno_value, failed.error().vendor_code, "PE %d, %s", connections_->pe(),
                             failed.error().text());
  }
  const auto word = control_->take_given_up();
  if (!word) return {};
  const auto of_proxy = proxy_ != nullptr ? proxy_->text_of_wait(*word) : std::nullopt;
  char address[32];
  std::snprintf(address, sizeof address, "0x%" PRIx64, *word);
  const std::string what = of_proxy ? *of_proxy : std::string("the word at ") + address;
  if (const int dead = control_->dead_pe(); dead >= 0) {
    return base::fail(ECONNRESET, "a GPU kernel of PE %d gave up waiting for %s: PE %d has ended", connections_->pe(),
                      what.c_str(), dead);
  }
  return base::fail(ETIMEDOUT,
                    "a GPU kernel of PE %d gave up waiting for %s: not there within the limit "
                    "(gdrkit_shmem_set_timeout)",
                    connections_->pe(), what.c_str());
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while a wait of a GPU kernel that gave up was told of");
}

}  // namespace gdrkit::shmem_impl::core
