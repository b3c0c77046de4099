// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/parts/transfer_proxy_work.hpp"

#include <cstddef>
#include <new>

#include "gdrkit/shmem_device.cuh"
#include "shmem/parts/transfers.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

using shmem::detail::ProxyCommand;
using shmem::detail::ProxyOperation;
using shmem::detail::ProxyWait;

void* pointer_to(std::uint64_t address) noexcept { return reinterpret_cast<void*>(address); }

}  // namespace

base::Status TransferProxyWork::begin(const ProxyCommand& command, std::uint64_t* fetched) noexcept {
  const auto size_bytes = static_cast<std::size_t>(command.size_bytes);
  switch (command.operation) {
    case ProxyOperation::put:
    case ProxyOperation::put_signal:
    case ProxyOperation::put_to_team: return put(command);
    case ProxyOperation::get:
      return transfers_.get(pointer_to(command.local), pointer_to(command.remote), size_bytes, command.pe, true);
    case ProxyOperation::get_word:
      if (size_bytes > sizeof *fetched || fetched == nullptr) break;
      return transfers_.get(fetched, pointer_to(command.remote), size_bytes, command.pe, true);
    case ProxyOperation::update:
      if (command.update > GDRKIT_SHMEM_ATOMIC_XOR) break;
      return transfers_.atomic(pointer_to(command.remote), size_bytes,
                               static_cast<gdrkit_shmem_atomic_operation>(command.update), command.operand,
                               command.signal, fetched, command.pe, true);
    case ProxyOperation::fence: transfers_.fence(); return {};
    case ProxyOperation::quiet: return {};  // the reply is sent after complete()
    case ProxyOperation::barrier: return arrive(command.operand);
  }
  return base::fail(EPROTO,
                    "the GPU kernel sent an invalid command (operation %u, %zu bytes); recompile the GPU code with "
                    "this release of gdrkit",
                    static_cast<unsigned>(command.operation), size_bytes);
}

base::Status TransferProxyWork::put(const ProxyCommand& command) noexcept {
  const bool has_data = command.has_data != 0;
  if (has_data && command.size_bytes > sizeof command.local) {
    return base::fail(EPROTO,
                      "the GPU kernel sent a value of %llu bytes, but the limit is %zu bytes; recompile the GPU code "
                      "with this release of gdrkit",
                      static_cast<unsigned long long>(command.size_bytes), sizeof command.local);
  }
  const void* const source = has_data ? &command.local : pointer_to(command.local);
  const auto size_bytes = static_cast<std::size_t>(command.size_bytes);
  const bool is_async = !has_data && command.wait == ProxyWait::nothing;
  void* const target = pointer_to(command.remote);
  if (command.operation == ProxyOperation::put_to_team) {
    transfers_.fence();
    return transfers_.put_to_team(target, source, size_bytes, pointer_to(command.signal), command.operand, command.pe);
  }
  if (command.operation == ProxyOperation::put) return transfers_.put(target, source, size_bytes, command.pe, is_async);
  const auto operation = command.update == GDRKIT_SHMEM_SIGNAL_ADD ? GDRKIT_SHMEM_SIGNAL_ADD : GDRKIT_SHMEM_SIGNAL_SET;
  return transfers_.put_signal(target, source, size_bytes, pointer_to(command.signal), command.operand, operation,
                               command.pe, is_async);
}

/// The words are those of barrier_all (gdrkit/shmem_device.cuh), at the start of each heap.
base::Status TransferProxyWork::arrive(std::uint64_t round) noexcept {
  if (auto done = complete(); !done) return done;
  const std::uint64_t word =
      offsetof(shmem::SyncWords, arrivals) + static_cast<std::uint64_t>(connections_.pe()) * sizeof round;
  for (int other = 0; other < connections_.n_pes(); ++other) {
    if (connections_.node().has(other)) continue;
    if (auto sent = connections_.remote()->put(other, word, &round, sizeof round); !sent) {
      return base::fail(sent.error().errno_value, "PE %d: %s", other, sent.error().text());
    }
  }
  return {};
}

base::Status TransferProxyWork::complete() noexcept { return connections_.remote()->flush_all(); }

}  // namespace gdrkit::shmem_impl::parts
