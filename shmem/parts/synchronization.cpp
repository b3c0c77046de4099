// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The PEs of a node synchronize through shared memory. The first PE of each node then synchronizes with the first
// PEs of the other nodes, and releases the PEs of its own.
#include "shmem/parts/synchronization.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "shmem/parts/waiter.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

using namespace std::chrono_literals;

constexpr auto farewell_limit = 5000ms;

/// Adds one call. The result does not depend on the order of additions: it contains the call of the lowest PE, and the
/// call of the lowest PE whose call differs.
void add_call(AgreedCalls* calls, const AgreedCall& call) noexcept {
  if (call.pe < 0) return;
  AgreedCall all[] = {calls->first, calls->different, call};
  std::sort(std::begin(all), std::end(all), [](const AgreedCall& one, const AgreedCall& other) {
    return static_cast<unsigned>(one.pe) < static_cast<unsigned>(other.pe);  // none: last
  });
  calls->first = all[0];
  calls->different = {};
  for (const AgreedCall& other : all) {
    if (other.pe < 0 || calls->different.pe >= 0 || other.is_like(all[0])) continue;
    calls->different = other;
  }
}

void fold_calls(void* state, const void* other) {
  AgreedCalls theirs;
  std::memcpy(&theirs, other, sizeof theirs);
  add_call(static_cast<AgreedCalls*>(state), theirs.first);
  add_call(static_cast<AgreedCalls*>(state), theirs.different);
}

base::Status compare_calls(const char* what, const AgreedCalls& calls) noexcept {
  const AgreedCall& first = calls.first;
  const AgreedCall& other = calls.different;
  if (other.pe < 0) return {};
  if (first.operation != other.operation) {
    return base::fail(EPROTO,
                      "%s: PE %d and PE %d called different collective functions; call the same function on all PEs",
                      what, first.pe, other.pe);
  }
  const int which = first.arguments[0] != other.arguments[0] ? 0 : 1;
  return base::fail(EPROTO,
                    "%s: PE %d passed %" PRIu64 ", but PE %d passed %" PRIu64
                    "; all PEs must pass the same value (size, alignment or offset in the heap)",
                    what, first.pe, first.arguments[which], other.pe, other.arguments[which]);
}

void publish(const AgreedCall& call, PeLine& line) noexcept {
  line.operation.store(call.operation, std::memory_order_relaxed);
  line.arguments[0].store(call.arguments[0], std::memory_order_relaxed);
  line.arguments[1].store(call.arguments[1], std::memory_order_relaxed);
}

AgreedCall call_of(int pe, const PeLine& line) noexcept {
  return {pe,
          line.operation.load(std::memory_order_relaxed),
          {line.arguments[0].load(std::memory_order_relaxed), line.arguments[1].load(std::memory_order_relaxed)}};
}

base::Status wait_for(const std::atomic<std::uint64_t>& count, std::uint64_t expected, const Connections& connections,
                      int pe, const char* what, std::chrono::milliseconds limit) noexcept {
  Waiter waiter(connections.node(), limit, what);
  while (count.load(std::memory_order_acquire) < expected) {
    if (auto waited = waiter.pause(); !waited) {
      return base::fail(waited.error().errno_value, "%s (PE %d waits for PE %d)", waited.error().text(),
                        connections.pe(), pe);
    }
  }
  return {};
}

}  // namespace

/// Ordering: the store of a PE's count releases its earlier accesses; every PE that loads the count acquires them.
base::Status Synchronization::sync_all(const char* what) noexcept {
  if (connections_.remote() != nullptr) {
    auto synchronized = sync_nodes(what, {connections_.pe(), 0, {}}, connections_.limit());
    return base::status_of(synchronized);
  }
  const std::uint64_t arrival = own_line().arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
  int index = 0;
  for (const int pe : connections_.node().pes()) {
    auto came = wait_for(connections_.line(index++).arrivals, arrival, connections_, pe, what, connections_.limit());
    if (!came) return came;
  }
  return {};
}

base::Status Synchronization::agree(const char* what, std::uint64_t operation, std::uint64_t first,
                                    std::uint64_t second) noexcept {
  const AgreedCall own{connections_.pe(), operation, {first, second}};
  if (connections_.remote() != nullptr) {
    auto calls = sync_nodes(what, own, connections_.limit());
    return calls ? compare_calls(what, *calls) : base::status_of(calls);
  }
  publish(own, own_line());
  if (auto synchronized = sync_all(what); !synchronized) return synchronized;
  AgreedCalls calls;
  int index = 0;
  for (const int pe : connections_.node().pes()) add_call(&calls, call_of(pe, connections_.line(index++)));
  // No PE writes its line again before all PEs have read it.
  if (auto synchronized = sync_all(what); !synchronized) return synchronized;
  return compare_calls(what, calls);
}

/// Ordering: as in sync_all on one node. The first PE acquires the arrivals of the others, and releases the others
/// after it has synchronized with the other nodes.
base::Result<AgreedCalls> Synchronization::sync_nodes(const char* what, const AgreedCall& call,
                                                      std::chrono::milliseconds limit) noexcept {
  const std::vector<int>& pes = connections_.node().pes();
  PeLine& root = connections_.line(0);
  publish(call, own_line());
  const std::uint64_t arrival = own_line().arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (own_index_ != 0) {
    auto released = wait_for(root.released, arrival, connections_, pes[0], what, limit);
    if (!released) return base::pass(released);
    return root.calls;
  }
  AgreedCalls calls;
  int index = 0;
  for (const int pe : pes) {
    const PeLine& line = connections_.line(index++);
    if (auto came = wait_for(line.arrivals, arrival, connections_, pe, what, limit); !came) return base::pass(came);
    add_call(&calls, call_of(pe, line));
  }
  if (auto reduced = connections_.remote()->allreduce(&calls, sizeof calls, &fold_calls, what); !reduced)
    return base::pass(reduced);
  root.calls = calls;
  root.released.store(arrival, std::memory_order_release);
  return calls;
}

/// Other PEs regard a PE that closes its connections as dead. So each PE waits until all have announced their end.
void Synchronization::wait_for_farewell() noexcept {
  if (connections_.remote() != nullptr) (void)sync_nodes("finalize", {connections_.pe(), 0, {}}, farewell_limit);
}

}  // namespace gdrkit::shmem_impl::parts
