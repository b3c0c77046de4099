// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ShmemWork: the work of one group of the GPU kernel `shmem`. It is written once for all libraries (GdrkitShmem, and
// NVSHMEM's device side for comparison), for GPU threads and for the host thread that emulates them.
#pragma once

#include <gdrkit/shmem_device.cuh>

#include <type_traits>

#include "platform/gpu_code/shmem_params.hpp"

namespace gdrkit::platform {

/// The value of every 8-byte word in a round's data.
GDRKIT_SHMEM_FUNCTION std::uint64_t shmem_pattern(std::uint64_t round, int pe) {
  return round * 0x0101010101010101U + static_cast<std::uint64_t>(pe);
}

#if defined(__CUDACC__)
template <class Group>
inline constexpr bool shmem_group_has_collectives = std::is_same_v<Group, shmem::BlockGroup>;
#else
template <class Group>
inline constexpr bool shmem_group_has_collectives = true;  // one thread emulates all scopes
#endif

template <class Library, class Group>
class ShmemWork {
 public:
  /// `number`: of the group, whose bytes follow those of the groups before it.
  GDRKIT_SHMEM_FUNCTION ShmemWork(const ShmemParameters& parameters, Group group, unsigned number)
      : parameters_(parameters),
        state_(parameters.state),
        group_(group),
        target_(reinterpret_cast<std::uint64_t*>(parameters.target + parameters.size_bytes * number)),
        source_(reinterpret_cast<std::uint64_t*>(parameters.source + parameters.size_bytes * number)),
        signal_(reinterpret_cast<std::uint64_t*>(parameters.signal)),
        peer_(static_cast<int>(parameters.peer)) {}

  /// Runs `rounds` rounds after the `before` that this launch has already run. Returns the number of wrong words; ~0: a
  /// wait exceeded its limit.
  GDRKIT_SHMEM_FUNCTION std::uint64_t run(std::uint64_t before, std::uint32_t rounds) {
    rounds_ = rounds;
    before_ = parameters_.rounds_before + before;
    switch (parameters_.operation) {
      case ShmemOperation::put:
        return repeat([&](std::uint64_t) { Library::put_nbi(state_, there(target_), source_, size(), peer_, group_); });
      case ShmemOperation::get: return get();
      case ShmemOperation::put_value:
        return repeat_by_one([&](std::uint64_t round) { Library::p(state_, there(target_), round + 1, peer_); });
      case ShmemOperation::get_value: return get_value();
      case ShmemOperation::put_signal:
        return repeat([&](std::uint64_t round) {
          Library::put_signal(state_, there(target_), source_, size(), signal_, round + 1, peer_, group_);
        });
      case ShmemOperation::signal_set:
        return repeat_by_one([&](std::uint64_t round) { Library::signal_set(state_, signal_, round + 1, peer_); });
      case ShmemOperation::atomic_add:
        return repeat_by_one([&](std::uint64_t) { Library::atomic_add(state_, target_, 1, peer_); });
      case ShmemOperation::atomic_fetch_add: return atomic_fetch_add();
      case ShmemOperation::atomic_compare_swap: return atomic_compare_swap();
      case ShmemOperation::ping_pong: return ping_pong();
      case ShmemOperation::barrier: return repeat_wait([&] { return Library::barrier_all(state_, group_); });
      case ShmemOperation::sync: return repeat_wait([&] { return Library::sync_all(state_, group_); });
      default: break;
    }
    // Only if the GPU kernel supports them: otherwise each scope would contain all of their instructions.
    if constexpr (shmem_group_has_collectives<Group>) return run_collective();
    return 0;
  }

 private:
  static constexpr std::uint64_t expired = ~std::uint64_t{0};

  GDRKIT_SHMEM_FUNCTION std::uint64_t run_collective() {
    switch (parameters_.operation) {
      case ShmemOperation::broadcast:
        return repeat_wait([&] { return Library::broadcast(state_, target_, source_, size(), group_); });
      case ShmemOperation::fcollect:
        return repeat_wait([&] { return Library::fcollect(state_, target_, source_, size(), group_); });
      case ShmemOperation::alltoall:
        return repeat_wait([&] { return Library::alltoall(state_, target_, source_, size(), group_); });
      case ShmemOperation::reduce:
        return repeat_wait([&] { return Library::reduce(state_, floats(target_), floats(source_), count(), group_); });
      default:
        return repeat_wait(
            [&] { return Library::reducescatter(state_, floats(target_), floats(source_), count(), group_); });
    }
  }

  /// Operations that return before they are complete. Completes after a number of rounds: an invariant condition would
  /// make the compiler duplicate the loop, with all instructions of the operation.
  template <class Once>
  GDRKIT_SHMEM_FUNCTION std::uint64_t repeat(Once once) {
    const std::uint32_t rounds_each = parameters_.completes_each != 0 ? 1 : rounds_;
    std::uint32_t left = rounds_each;
    GDRKIT_SHMEM_ROLLED
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      once(before_ + round);
      step_on();
      if (--left != 0) continue;
      complete();
      left = rounds_each;
    }
    return 0;
  }
  /// The same, by one thread of the group.
  template <class Once>
  GDRKIT_SHMEM_FUNCTION std::uint64_t repeat_by_one(Once once) {
    return repeat([&](std::uint64_t round) {
      if (group_.rank() == 0) once(round);
    });
  }
  template <class Once>
  GDRKIT_SHMEM_FUNCTION std::uint64_t repeat_wait(Once once) {
    GDRKIT_SHMEM_ROLLED
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      if (!group_.all(once())) return expired;
    }
    return 0;
  }

  GDRKIT_SHMEM_FUNCTION std::uint64_t get() {
    GDRKIT_SHMEM_ROLLED
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      Library::get(state_, target_, there(source_), size(), peer_, group_);
      step_on();
    }
    return 0;
  }

  // For these three, each address or operand depends on the previous result. Otherwise the GPU would issue several at a
  // time. The words that are read stay below 2^63.
  GDRKIT_SHMEM_FUNCTION std::uint64_t get_value() {
    std::uint64_t seen = 0;
    GDRKIT_SHMEM_ROLLED
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      if (group_.rank() == 0) seen = Library::g(state_, there(source_) + (seen >> 63), peer_);
      step_on();
    }
    if (group_.rank() == 0) *target_ = seen;
    return 0;
  }
  GDRKIT_SHMEM_FUNCTION std::uint64_t atomic_fetch_add() {
    std::uint64_t seen = 0;
    GDRKIT_SHMEM_ROLLED
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      if (group_.rank() == 0) seen = Library::atomic_fetch_add(state_, target_, (seen >> 63) + 1, peer_);
    }
    if (group_.rank() == 0) *source_ = seen;
    return 0;
  }
  GDRKIT_SHMEM_FUNCTION std::uint64_t atomic_compare_swap() {
    std::uint64_t expected = 0;
    GDRKIT_SHMEM_ROLLED
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      if (group_.rank() != 0) continue;
      const std::uint64_t seen = Library::atomic_compare_swap(state_, target_, expected, expected + 1, peer_);
      expected = seen == expected ? expected + 1 : seen;
    }
    if (group_.rank() == 0) *source_ = expected;
    return 0;
  }

  /// The lower PE leads. With checks_data, a PE that sees a round's signal must see all of the round's data. A round
  /// has two halves, in one of which this PE sends, so that the instructions of either occur once.
  GDRKIT_SHMEM_FUNCTION std::uint64_t ping_pong() {
    std::uint64_t wrong = 0;
    const std::uint64_t sends_in = state_.pe < peer_ ? 0 : 1;
    const std::uint64_t first = 2 * (before_ + 1);
    GDRKIT_SHMEM_ROLLED
    for (std::uint64_t half = first; half < first + 2 * std::uint64_t{rounds_}; ++half) {
      const std::uint64_t round = half / 2;
      if (half % 2 == sends_in) {
        send(round);
        continue;
      }
      // One thread waits: its acquire and the group's barrier order all threads' reads after it.
      if (!group_.all(group_.rank() != 0 || Library::wait(state_, signal_, round))) return expired;
      if (parameters_.checks_data == 0) continue;
      wrong += check(round);
      group_.sync();  // all threads have checked before the reply lets the other PE write again
    }
    return wrong;
  }

  GDRKIT_SHMEM_FUNCTION void send(std::uint64_t round) {
    if (size() == 0) {
      if (group_.rank() == 0) Library::signal_set(state_, signal_, round, peer_);
      return;
    }
    if (parameters_.checks_data != 0) {
      GDRKIT_SHMEM_ROLLED
      for (std::uint64_t at = group_.rank(); at < words(); at += group_.size()) {
        source_[at] = shmem_pattern(round, state_.pe);
      }
      group_.sync();
    }
    Library::put_signal(state_, target_, source_, size(), signal_, round, peer_, group_);
  }

  GDRKIT_SHMEM_FUNCTION std::uint64_t check(std::uint64_t round) const {
    const volatile std::uint64_t* const came = target_;
    std::uint64_t wrong = 0;
    GDRKIT_SHMEM_ROLLED
    for (std::uint64_t at = group_.rank(); at < words(); at += group_.size()) {
      wrong += came[at] != shmem_pattern(round, peer_) ? 1 : 0;
    }
    return wrong;
  }

  /// The address of this round in the other PE's memory, if that of the first round is `first`.
  GDRKIT_SHMEM_FUNCTION std::uint64_t* there(std::uint64_t* first) const { return first + gone_bytes_ / sizeof *first; }
  GDRKIT_SHMEM_FUNCTION void step_on() {
    gone_bytes_ += parameters_.step_bytes;
    if (gone_bytes_ == parameters_.path_bytes) gone_bytes_ = 0;
  }

  /// After the group's barrier, one thread's quiet completes the operations of all threads.
  GDRKIT_SHMEM_FUNCTION void complete() {
    group_.sync();
    if (group_.rank() == 0) Library::quiet(state_);
    group_.sync();
  }
  GDRKIT_SHMEM_FUNCTION std::uint64_t size() const { return parameters_.size_bytes; }
  GDRKIT_SHMEM_FUNCTION static float* floats(std::uint64_t* words) { return reinterpret_cast<float*>(words); }
  GDRKIT_SHMEM_FUNCTION std::uint64_t count() const { return parameters_.size_bytes / sizeof(float); }
  GDRKIT_SHMEM_FUNCTION std::uint64_t words() const { return parameters_.size_bytes / sizeof(std::uint64_t); }

  const ShmemParameters& parameters_;
  const shmem::State& state_;
  const Group group_;
  std::uint64_t* const target_;
  std::uint64_t* const source_;
  std::uint64_t* const signal_;
  const int peer_;
  std::uint32_t rounds_ = 0;
  std::uint64_t before_ = 0;
  std::uint64_t gone_bytes_ = 0;
};

}  // namespace gdrkit::platform
