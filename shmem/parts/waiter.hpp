// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Waiter: the pace and the end of a wait for other PEs.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/result.hpp"
#include "shmem/node/node.hpp"

namespace gdrkit::shmem_impl::parts {

/// One wait of one thread. The caller polls, and calls pause() after each poll that fails.
class Waiter {
 public:
  /// `limit` 0: none. `what`, for error messages: "barrier_all". All must outlive it.
  Waiter(node::Node& node, std::chrono::milliseconds limit, const char* what) noexcept
      : node_(node), limit_(limit), what_(what) {}

  /// Spins first, then yields the core, then sleeps for at most a millisecond. Fails with ETIMEDOUT after the limit,
  /// and with ECONNRESET soon after a PE of the job has ended; the error names the PE.
  base::Status pause() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  base::Status check(Clock::time_point now) noexcept;

  node::Node& node_;
  const std::chrono::milliseconds limit_;
  const char* const what_;
  std::uint32_t polls_ = 0;
  Clock::time_point begin_{};
  Clock::time_point next_check_{};
};

}  // namespace gdrkit::shmem_impl::parts
