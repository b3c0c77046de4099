// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Meetings of machines, and who lives.
//
// A dead PE is noticed by the PEs with a connection to it (UCX reports the end of the connection), by those of its
// machine (its lock), and by the PE before it in the job, to which it sends heartbeats. Whoever notices tells the PEs
// at distances 1, 2, 4, ... in both directions, and these tell others: all know after few steps.
#include <algorithm>
#include <new>

#include "shmem/remote/remote.hpp"

namespace gdrkit::shmem {

using namespace std::chrono_literals;

base::Status Remote::meet(void* state, std::size_t size_bytes, Fold fold, const char* what) noexcept try {
  Entered entered(*this);
  const auto own = static_cast<std::size_t>(std::lower_bound(leaders_.begin(), leaders_.end(), pe_) - leaders_.begin());
  const auto* const bytes = static_cast<const char*>(state);
  for (std::size_t round = 0, step = 1; step < leaders_.size(); ++round, step *= 2) {
    const int to = leaders_[(own + step) % leaders_.size()];
    auto peer = connected(to);
    if (!peer) return base::fail(peer.error().errno_value, "%s: %s", what, peer.error().text());
    RemoteMessage message = next_message(**peer, RemoteMessageKind::meet);
    message.offset = round;
    if (auto sent = send_kept(to, message, std::vector<char>(bytes, bytes + size_bytes)); !sent) {
      return base::fail(sent.error().errno_value, "%s: PE %d: %s", what, to, sent.error().text());
    }
    const int from = leaders_[(own + leaders_.size() - step) % leaders_.size()];
    auto& came = meetings_[round];
    auto waited = wait(entered.lock, what, -1, [&] { return !came.empty(); });
    if (!waited) {
      return base::fail(waited.error().errno_value, "%s (PE %d waits for PE %d)", waited.error().text(), pe_, from);
    }
    if (came.front().size() != size_bytes) {
      return base::fail(EPROTO, "%s: PE %d and PE %d called different collective functions", what, pe_, from);
    }
    fold(state, came.front().data());
    came.pop_front();
  }
  return {};
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while machines met");
}

base::Status Remote::say(int pe, std::uint64_t place, std::uint64_t number, const void* data, std::size_t size_bytes,
                         const char* what) noexcept try {
  Entered entered(*this);
  auto to = connected(pe);
  if (!to) return base::fail(to.error().errno_value, "%s: %s", what, to.error().text());
  RemoteMessage message = next_message(**to, RemoteMessageKind::say);
  message.offset = place;
  message.operand = number;
  return send_small(pe, message, data, size_bytes);
} catch (const std::bad_alloc&) {
  return base::fail(ENOMEM, "%s: out of memory", what);
}

base::Status Remote::hear(int pe, std::uint64_t place, std::uint64_t number, void* data, std::size_t size_bytes,
                          const char* what) noexcept try {
  Entered entered(*this);
  auto& said = said_[said_key(place, pe)];  // stays where it is while others are added
  auto came = wait(entered.lock, what, -1, [&] {
    while (!said.empty() && said.front().number < number) said.pop_front();
    return !said.empty();
  });
  if (!came) {
    return base::fail(came.error().errno_value, "%s (PE %d waits for PE %d)", came.error().text(), pe_, pe);
  }
  const std::vector<char>& bytes = said.front().data;
  std::copy_n(bytes.data(), std::min(bytes.size(), size_bytes), static_cast<char*>(data));
  said.pop_front();
  return {};
} catch (const std::bad_alloc&) {
  return base::fail(ENOMEM, "%s: out of memory", what);
}

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

}  // namespace gdrkit::shmem
