// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/proxy/proxy.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <system_error>

#include "base/blocked_signals.hpp"

namespace gdrkit::shmem_impl::proxy {
namespace {

using shmem::detail::proxy_places;
using shmem::detail::ProxyCommand;
using shmem::detail::ProxyOperation;
using shmem::detail::ProxyReply;
using shmem::detail::ProxyRing;
using shmem::detail::ProxyWait;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// Maximum number of commands that are started before waiting commands are completed.
constexpr std::size_t most_in_batch = 64;
/// How long the thread polls for the next command before it sleeps: about the time of a wake-up.
constexpr auto polling_before_sleep = 50us;
constexpr auto first_sleep = 20us;
constexpr auto longest_sleep = 100us;

// Offsets in the host memory that GPU kernels see, a line for each word.
constexpr std::size_t replies_at = proxy_places * sizeof(ProxyCommand);
constexpr std::size_t taken_at = replies_at + proxy_places * sizeof(ProxyReply);
constexpr std::size_t overflown_at = taken_at + 64;
constexpr std::size_t host_bytes = overflown_at + 64;

std::atomic_ref<std::uint64_t> atomic_at(std::uint64_t* word) noexcept { return std::atomic_ref(*word); }

const char* name_of(ProxyOperation operation) noexcept {
  switch (operation) {
    case ProxyOperation::put: return "put";
    case ProxyOperation::get:
    case ProxyOperation::get_word: return "get";
    case ProxyOperation::update: return "atomic operation";
    case ProxyOperation::put_signal: return "put with a signal";
    case ProxyOperation::put_to_team: return "put of a collective";
    case ProxyOperation::fence: return "fence";
    case ProxyOperation::quiet: return "quiet";
    case ProxyOperation::barrier: break;
  }
  return "barrier";
}

}  // namespace

std::string Proxy::text_of(const ProxyCommand& command) {
  std::string text = name_of(command.operation);
  if (command.operation >= ProxyOperation::fence) return text;
  const bool is_get = command.operation == ProxyOperation::get || command.operation == ProxyOperation::get_word;
  return text + " of " + std::to_string(command.size_bytes) + " bytes " + (is_get ? "from" : "to") + " PE " +
         std::to_string(command.pe);
}

base::Result<std::unique_ptr<Proxy>> Proxy::make(platform::Device& device, ProxyWork& work,
                                                 const std::vector<std::int32_t>& heaps_away) noexcept try {
  std::unique_ptr<Proxy> proxy(new Proxy(device, work));
  if (auto opened = proxy->open(heaps_away); !opened) {
    return base::fail_vendor(opened.error().errno_value, opened.error().vendor_code,
                             "cannot give GPU kernels access to other nodes: %s", opened.error().text());
  }
  return proxy;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while connecting GPU kernels to other nodes");
}

base::Status Proxy::open(const std::vector<std::int32_t>& heaps_away) {
  waiting_.reserve(most_in_batch);
  auto host = device_.allocate(platform::AllocationKind::host, host_bytes);
  if (!host) return base::pass(host);
  host_ = std::move(*host);
  auto* const bytes = reinterpret_cast<char*>(host_.address());
  std::memset(bytes, 0, host_bytes);
  commands_ = reinterpret_cast<ProxyCommand*>(bytes);
  replies_ = reinterpret_cast<ProxyReply*>(bytes + replies_at);
  taken_ = reinterpret_cast<std::uint64_t*>(bytes + taken_at);
  has_overflown_ = reinterpret_cast<std::uint64_t*>(bytes + overflown_at);
  auto seen = device_.device_address(bytes);
  if (!seen) return base::pass(seen);
  commands_address_ = *seen;
  const std::size_t away_bytes = heaps_away.size() * sizeof(std::int32_t);
  auto away = device_.allocate(platform::AllocationKind::cuda_malloc, away_bytes);
  if (!away) return base::pass(away);
  away_ = std::move(*away);
  auto ring = device_.allocate(platform::AllocationKind::cuda_malloc, sizeof(ProxyRing));
  if (!ring) return base::pass(ring);
  ring_ = std::move(*ring);
  const auto first = std::make_unique<ProxyRing>();
  first->commands = reinterpret_cast<ProxyCommand*>(*seen);
  first->replies = reinterpret_cast<ProxyReply*>(*seen + replies_at);
  first->taken = reinterpret_cast<std::uint64_t*>(*seen + taken_at);
  first->has_overflown = reinterpret_cast<std::uint64_t*>(*seen + overflown_at);
  first->heaps_away = reinterpret_cast<const std::int32_t*>(away_.address());
  for (std::uint64_t place = 0; place < proxy_places; ++place) first->turns[place] = place;
  if (auto copied = device_.copy_to_device(away_.address(), heaps_away.data(), away_bytes); !copied) return copied;
  return device_.copy_to_device(ring_.address(), first.get(), sizeof *first);
}

Proxy::~Proxy() { stop(); }

base::Status Proxy::serve() noexcept try {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) return {};
  const base::BlockedSignals blocked;
  thread_ = std::thread([this] { run(); });
  return {};
} catch (const std::system_error& error) {
  return base::fail(
      EAGAIN,
      "cannot start the thread that executes commands of GPU kernels: %s; raise ulimit -u or pids.max of the cgroup",
      error.what());
}

void Proxy::stop() noexcept {
  is_stopping_.store(true, std::memory_order_release);
  if (thread_.joinable()) thread_.join();
}

void Proxy::run() noexcept {
  (void)::pthread_setname_np(::pthread_self(), "gdrkit-proxy");
  (void)::prctl(PR_SET_TIMERSLACK, 1000UL);  // ns; 50 us else, as long as the sleeps themselves
  (void)device_.make_current();
  auto last = Clock::now();
  std::chrono::nanoseconds sleep = first_sleep;
  while (!is_stopping_.load(std::memory_order_acquire)) {
    if (execute_batch()) {
      last = Clock::now();
      sleep = first_sleep;
    } else if (Clock::now() - last < polling_before_sleep) {
      ::sched_yield();
    } else {
      check_overflow();
      std::this_thread::sleep_for(sleep);
      sleep = std::min<std::chrono::nanoseconds>(2 * sleep, longest_sleep);
    }
  }
}

/// Pairs with the store of `sequence` in send_to_proxy.
bool Proxy::is_there(std::uint64_t position) const noexcept {
  return atomic_at(&commands_[position % proxy_places].sequence).load(std::memory_order_acquire) == position + 1;
}

ProxyCommand Proxy::command_at(std::uint64_t position) const noexcept {
  constexpr std::size_t count = sizeof(ProxyCommand) / sizeof(std::uint64_t);
  std::uint64_t words[count];
  auto* const from = reinterpret_cast<std::uint64_t*>(&commands_[position % proxy_places]);
  for (std::size_t i = 0; i < count; ++i) words[i] = atomic_at(from + i).load(std::memory_order_relaxed);
  ProxyCommand command;
  std::memcpy(&command, words, sizeof command);
  return command;
}

bool Proxy::execute_batch() noexcept {
  std::size_t begun = 0;
  for (; begun < most_in_batch && is_there(next_); ++begun) {
    const std::uint64_t position = next_++;
    const ProxyCommand command = command_at(position);
    std::uint64_t* const fetched = &fetched_[position % proxy_places];
    *fetched = 0;
    note(work_.begin(command, command.wait == ProxyWait::done ? fetched : nullptr), &command);
    if (command.wait == ProxyWait::begun) reply(position);
    if (command.wait == ProxyWait::done) waiting_.push_back(position);
    atomic_at(taken_).store(next_, std::memory_order_release);
  }
  if (!waiting_.empty()) note(work_.complete(), nullptr);
  for (const std::uint64_t position : waiting_) reply(position);
  waiting_.clear();
  return begun != 0;
}

void Proxy::reply(std::uint64_t position) noexcept {
  ProxyReply& to = replies_[position % proxy_places];
  atomic_at(&to.value).store(fetched_[position % proxy_places], std::memory_order_relaxed);
  atomic_at(&to.sequence).store(position + 1, std::memory_order_release);
}

void Proxy::note(const base::Status& done, const ProxyCommand* command) noexcept {
  if (done) return;
  const std::lock_guard lock(mutex_);
  if (!failure_) return;
  const base::Error& cause = done.error();
  try {
    failure_ = base::fail_vendor(cause.errno_value, cause.vendor_code, "an operation of a GPU kernel failed%s: %s",
                                 command == nullptr ? "" : (" (" + text_of(*command) + ")").c_str(), cause.text());
  } catch (const std::bad_alloc&) {
    failure_ = base::fail_literal(ENOMEM, "out of memory while executing a command of a GPU kernel");
  }
}

void Proxy::check_overflow() noexcept {
  if (is_overflow_noted_ || atomic_at(has_overflown_).load(std::memory_order_relaxed) == 0) return;
  is_overflow_noted_ = true;
  note(base::fail(
           ETIMEDOUT,
           "the queue of %llu operations to other nodes was full for longer than the time limit and is now unusable; "
           "raise the limit with gdrkit_shmem_set_timeout",
           static_cast<unsigned long long>(proxy_places)),
       nullptr);
}

base::Status Proxy::drain(std::chrono::milliseconds limit) noexcept {
  // Positions are written in any order. Commands after the first missing one need not have been present at the call.
  std::uint64_t end = atomic_at(taken_).load(std::memory_order_acquire);
  while (is_there(end)) ++end;
  for (const auto begin = Clock::now(); atomic_at(taken_).load(std::memory_order_acquire) < end;) {
    if (limit != 0ms && Clock::now() - begin > limit) {
      return base::fail(ETIMEDOUT,
                        "quiet: operations that this PE's GPU kernels requested did not start within %lld ms; raise "
                        "the limit with gdrkit_shmem_set_timeout",
                        static_cast<long long>(limit.count()));
    }
    if (is_stopping_.load(std::memory_order_acquire)) break;
    std::this_thread::sleep_for(first_sleep);
  }
  return {};
}

base::Status Proxy::take_failure() noexcept {
  const std::lock_guard lock(mutex_);
  return std::exchange(failure_, base::Status());
}

std::optional<std::string> Proxy::text_of_wait(std::uint64_t address) noexcept {
  const std::uint64_t at = address - commands_address_;
  if (at < replies_at) return "room in the queue of operations on other nodes";
  if (at >= taken_at) return std::nullopt;
  const std::uint64_t place = (at - replies_at) / sizeof(ProxyReply);
  return "the result of its " + text_of(command_at(place));
}

}  // namespace gdrkit::shmem_impl::proxy
