// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "core/handle.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <chrono>

namespace gdrkit::core {

constinit std::atomic<std::uint64_t> handle_key{0};

void draw_handle_key() noexcept {
  if (handle_key.load(std::memory_order_relaxed) != 0) return;
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof random)) {
    // No entropy yet, or a filter rejects the system call. The key protects against mistakes, not against attackers, so
    // the address of this library's variable, the time and the process ID are sufficient.
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    random = (reinterpret_cast<std::uintptr_t>(&handle_key) ^ static_cast<std::uint64_t>(now)) * 0x9E3779B97F4A7C15u;
    random ^= static_cast<std::uint64_t>(getpid()) << 32 ^ random >> 29;
  }
  const std::uint64_t key = random | index_mask | std::uint64_t{1} << 63;
  std::uint64_t none = 0;
  handle_key.compare_exchange_strong(none, key, std::memory_order_relaxed);
}

}  // namespace gdrkit::core
