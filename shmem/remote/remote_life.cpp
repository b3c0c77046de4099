// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Who lives.
//
// A dead PE is noticed by the PEs with a connection to it (UCX reports the end of the connection), by those of its
// machine (its lock), and by the PE before it in the job, to which it sends heartbeats. Whoever notices tells the PEs
// at distances 1, 2, 4, ... in both directions, and these tell others: all know after few steps.
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
  return base::fail(ECONNRESET, "%s: PE %d has ended (%s)", what, dead, why_dead_.c_str());
}

void Remote::on_error(void* argument, platform::UcxEndpoint* endpoint, platform::UcxStatus status) noexcept {
  auto& self = *static_cast<Remote*>(argument);
  for (int pe = 0; pe < self.n_pes_; ++pe) {
    const auto& one = self.peers_[static_cast<std::size_t>(pe)];
    if (!one || one->endpoint != endpoint) continue;
    one->failure = status;
    self.declare_dead(pe, self.calls_->status_string(status));
    return;
  }
}

/// Inside UCX's calls too, so that others are told later.
void Remote::declare_dead(int pe, const char* why) noexcept {
  if (is_leaving_.load(std::memory_order_acquire) || first_dead() >= 0) return;
  try {
    why_dead_ = why;
  } catch (const std::bad_alloc&) {
    why_dead_.clear();
  }
  const int dead = pe < 0 ? pe_ : pe;
  // Before this PE ends because of it: the others of its machine name that PE then, and not this one.
  (void)options_.node->note_dead(dead);
  first_dead_.store(dead, std::memory_order_release);
  next_look_ = {};
}

void Remote::look_after_others(Clock::time_point now) noexcept {
  next_look_ = now + std::min<std::chrono::milliseconds>(options_.heartbeat / 4, 250ms);
  if (is_leaving_.load(std::memory_order_acquire)) return;
  if (first_dead() < 0) {
    if (const int here = options_.node->first_dead(); here >= 0) declare_dead(here, "its process is gone");
    if (watched_ >= 0 && now - last_heard_ > options_.silence) {
      declare_dead(watched_, "no sign of life for seconds");
    }
  }
  if (watcher_ >= 0 && now >= next_heartbeat_) {
    next_heartbeat_ = now + options_.heartbeat;
    send_heartbeat();
  }
  if (first_dead() >= 0 && !is_death_told_) {
    is_death_told_ = true;
    tell_death(first_dead());
  }
}

void Remote::send_heartbeat() noexcept try {
  (void)send_small(watcher_, message_of(RemoteMessageKind::heartbeat));
} catch (const std::bad_alloc&) {
  next_heartbeat_ = {};  // again at the next look
}

void Remote::tell_death(int dead) noexcept {
  RemoteMessage message = message_of(RemoteMessageKind::death);
  message.other = dead;
  for (int step = 1; step < n_pes_; step *= 2) {
    for (const int pe : {(pe_ + step) % n_pes_, (pe_ + n_pes_ - step) % n_pes_}) {
      if (pe == dead || options_.node->has(pe)) continue;
      try {
        (void)send_small(pe, message);
      } catch (const std::bad_alloc&) {
        is_death_told_ = false;  // again at the next look
      }
    }
  }
}

}  // namespace gdrkit::shmem_impl::remote
