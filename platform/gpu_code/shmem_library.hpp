// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GdrkitShmem: the operations of gdrkit/shmem_device.cuh, in the form that ShmemWork calls.
#pragma once

#include <gdrkit/shmem_collectives.cuh>
#include <gdrkit/shmem_device.cuh>

namespace gdrkit::platform {

struct GdrkitShmem {
  using State = shmem::State;

  template <class Group>
  GDRKIT_SHMEM_FUNCTION static void put_nbi(const State& state, void* target, const void* source, std::size_t bytes,
                                            int pe, Group group) {
    shmem::put_nbi(state, target, source, bytes, pe, group);
  }
  template <class Group>
  GDRKIT_SHMEM_FUNCTION static void get(const State& state, void* target, const void* source, std::size_t bytes, int pe,
                                        Group group) {
    shmem::get(state, target, source, bytes, pe, group);
  }
  template <class Group>
  GDRKIT_SHMEM_FUNCTION static void put_signal(const State& state, void* target, const void* source, std::size_t bytes,
                                               std::uint64_t* signal, std::uint64_t value, int pe, Group group) {
    shmem::put_signal(state, target, source, bytes, signal, value, GDRKIT_SHMEM_SIGNAL_SET, pe, group);
  }
  GDRKIT_SHMEM_FUNCTION static void signal_set(const State& state, std::uint64_t* signal, std::uint64_t value, int pe) {
    shmem::signal_op(state, signal, value, GDRKIT_SHMEM_SIGNAL_SET, pe);
  }
  /// Returns false if the wait exceeded the limit in the state.
  GDRKIT_SHMEM_FUNCTION static bool wait(const State& state, const std::uint64_t* signal, std::uint64_t value) {
    return shmem::signal_wait_until(state, signal, GDRKIT_SHMEM_GE, value);
  }
  GDRKIT_SHMEM_FUNCTION static void p(const State& state, std::uint64_t* target, std::uint64_t value, int pe) {
    shmem::p(state, target, value, pe);
  }
  GDRKIT_SHMEM_FUNCTION static std::uint64_t g(const State& state, const std::uint64_t* source, int pe) {
    return shmem::g(state, source, pe);
  }
  GDRKIT_SHMEM_FUNCTION static void atomic_add(const State& state, std::uint64_t* target, std::uint64_t value, int pe) {
    shmem::atomic_add(state, target, value, pe);
  }
  GDRKIT_SHMEM_FUNCTION static std::uint64_t atomic_fetch_add(const State& state, std::uint64_t* target,
                                                              std::uint64_t value, int pe) {
    return shmem::atomic_fetch_add(state, target, value, pe);
  }
  GDRKIT_SHMEM_FUNCTION static std::uint64_t atomic_compare_swap(const State& state, std::uint64_t* target,
                                                                 std::uint64_t compare, std::uint64_t value, int pe) {
    return shmem::atomic_compare_swap(state, target, compare, value, pe);
  }
  /// Completes the calling thread's operations, and those of threads that executed a barrier with it before.
  GDRKIT_SHMEM_FUNCTION static void quiet(const State& state) { shmem::quiet(state); }
  /// Returns false if a wait exceeded its limit.
  template <class Group>
  GDRKIT_SHMEM_FUNCTION static bool barrier_all(const State& state, Group group) {
    return shmem::barrier_all(state, group);
  }
  template <class Group>
  GDRKIT_SHMEM_FUNCTION static bool sync_all(const State& state, Group group) {
    return shmem::barrier_all(state, group);
  }

  // Collectives of all PEs. They return false if a wait exceeded its limit.
  template <class Group>
  GDRKIT_SHMEM_FUNCTION static bool broadcast(const State& state, void* target, const void* source, std::size_t bytes,
                                              Group group) {
    return shmem::broadcast(state, GDRKIT_SHMEM_TEAM_WORLD, target, source, bytes, 0, group);
  }
  template <class Group>
  GDRKIT_SHMEM_FUNCTION static bool fcollect(const State& state, void* target, const void* source, std::size_t bytes,
                                             Group group) {
    return shmem::fcollect(state, GDRKIT_SHMEM_TEAM_WORLD, target, source, bytes, group);
  }
  template <class Group>
  GDRKIT_SHMEM_FUNCTION static bool alltoall(const State& state, void* target, const void* source, std::size_t bytes,
                                             Group group) {
    return shmem::alltoall(state, GDRKIT_SHMEM_TEAM_WORLD, target, source, bytes, group);
  }
  template <class Group>
  GDRKIT_SHMEM_FUNCTION static bool reduce(const State& state, float* target, const float* source, std::size_t count,
                                           Group group) {
    return shmem::reduce<GDRKIT_SHMEM_SUM>(state, GDRKIT_SHMEM_TEAM_WORLD, target, source, count, group);
  }
  template <class Group>
  GDRKIT_SHMEM_FUNCTION static bool reducescatter(const State& state, float* target, const float* source,
                                                  std::size_t count, Group group) {
    return shmem::reducescatter<GDRKIT_SHMEM_SUM>(state, GDRKIT_SHMEM_TEAM_WORLD, target, source, count, group);
  }
};

}  // namespace gdrkit::platform
