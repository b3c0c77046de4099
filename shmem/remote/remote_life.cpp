// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Liveness of PEs.
// A dead PE is detected by the PEs with a connection to it (UCX reports its end), by the PEs of its node (its lock),
// and by the PE before it in the job, which receives its heartbeats. The detecting PE reports the death to the PEs at
// distances 1, 2, 4, ... in both directions, which report it further.
#include <algorithm>
#include <new>

#include "shmem/remote/remote.hpp"

namespace gdrkit::shmem_impl::remote {

using namespace std::chrono_literals;

base::Status Remote::check_lives(const char* what, int pe) noexcept {
  if (pe >= 0) {
    const auto& one = peers_[static_cast<std::size_t>(pe)];
    if (one && one->failure != platform::ucx_ok) {
      return transfer_failure(what, pe, one->failure);
    }
  }
  if (is_leaving_.load(std::memory_order_relaxed)) return {};
  const int dead = first_dead();
  if (dead < 0 || (pe >= 0 && pe != dead)) return {};
  return base::fail(ECONNRESET, "%s: PE %d %s", what, dead, why_dead());
}

void Remote::on_error(void* argument, platform::UcxEndpoint* endpoint, platform::UcxStatus status) noexcept {
  auto& self = *static_cast<Remote*>(argument);
  for (int pe = 0; pe < self.n_pes_; ++pe) {
    const auto& one = self.peers_[static_cast<std::size_t>(pe)];
    if (!one || one->endpoint != endpoint) continue;
    one->failure = status;
    self.declare_dead(pe, "has ended or is unreachable", self.calls_->status_string(status));
    return;
  }
}

/// May run inside a call of UCX, so the death is reported later.
void Remote::declare_dead(int pe, const char* what, const char* ucx_status) noexcept {
  if (is_leaving_.load(std::memory_order_acquire) || first_dead() >= 0) return;
  try {
    why_dead_ = what;
    if (ucx_status != nullptr) why_dead_ += std::string(" (UCX: ") + ucx_status + ")";
  } catch (const std::bad_alloc&) {
    why_dead_.clear();
  }
  const int dead = pe < 0 ? pe_ : pe;
  // Recorded before this PE ends because of it, so that the PEs of this node report that PE and not this one.
  (void)options_.node->note_dead(dead);
  first_dead_.store(dead, std::memory_order_release);
  next_check_ = {};
}

void Remote::check_peers(Clock::time_point now) noexcept {
  next_check_ = now + std::min<std::chrono::milliseconds>(options_.heartbeat / 4, 250ms);
  if (is_leaving_.load(std::memory_order_acquire)) return;
  if (first_dead() < 0) {
    if (const int here = options_.node->first_dead(); here >= 0) declare_dead(here, "has ended");
    if (watched_ >= 0 && now - last_heartbeat_ > options_.silence) {
      declare_dead(watched_, "has ended or is unreachable (no heartbeat for several seconds)");
    }
  }
  if (watcher_ >= 0 && now >= next_heartbeat_) {
    next_heartbeat_ = now + options_.heartbeat;
    send_heartbeat();
  }
  if (first_dead() >= 0 && !is_death_reported_) {
    is_death_reported_ = true;
    report_death(first_dead());
  }
}

void Remote::send_heartbeat() noexcept try {
  (void)send_small(watcher_, message_of(RemoteMessageKind::heartbeat));
} catch (const std::bad_alloc&) {
  next_heartbeat_ = {};  // retry at the next check
}

void Remote::report_death(int dead) noexcept {
  RemoteMessage message = message_of(RemoteMessageKind::death);
  message.other = dead;
  for (int step = 1; step < n_pes_; step *= 2) {
    for (const int pe : {(pe_ + step) % n_pes_, (pe_ + n_pes_ - step) % n_pes_}) {
      if (pe == dead || options_.node->has(pe)) continue;
      try {
        (void)send_small(pe, message);
      } catch (const std::bad_alloc&) {
        is_death_reported_ = false;  // retry at the next check
      }
    }
  }
}

}  // namespace gdrkit::shmem_impl::remote
