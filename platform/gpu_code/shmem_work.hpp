// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What the GPU kernel `shmem` does, written once for GPU threads and for the host thread that plays them.
#pragma once

#include <gdrkit/shmem_device.cuh>

namespace gdrkit::platform {

/// A round's data: every 8-byte word of it holds this.
GDRKIT_SHMEM_FUNCTION std::uint64_t shmem_pattern(std::uint64_t round, int pe) {
  return round * 0x0101010101010101U + static_cast<std::uint64_t>(pe);
}

template <class Group>
class ShmemWork {
 public:
  GDRKIT_SHMEM_FUNCTION ShmemWork(const ShmemParameters& parameters, Group group)
      : parameters_(parameters), state_(parameters.state), group_(group) {}

  /// How many words were wrong; ~0: a wait exceeded its limit.
  GDRKIT_SHMEM_FUNCTION std::uint64_t run() {
    switch (parameters_.operation) {
      case ShmemOperation::put: return put();
      case ShmemOperation::get: return get();
      case ShmemOperation::put_value: return put_value();
      case ShmemOperation::ping_pong: return ping_pong();
      default: return barrier();
    }
  }

 private:
  static constexpr std::uint64_t expired = ~std::uint64_t{0};

  GDRKIT_SHMEM_FUNCTION std::uint64_t put() {
    GDRKIT_SHMEM_ROLLED
    for (std::uint32_t round = 0; round < parameters_.rounds; ++round) {
      shmem::put_nbi(state_, target(), source(), parameters_.size_bytes, peer(), group_);
      if (parameters_.completes_each != 0) complete();
    }
    complete();
    return 0;
  }

  GDRKIT_SHMEM_FUNCTION std::uint64_t get() {
    GDRKIT_SHMEM_ROLLED
    for (std::uint32_t round = 0; round < parameters_.rounds; ++round) {
      shmem::get(state_, target(), source(), parameters_.size_bytes, peer(), group_);
    }
    return 0;
  }

  GDRKIT_SHMEM_FUNCTION std::uint64_t put_value() {
    GDRKIT_SHMEM_ROLLED
    for (std::uint32_t round = 0; round < parameters_.rounds; ++round) {
      if (group_.rank() == 0) shmem::p<std::uint64_t>(state_, target(), round + 1, peer());
      if (parameters_.completes_each != 0) complete();
    }
    complete();
    return 0;
  }

  /// The lower PE leads. Whoever sees a round's signal must see all of the round's data.
  GDRKIT_SHMEM_FUNCTION std::uint64_t ping_pong() {
    std::uint64_t wrong = 0;
    const bool leads = state_.pe < peer();
    GDRKIT_SHMEM_ROLLED
    for (std::uint64_t round = 1; round <= parameters_.rounds; ++round) {
      if (leads) send(round);
      if (!shmem::signal_wait_until(state_, signal(), GDRKIT_SHMEM_GE, round)) return expired;
      wrong += check(round);
      group_.sync();  // all have looked before the answer lets the other PE write again
      if (!leads) send(round);
    }
    return wrong;
  }

  GDRKIT_SHMEM_FUNCTION std::uint64_t barrier() {
    GDRKIT_SHMEM_ROLLED
    for (std::uint32_t round = 0; round < parameters_.rounds; ++round) {
      if (!shmem::barrier_all(state_, group_)) return expired;
    }
    return 0;
  }

  GDRKIT_SHMEM_FUNCTION void send(std::uint64_t round) {
    const std::uint64_t words = parameters_.size_bytes / sizeof(std::uint64_t);
    GDRKIT_SHMEM_ROLLED
    for (std::uint64_t at = group_.rank(); at < words; at += group_.size()) {
      source()[at] = shmem_pattern(round, state_.pe);
    }
    group_.sync();
    shmem::put_signal(state_, target(), source(), parameters_.size_bytes, signal(), round, GDRKIT_SHMEM_SIGNAL_SET,
                      peer(), group_);
  }

  GDRKIT_SHMEM_FUNCTION std::uint64_t check(std::uint64_t round) const {
    const std::uint64_t words = parameters_.size_bytes / sizeof(std::uint64_t);
    const volatile std::uint64_t* const came = target();
    std::uint64_t wrong = 0;
    GDRKIT_SHMEM_ROLLED
    for (std::uint64_t at = group_.rank(); at < words; at += group_.size()) {
      wrong += came[at] != shmem_pattern(round, peer()) ? 1 : 0;
    }
    return wrong;
  }

  GDRKIT_SHMEM_FUNCTION void complete() { shmem::quiet(group_); }
  GDRKIT_SHMEM_FUNCTION std::uint64_t* target() const { return reinterpret_cast<std::uint64_t*>(parameters_.target); }
  GDRKIT_SHMEM_FUNCTION std::uint64_t* source() const { return reinterpret_cast<std::uint64_t*>(parameters_.source); }
  GDRKIT_SHMEM_FUNCTION std::uint64_t* signal() const { return reinterpret_cast<std::uint64_t*>(parameters_.signal); }
  GDRKIT_SHMEM_FUNCTION int peer() const { return static_cast<int>(parameters_.peer); }

  const ShmemParameters& parameters_;
  const shmem::State& state_;
  const Group group_;
};

}  // namespace gdrkit::platform
