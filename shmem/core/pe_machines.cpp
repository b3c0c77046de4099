// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A job over several machines: how its PEs find each other, and how all of them synchronise.
//
// The PEs of a machine meet through its shared memory; the first of each machine then meets those of the others, and
// lets its own go on.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "shmem/core/job_node.hpp"
#include "shmem/core/pe.hpp"
#include "shmem/core/waiter.hpp"
#include "shmem/node/node_join.hpp"

namespace gdrkit::shmem_impl::core {
namespace {

using namespace std::chrono_literals;

constexpr auto farewell_limit = 5000ms;

/// Adds one call. Of all calls that were added, in any order: the one of the lowest PE, and of those that differ from
/// it the one of the lowest PE.
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

}  // namespace

base::Status Pe::join_machine(bootstrap::Exchange& exchange, const PeOptions& options,
                              std::size_t area_bytes_for_each) {
  auto place = bootstrap::MeetingPlace::open(options.socket_folder);
  if (!place) return base::pass(place);
  auto machine = node::read_machine_name({options.host_id, !options.socket_folder.empty()});
  if (!machine) return base::pass(machine);
  if (options.is_p2p_disabled) {
    auto machines = exchange.gather(*machine, "machines of the PEs");
    if (!machines) return base::pass(machines);
    const auto own = machines->begin() + pe_;
    local_index_ = static_cast<int>(std::count(machines->begin(), own, *machine));
    std::snprintf(machine->boot_id, sizeof machine->boot_id, "machine %d, apart", options.machine.value_or(pe_));
  }
  auto node = node::join_node(*machine, exchange, 0, options.limit, area_bytes_for_each, *place);
  if (!node) return base::pass(node);
  node_ = std::move(*node);
  own_slot_ = node_->index_of(pe_);
  if (!options.is_p2p_disabled) local_index_ = own_slot_;
  return {};
}

base::Status Pe::start_remote(bootstrap::Exchange& exchange, const PeOptions& options) {
  remote::RemoteOptions wanted;
  wanted.device = device_.get();
  wanted.node = node_.get();
  wanted.limit_ms = &limit_ms_;
  wanted.calls = options.ucx_calls;
  // `automatic` uses direct transfers only with a GPU; see transport/ucx.cpp.
  wanted.is_direct = options.remote_way == transport::RemoteWay::direct ||
                     (options.remote_way == transport::RemoteWay::automatic && !device_->is_emulated());
  wanted.silence = options.remote_silence;
  wanted.heartbeat = options.remote_silence / 7;
  auto started = remote::Remote::start(exchange, wanted);
  if (!started) {
    return base::fail_vendor(started.error().errno_value, started.error().vendor_code,
                             "the job has PEs on other machines, which need UCX: %s", started.error().text());
  }
  remote_ = std::move(*started);
  remote_way_ = options.remote_way;
  node_ = std::make_unique<JobNode>(std::move(node_), *remote_);
  return {};
}

base::Status Pe::make_proxy() {
  std::vector<std::int32_t> away(static_cast<std::size_t>(n_pes_), shmem::detail::beyond_reach);
  for (const int pe : node_->pes()) away[static_cast<std::size_t>(pe)] = node_->index_of(pe) - own_slot_;
  auto proxy = proxy::Proxy::make(*device_, proxy_work_, away);
  if (!proxy) return base::pass(proxy);
  proxy_ = std::move(*proxy);
  return {};
}

transport::TransportSetting Pe::transport_setting() const noexcept {
  return {device_.get(), heap_.get(), node_pes(),  node_pes(),
          remote_.get(), home_.get(), remote_way_, reading_engine_.c_str()};
}

/// Ordering: as sync_all's on one machine; the first PE acquires the others' arrivals and releases them after it has
/// met the other machines.
base::Result<AgreedCalls> Pe::sync_machines(const char* what, const AgreedCall& call,
                                            std::chrono::milliseconds limit) noexcept {
  PeLine& own = line(static_cast<std::size_t>(own_slot_));
  own.operation.store(call.operation, std::memory_order_relaxed);
  own.arguments[0].store(call.arguments[0], std::memory_order_relaxed);
  own.arguments[1].store(call.arguments[1], std::memory_order_relaxed);
  const std::uint64_t arrival = own.arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
  PeLine& root = line(0);
  const auto wait_for = [&](const std::atomic<std::uint64_t>& count, int pe) -> base::Status {
    Waiter waiter(*node_, limit, what);
    while (count.load(std::memory_order_acquire) < arrival) {
      if (auto waited = waiter.pause(); !waited) {
        return base::fail(waited.error().errno_value, "%s (PE %d waits for PE %d)", waited.error().text(), pe_, pe);
      }
    }
    return {};
  };
  if (own_slot_ != 0) {
    if (auto released = wait_for(root.released, node_->pes()[0]); !released) return base::pass(released);
    return root.calls;
  }
  AgreedCalls calls;
  for (std::size_t other = 0; other < node_->pes().size(); ++other) {
    if (auto came = wait_for(line(other).arrivals, node_->pes()[other]); !came) return base::pass(came);
    const PeLine& theirs = line(other);
    add_call(&calls, {node_->pes()[other],
                      theirs.operation.load(std::memory_order_relaxed),
                      {theirs.arguments[0].load(std::memory_order_relaxed),
                       theirs.arguments[1].load(std::memory_order_relaxed)}});
  }
  if (auto met = remote_->meet(&calls, sizeof calls, &fold_calls, what); !met) return base::pass(met);
  root.calls = calls;
  root.released.store(arrival, std::memory_order_release);
  return calls;
}

base::Status Pe::compare_calls(const char* what, const AgreedCalls& calls) noexcept {
  const AgreedCall& first = calls.first;
  const AgreedCall& other = calls.different;
  if (other.pe < 0) return {};
  if (first.operation != other.operation) {
    return base::fail(EPROTO, "%s: PE %d and PE %d called different collective functions", what, first.pe, other.pe);
  }
  const int which = first.arguments[0] != other.arguments[0] ? 0 : 1;
  return base::fail(EPROTO, "%s: PE %d passed %" PRIu64 ", PE %d %" PRIu64 "; all PEs must pass the same", what,
                    first.pe, first.arguments[which], other.pe, other.arguments[which]);
}

/// A PE that closes its connections looks like one that died. So none does before all have said that they end.
void Pe::say_farewell() noexcept { (void)sync_machines("finalize", {pe_, 0, {}}, farewell_limit); }

}  // namespace gdrkit::shmem_impl::core
