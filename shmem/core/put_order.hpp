// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PutOrder: keeps puts to one PE in order across fences, where several transports carry them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "shmem/transport/transport.hpp"

namespace gdrkit::shmem {

/// A transport keeps its own puts to a PE in order. So a fence only counts; what came before it by another transport is
/// completed when the next put chooses a transport, and not at all when it chooses the same. Thread-safe.
class PutOrder {
 public:
  void open(std::size_t slots, std::size_t transports) {
    transports_ = transports;
    last_ = std::make_unique<std::atomic<std::uint64_t>[]>(slots * transports);
  }
  void fence() noexcept { fences_.fetch_add(1, std::memory_order_acq_rel); }

  /// Completes what transports other than `chosen` were given for this slot before the last fence, and has `chosen`
  /// keep what it was given itself in order.
  base::Status before_put(int slot, std::size_t chosen,
                          const std::vector<std::unique_ptr<Transport>>& transports) noexcept {
    const std::uint64_t now = fences_.load(std::memory_order_acquire);
    for (std::size_t other = 0; other < transports.size(); ++other) {
      if (last(slot, other).load(std::memory_order_acquire) >= now || !transports[other]->is_pending(slot)) continue;
      if (other == chosen) {
        if (auto ordered = transports[other]->order(slot); !ordered) return ordered;
        continue;
      }
      if (auto done = transports[other]->complete(slot); !done) return done;
    }
    return {};
  }
  void after_put(int slot, std::size_t chosen) noexcept {
    last(slot, chosen).store(fences_.load(std::memory_order_acquire), std::memory_order_release);
  }

 private:
  [[nodiscard]] std::atomic<std::uint64_t>& last(int slot, std::size_t transport) const noexcept {
    return last_[static_cast<std::size_t>(slot) * transports_ + transport];
  }

  std::size_t transports_ = 0;
  std::atomic<std::uint64_t> fences_{0};
  std::unique_ptr<std::atomic<std::uint64_t>[]> last_;  // how many fences there had been at the last put
};

}  // namespace gdrkit::shmem
