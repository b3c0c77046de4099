// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Start and end of the communication with other nodes, and its progress.
#include "shmem/remote/remote.hpp"

#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "shmem/bootstrap/star_wire.hpp"
#include "shmem/remote/ucx_worker.hpp"

namespace gdrkit::shmem_impl::remote {
namespace {

using namespace std::chrono_literals;

/// How long the thread polls after the last traffic before it sleeps: about the time of a wake-up.
constexpr auto polling_before_sleep = 50us;
/// How long it polls without a pause: the time in which a PE of another node on the same machine continues after a
/// reply. A yield between two polls takes longer than such a message.
constexpr auto polling_on = 10us;
/// A longer yield means that another thread ran.
constexpr auto idle_yield = 3us;
/// Reading the clock takes as long as a poll of shared memory.
constexpr unsigned polls_between_clock_reads = 16;
constexpr int sleep_ms = 100;
constexpr std::uint64_t longest_address_bytes = 65536;
constexpr auto farewell = 5000ms;

}  // namespace

base::Result<std::unique_ptr<Remote>> Remote::start(bootstrap::Exchange& exchange,
                                                    const RemoteOptions& options) noexcept try {
  std::unique_ptr<Remote> remote(new Remote(options, exchange.pe(), exchange.n_pes()));
  base::Status opened;
  auto calls =
      options.calls != nullptr ? base::Result<const platform::UcxCalls*>(options.calls) : platform::ucx_calls();
  if (calls) {
    const platform::DeviceScope scope(*options.device);
    remote->calls_ = *calls;
    auto worker = UcxWorker::open(**calls, static_cast<std::size_t>(exchange.n_pes()), options.is_direct,
                                  !options.device->is_emulated(), *remote);
    if (worker) remote->worker_ = std::move(*worker);
    if (!worker) opened = base::pass(worker);
  } else {
    opened = base::pass(calls);
  }
  if (auto exchanged = remote->exchange_addresses(exchange, opened); !exchanged) return base::pass(exchanged);
  remote->last_heartbeat_ = Clock::now();
  remote->thread_ = std::thread([one = remote.get()] { one->run(); });
  return remote;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while starting UCX");
} catch (const std::system_error& error) {
  return base::fail(
      EAGAIN, "cannot start the thread that serves PEs of other nodes: %s; raise ulimit -u or pids.max of the cgroup",
      error.what());
}

base::Status Remote::exchange_addresses(bootstrap::Exchange& exchange, const base::Status& opened) {
  WorkerCard mine;
  mine.leader = options_.node->pes().front();
  if (pe_ == 0) {
    const auto nonce = bootstrap::make_token();
    if (!nonce) return base::pass(nonce);  // the other PEs detect that PE 0 ended
    mine.nonce = *nonce;
  }
  if (opened) mine.address_bytes = worker_->address().size();
  mine.started = bootstrap::PeOutcome(opened);
  auto cards = exchange.gather(mine, "starting UCX");
  if (!cards) return base::pass(cards);
  if (!opened) return opened;
  keys_ = MessageKeys(exchange.job_key(), cards->front().nonce);
  for (int pe = 0; pe < n_pes_; ++pe) {
    const WorkerCard& card = (*cards)[static_cast<std::size_t>(pe)];
    if (card.started.errno_value != 0) return bootstrap::fail_as(card.started, "PE " + std::to_string(pe));
    if (card.leader < 0 || card.leader > pe || card.address_bytes > longest_address_bytes) {
      return base::fail(EPROTO, "PE %d sent an invalid UCX address; use one release of gdrkit for all PEs", pe);
    }
    address_stride_ = std::max<std::size_t>(address_stride_, card.address_bytes);
    leader_of_.push_back(card.leader);
    if (card.leader == pe) leaders_.push_back(pe);
  }
  std::vector<char> padded = worker_->address();
  padded.resize(address_stride_);
  addresses_.resize(static_cast<std::size_t>(n_pes_) * address_stride_);
  if (auto exchanged =
          exchange.allgather(padded.data(), address_stride_, addresses_.data(), "exchanging UCX addresses");
      !exchanged) {
    return exchanged;
  }
  node_counts_.assign(leaders_.size(), 0);
  // A neighbour on this node is watched by its lock.
  const int before = (pe_ + n_pes_ - 1) % n_pes_;
  const int after = (pe_ + 1) % n_pes_;
  if (!options_.node->has(before)) watcher_ = before;
  if (!options_.node->has(after)) watched_ = after;
  return {};
}

void Remote::open(OwnHeap& own_heap) noexcept {
  const Entered entered(*this);
  own_heap_ = &own_heap;
}

Remote::Entered::Entered(Remote& remote) noexcept : lock(remote.mutex_, std::defer_lock) {
  if (remote.worker_->supports_cuda() && !remote.options_.device->is_emulated()) scope.emplace(*remote.options_.device);
  remote.lock_soon(lock);
}

/// Spins before it sleeps: a thread that polls under the lock checks after each poll whether another thread waits for
/// the lock.
void Remote::lock_soon(Lock& lock) noexcept {
  constexpr unsigned most_tries = 64;
  users_waiting_.fetch_add(1, std::memory_order_relaxed);
  for (unsigned tries = 0; tries < most_tries && !lock.owns_lock(); ++tries) (void)lock.try_lock();
  if (!lock.owns_lock()) lock.lock();
  users_waiting_.fetch_sub(1, std::memory_order_relaxed);
}

std::chrono::milliseconds Remote::limit() const noexcept {
  const std::chrono::milliseconds configured(options_.limit_ms->load());
  if (!is_leaving_.load(std::memory_order_relaxed)) return configured;
  return configured == 0ms ? farewell : std::min<std::chrono::milliseconds>(configured, farewell);
}

base::Status Remote::wait(Lock& lock, const char* what, int pe, bool (*is_there)(const void*),
                          const void* argument) noexcept {
  constexpr auto holding = 20us;  // the lock: a reply from the same machine arrives within this time
  constexpr auto yielding = 2ms;
  struct Progressing {
    std::atomic<int>* users;
    explicit Progressing(std::atomic<int>* counter) : users(counter) { users->fetch_add(1, std::memory_order_relaxed); }
    ~Progressing() { end(); }
    void end() {
      if (users != nullptr) users->fetch_sub(1, std::memory_order_relaxed);
      users = nullptr;
    }
  };
  Progressing progressing(&users_progressing_);
  has_user_waited_.store(true, std::memory_order_relaxed);
  const auto begin = Clock::now();
  for (;;) {
    if (is_there(argument)) return {};
    for (unsigned poll = 0; poll < polls_between_clock_reads; ++poll) {
      (void)progress_once();
      if (is_there(argument)) return {};
      if (users_waiting_.load(std::memory_order_relaxed) != 0) break;
    }
    (void)progress();
    if (is_there(argument)) return {};
    if (auto lives = check_lives(what, pe); !lives) return lives;
    const auto waited = Clock::now() - begin;
    if (waited < holding && users_waiting_.load(std::memory_order_relaxed) == 0) continue;
    if (const auto most = limit(); most != 0ms && waited > most) {
      const auto milliseconds = static_cast<long long>(most.count());
      if (pe < 0) return base::fail(ETIMEDOUT, "%s: timed out after %lld ms", what, milliseconds);
      return base::fail(ETIMEDOUT, "%s: PE %d did not reply within %lld ms", what, pe, milliseconds);
    }
    lock.unlock();
    if (waited < yielding) {
      ::sched_yield();
    } else {
      progressing.end();
      std::this_thread::sleep_for(std::clamp<std::chrono::nanoseconds>(waited / 50, 50us, 1ms));
    }
    lock_soon(lock);
  }
}

unsigned Remote::progress_once() noexcept {
  const unsigned moved = worker_->progress();
  send_replies();
  if (moved != 0) has_moved_ = true;
  return moved;
}

unsigned Remote::progress() noexcept {
  constexpr unsigned most_turns = 16;
  unsigned done = 0;
  for (unsigned turn = 0; turn < most_turns; ++turn) {
    const unsigned moved = progress_once();
    done += moved;
    if (moved == 0) break;
  }
  const auto now = Clock::now();
  if (std::exchange(has_moved_, false)) last_traffic_ = now;
  if (std::exchange(has_heartbeat_, false)) last_heartbeat_ = now;
  if (now >= next_check_) check_peers(now);
  return done;
}

unsigned Remote::progress_eagerly() noexcept {
  unsigned done = progress();
  while (Clock::now() - last_traffic_ < polling_on) {
    for (unsigned poll = 0; poll < polls_between_clock_reads; ++poll) {
      if (users_waiting_.load(std::memory_order_relaxed) != 0 || is_stopping_.load(std::memory_order_relaxed)) {
        return done;
      }
      done += progress_once();
    }
    done += progress();
  }
  return done;
}

void Remote::poll() noexcept {
  Lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  std::optional<platform::DeviceScope> scope;
  if (worker_->supports_cuda() && !options_.device->is_emulated()) scope.emplace(*options_.device);
  (void)progress();
}

void Remote::run() noexcept {
  (void)::pthread_setname_np(::pthread_self(), "gdrkit-remote");
  (void)options_.device->make_current();
  bool is_alone = true;  // no other thread ran on this CPU during the last yield
  while (!is_stopping_.load(std::memory_order_acquire)) {
    bool is_armed = false;
    {
      const Lock lock(mutex_);
      // A waiting caller polls itself and soon needs the lock again.
      const bool is_needed = !has_user_waited_.exchange(false, std::memory_order_relaxed);
      const unsigned moved = is_alone && is_needed ? progress_eagerly() : progress();
      if (moved == 0 && Clock::now() - last_traffic_ > polling_before_sleep) is_armed = worker_->arm();
    }
    if (is_armed) {
      pollfd entry{worker_->event_fd(), POLLIN, 0};
      (void)::poll(&entry, 1, sleep_ms);
    } else if (users_progressing_.load(std::memory_order_relaxed) > 0) {
      std::this_thread::sleep_for(100us);
    } else {
      const auto before = Clock::now();
      ::sched_yield();
      is_alone = Clock::now() - before < idle_yield;
    }
  }
}

void Remote::close() noexcept {
  if (worker_ == nullptr) return;
  if (thread_.joinable()) {
    is_stopping_.store(true, std::memory_order_release);
    {
      const Lock lock(mutex_);
      worker_->wake();
    }
    thread_.join();
  }
  {
    Entered entered(*this);
    requests_.clear();  // their targets may be gone
    // Report a known death before this PE's own connections end.
    if (first_dead() >= 0) {
      if (!is_death_reported_) report_death(first_dead());
      linger(100ms);  // otherwise other PEs could see this PE's connections end first, and report this PE
    }
    close_endpoints(is_leaving_.exchange(true) ? 2000ms : 200ms);
    for (platform::UcxMemory* const memory : registered_) (void)calls_->mem_unmap(worker_->context(), memory);
    registered_.clear();
    own_heap_ = nullptr;
  }
  worker_.reset();
}

void Remote::linger(std::chrono::milliseconds time) noexcept {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
    if (progress() == 0) std::this_thread::sleep_for(100us);
  }
}

void Remote::close_endpoints(std::chrono::milliseconds at_most) noexcept {
  const platform::UcxCalls& calls = *calls_;
  const auto end = Clock::now() + at_most;
  std::vector<void*> closing;
  for (auto& one : peers_) {
    if (!one) continue;
    for (RemoteChunk& chunk : one->chunks) calls.rkey_destroy(chunk.key);
    one->chunks.clear();
    if (one->endpoint == nullptr) continue;
    platform::UcxRequestParams params;
    params.field_mask = platform::ucx_request_flags;
    params.flags = one->failure == platform::ucx_ok ? 0 : platform::ucx_close_force;
    void* const request = calls.ep_close_nbx(one->endpoint, &params);
    one->endpoint = nullptr;
    if (platform::ucx_is_request(request)) closing.push_back(request);
  }
  for (void* const request : closing) {
    while (calls.request_check_status(request) == platform::ucx_in_progress && Clock::now() < end) {
      if (worker_->progress() == 0) ::sched_yield();
    }
    calls.request_free(request);
  }
}

}  // namespace gdrkit::shmem_impl::remote
