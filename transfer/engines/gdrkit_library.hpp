// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GdrkitLibrary: the operations of libgdrkit_shmem as bench's loops call them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gdrkit/shmem.h"
#include "transfer/engines/empty_library.hpp"

namespace gdrkit::transfer::engines {

class GdrkitLibrary : public EmptyLibrary {
 public:
  // Functions of the library whose parameters are those of the loops.
  static constexpr auto put = &gdrkit_shmem_put;
  static constexpr auto get = &gdrkit_shmem_get;
  static constexpr auto p = &gdrkit_shmem_uint64_p;
  static constexpr auto g = &gdrkit_shmem_uint64_g;
  static constexpr auto quiet = &gdrkit_shmem_quiet;
  static constexpr auto barrier_all = &gdrkit_shmem_barrier_all;
  static constexpr auto sync_all = &gdrkit_shmem_sync_all;
  static constexpr auto p_on_stream = &gdrkit_shmem_uint64_p_on_stream;
  static constexpr auto put_on_stream = &gdrkit_shmem_put_on_stream;
  static constexpr auto get_on_stream = &gdrkit_shmem_get_on_stream;
  static constexpr auto quiet_on_stream = &gdrkit_shmem_quiet_on_stream;
  static constexpr auto barrier_all_on_stream = &gdrkit_shmem_barrier_all_on_stream;
  static constexpr auto sync_all_on_stream = &gdrkit_shmem_sync_all_on_stream;
  static constexpr auto synchronize = &gdrkit_shmem_stream_synchronize;

  int put_signal(void* target, const void* source, std::size_t size_bytes, std::uint64_t* signal, std::uint64_t value,
                 int pe) const {
    return gdrkit_shmem_put_signal(target, source, size_bytes, signal, value, GDRKIT_SHMEM_SIGNAL_SET, pe);
  }
  int signal_set(std::uint64_t* signal, std::uint64_t value, int pe) const {
    return gdrkit_shmem_signal_op(signal, value, GDRKIT_SHMEM_SIGNAL_SET, pe);
  }
  int send_then_wait(void* target, const void* source, std::size_t size_bytes, std::uint64_t* signal,
                     std::uint64_t value, int pe) const {
    return put_signal(target, source, size_bytes, signal, value, pe) | wait(signal, value);
  }
  int wait_then_send(void* target, const void* source, std::size_t size_bytes, std::uint64_t* signal,
                     std::uint64_t value, int pe) const {
    return wait(signal, value) | put_signal(target, source, size_bytes, signal, value, pe);
  }

  int atomic_fetch(std::uint64_t* word, int pe) const { return fetching(word, GDRKIT_SHMEM_ATOMIC_FETCH, 0, 0, pe); }
  int atomic_set(std::uint64_t* word, std::uint64_t value, int pe) const {
    return gdrkit_shmem_atomic(word, sizeof *word, GDRKIT_SHMEM_ATOMIC_SET, value, 0, nullptr, pe);
  }
  int atomic_add(std::uint64_t* word, std::uint64_t value, int pe) const {
    return gdrkit_shmem_atomic(word, sizeof *word, GDRKIT_SHMEM_ATOMIC_ADD, value, 0, nullptr, pe);
  }
  int atomic_fetch_add(std::uint64_t* word, std::uint64_t value, int pe) const {
    return fetching(word, GDRKIT_SHMEM_ATOMIC_ADD, value, 0, pe);
  }
  int atomic_swap(std::uint64_t* word, std::uint64_t value, int pe) const {
    return fetching(word, GDRKIT_SHMEM_ATOMIC_SWAP, value, 0, pe);
  }
  int atomic_compare_swap(std::uint64_t* word, std::uint64_t compare, std::uint64_t value, int pe) const {
    return fetching(word, GDRKIT_SHMEM_ATOMIC_COMPARE_SWAP, value, compare, pe);
  }

  int put_signal_on_stream(void* target, const void* source, std::size_t size_bytes, std::uint64_t* signal,
                           std::uint64_t value, int pe, void* stream) const {
    return gdrkit_shmem_put_signal_on_stream(target, source, size_bytes, signal, value, GDRKIT_SHMEM_SIGNAL_SET, pe,
                                             stream);
  }
  int wait_on_stream(std::uint64_t* signal, std::uint64_t value, void* stream) const {
    return gdrkit_shmem_signal_wait_until_on_stream(signal, GDRKIT_SHMEM_GE, value, stream);
  }

  // Over all PEs; the root is PE 0, sums are of floats. The size is that of a PE's part.
  int broadcast(auto... all) const { return gdrkit_shmem_broadcast(world, all..., 0); }
  int broadcast_on_stream(void* target, const void* source, std::size_t size_bytes, void* stream) const {
    return gdrkit_shmem_broadcast_on_stream(world, target, source, size_bytes, 0, stream);
  }
  int fcollect(auto... all) const { return gdrkit_shmem_fcollect(world, all...); }
  int fcollect_on_stream(auto... all) const { return gdrkit_shmem_fcollect_on_stream(world, all...); }
  int alltoall(auto... all) const { return gdrkit_shmem_alltoall(world, all...); }
  int alltoall_on_stream(auto... all) const { return gdrkit_shmem_alltoall_on_stream(world, all...); }
  int reduce(auto... all) const { return sum(gdrkit_shmem_reduce, all...); }
  int reduce_on_stream(auto... all) const { return sum(gdrkit_shmem_reduce_on_stream, all...); }
  int reducescatter(auto... all) const { return sum(gdrkit_shmem_reducescatter, all...); }
  int reducescatter_on_stream(auto... all) const { return sum(gdrkit_shmem_reducescatter_on_stream, all...); }

 private:
  static constexpr gdrkit_shmem_team_t world = GDRKIT_SHMEM_TEAM_WORLD;
  static int sum(auto function, void* target, const void* source, std::size_t size_bytes, auto... stream) {
    return function(world, GDRKIT_SHMEM_TYPE_FLOAT, GDRKIT_SHMEM_SUM, target, source, size_bytes / sizeof(float),
                    stream...);
  }
  static int wait(const std::uint64_t* signal, std::uint64_t value) {
    return gdrkit_shmem_signal_wait_until(signal, GDRKIT_SHMEM_GE, value, nullptr);
  }
  static int fetching(std::uint64_t* word, gdrkit_shmem_atomic_operation operation, std::uint64_t operand,
                      std::uint64_t compare, int pe) {
    std::uint64_t fetched = 0;
    return gdrkit_shmem_atomic(word, sizeof *word, operation, operand, compare, &fetched, pe);
  }
};

}  // namespace gdrkit::transfer::engines
