// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How GPU kernels access memory that the CPU also reads and writes, and how they read the clock.
#pragma once

#include <cstdint>

#include "platform/gpu_code/kernel_end.hpp"

namespace gdrkit::platform {

/// Polls between two clock reads. The clock costs as much as a poll, so a short wait never reads it. A limit may be
/// exceeded by twice this many polls (a poll takes 0.2 us in GPU memory and 1 to 2 us in host memory).
constexpr unsigned polls_per_clock = 4096;

/// Loads a word that other threads and the CPU write, bypassing every cache that they do not share. Orders nothing: for
/// a flag without data.
__device__ inline std::uint32_t load_relaxed(std::uint64_t address) {
  std::uint32_t value;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}
__device__ inline void store_relaxed(std::uint64_t address, std::uint32_t value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/// Pairs with the other side's operation before its store: a CPU's SFENCE or release, a GPU's store_release. The scope
/// is the system, because that side may be a CPU behind PCIe. Each one empties the multiprocessor's L1 cache.
__device__ inline std::uint32_t load_acquire(std::uint64_t address) {
  std::uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

/// Everything that this thread did, and that threads of its block did before a barrier, comes before the store (release
/// is cumulative: PTX ISA, "Causality order"). It costs a fence.sys: about 0.7 us on an H100.
__device__ inline void store_release(std::uint64_t address, std::uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/// Counts one more arrival of this GPU's threads and returns the count. Threads that arrive later see everything that
/// this thread did or observed.
__device__ inline std::uint32_t arrive(std::uint32_t* count) {
  std::uint32_t before;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(count))
               : "memory");
  return before + 1;
}

__device__ inline void report_end(std::uint64_t address, KernelEnd end) {
  store_release(address, static_cast<std::uint32_t>(end));
}

/// Nanoseconds of a clock that is common to the whole GPU.
__device__ inline std::uint64_t clock_ns() {
  std::uint64_t value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
  return value;
}

/// Polls by `load` until `is_there(word)`: running. stopped: the word is stop_word. expired: `limit_ns` elapsed. The
/// last two are checked only every polls_per_clock polls.
template <class Load, class Condition>
__device__ KernelEnd wait_for(Load load, std::uint64_t address, std::uint64_t limit_ns, Condition is_there) {
  std::uint64_t begin = 0;
  for (;;) {
    std::uint32_t seen = 0;
#pragma unroll 1  // a poll takes hundreds of cycles, a loop iteration a few
    for (unsigned poll = 0; poll < polls_per_clock; ++poll) {
      seen = load(address);
      if (is_there(seen)) return KernelEnd::running;
    }
    if (seen == stop_word) return KernelEnd::stopped;
    const std::uint64_t now = clock_ns();
    if (begin == 0) begin = now;
    if (now - begin > limit_ns) return KernelEnd::expired;
  }
}

}  // namespace gdrkit::platform
