// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/parts/waiter.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace gdrkit::shmem_impl::parts {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t polls_without_clock = 64;
constexpr auto spinning = 20us;  // a reply of another core takes 0.1 us, of a GPU 1 to 2 us
constexpr auto yielding = 2ms;   // then cores may be scarce, or the wait long
constexpr auto check_interval = 100ms;

void spin() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

base::Status Waiter::pause() noexcept {
  node_.poll();
  if (++polls_ < polls_without_clock) {
    spin();
    return {};
  }
  const auto now = Clock::now();
  if (polls_ == polls_without_clock) {
    begin_ = now;
    next_check_ = now + check_interval;
  }
  const auto waited = now - begin_;
  if (waited < spinning) {
    spin();
  } else if (waited < yielding) {
    ::sched_yield();
  } else {
    std::this_thread::sleep_for(std::clamp<std::chrono::nanoseconds>(waited / 50, 50us, 1ms));
  }
  if (now >= next_check_ || (limit_ != 0ms && waited > limit_)) return check(now);
  return {};
}

base::Status Waiter::check(Clock::time_point now) noexcept {
  next_check_ = now + check_interval;
  if (const int dead = node_.first_dead(); dead >= 0) {
    return base::fail(ECONNRESET, "%s: PE %d has ended", what_, dead);
  }
  if (limit_ == 0ms || now - begin_ <= limit_) return {};
  return base::fail(ETIMEDOUT, "%s: timed out after %lld ms", what_, static_cast<long long>(limit_.count()));
}

}  // namespace gdrkit::shmem_impl::parts
