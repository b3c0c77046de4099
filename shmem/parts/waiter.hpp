// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Waiter: the pace and the end of a wait for other PEs.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/result.hpp"
#include "shmem/node/node.hpp"

namespace gdrkit::shmem_impl::parts {

/// For one wait, by one thread: poll, and when it is not there yet, pause().
class Waiter {
 public:
  /// `limit` 0: none. `what`, for error messages: "barrier_all". All must outlive it.
  Waiter(node::Node& node, std::chrono::milliseconds limit, const char* what) noexcept
      : node_(node), limit_(limit), what_(what) {}

  /// Spins first, then gives the core to others, then sleeps, at most a millisecond at a time. ETIMEDOUT once the limit
  /// is over; ECONNRESET soon after a PE of this node has ended, and names it.
  base::Status pause() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  base::Status look(Clock::time_point now) noexcept;

  node::Node& node_;
  const std::chrono::milliseconds limit_;
  const char* const what_;
  std::uint32_t polls_ = 0;
  Clock::time_point begin_{};
  Clock::time_point next_check_{};
};

}  // namespace gdrkit::shmem_impl::parts
