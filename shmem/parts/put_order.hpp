// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PutOrder: keeps puts to one PE in order across fences if several transports perform them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "shmem/transport/transport.hpp"

namespace gdrkit::shmem_impl::parts {

/// A transport keeps its own puts to a PE in order. So a fence only increments a counter. When the next put selects a
/// transport, the earlier puts of other transports are completed. Thread-safe.
class PutOrder {
 public:
  void open(std::size_t slots, std::size_t transports) {
    transports_ = transports;
    puts_ = std::make_unique<Puts[]>(slots * transports);
  }
  void fence() noexcept { fences_.fetch_add(1, std::memory_order_acq_rel); }

  /// Completes the puts to this slot that transports other than `chosen` received before the last fence. Calls order()
  /// of `chosen` if it has pending puts and was not ordered since that fence.
  base::Status before_put(int slot, std::size_t chosen,
                          const std::vector<std::unique_ptr<transport::Transport>>& transports) noexcept {
    const std::uint64_t now = fences_.load(std::memory_order_acquire);
    for (std::size_t other = 0; other < transports.size(); ++other) {
      Puts& puts = puts_of(slot, other);
      const bool is_chosen = other == chosen;
      if ((is_chosen ? puts.ordered : puts.complete).load(std::memory_order_acquire) >= now) continue;
      const bool is_pending = transports[other]->is_pending(slot);
      if (is_pending) {
        auto done = is_chosen ? transports[other]->order(slot) : transports[other]->complete(slot);
        if (!done) return done;
      }
      // Concurrent puts of other threads are not included: a fence after them has a count above `now`.
      puts.ordered.store(now, std::memory_order_release);
      if (!is_chosen || !is_pending) puts.complete.store(now, std::memory_order_release);
    }
    return {};
  }

 private:
  /// State of one transport and one slot, as numbers of fences.
  struct Puts {
    std::atomic<std::uint64_t> complete{0};  ///< Puts before this fence have arrived.
    std::atomic<std::uint64_t> ordered{0};   ///< Puts before this fence arrive before later puts of this transport.
  };
  [[nodiscard]] Puts& puts_of(int slot, std::size_t transport) const noexcept {
    return puts_[static_cast<std::size_t>(slot) * transports_ + transport];
  }

  std::size_t transports_ = 0;
  std::atomic<std::uint64_t> fences_{0};
  std::unique_ptr<Puts[]> puts_;
};

}  // namespace gdrkit::shmem_impl::parts
