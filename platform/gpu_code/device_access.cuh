// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Access of GPU kernels to memory that the CPU also reads and writes, and to the clock.
#pragma once

#include <cstdint>

#include "platform/gpu_code/kernel_end.hpp"

namespace gdrkit::platform {

/// Polls between two clock reads. A clock read costs as much as a poll, so a short wait never reads the clock. A wait
/// may exceed its limit by twice this many polls (a poll takes 0.2 us in GPU memory and 1 to 2 us in host memory).
constexpr unsigned polls_per_clock = 4096;

/// Accesses a word that other threads and the CPU write, bypassing all caches that they do not share. Provides no
/// ordering: only for flags that do not guard data.
__device__ inline std::uint32_t load_relaxed(std::uint64_t address) {
  std::uint32_t value;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}
__device__ inline void store_relaxed(std::uint64_t address, std::uint32_t value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/// Synchronizes with the writer's store: a CPU's SFENCE or release store, or a GPU's store_release. System scope,
/// because the writer may be a CPU behind PCIe. Each acquire load invalidates the multiprocessor's L1 cache.
__device__ inline std::uint32_t load_acquire(std::uint64_t address) {
  std::uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

/// Orders before the store all accesses of this thread, and those of its block's threads that a barrier ordered before
/// it (release is cumulative: PTX ISA, "Causality order"). Costs a fence.sys: about 0.7 us on an H100.
__device__ inline void store_release(std::uint64_t address, std::uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/// Counts an arrival of one of this GPU's threads and returns the new count. Later arrivals observe everything that
/// happened before this one.
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

/// Nanoseconds of the GPU-wide clock.
__device__ inline std::uint64_t clock_ns() {
  std::uint64_t value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
  return value;
}

/// Polls with `load` until `is_satisfied(word)` and returns running. Returns stopped if the word is stop_word, and
/// expired after `limit_ns`. It checks both only once per polls_per_clock polls.
template <class Load, class Condition>
__device__ KernelEnd wait_for(Load load, std::uint64_t address, std::uint64_t limit_ns, Condition is_satisfied) {
  std::uint64_t begin = 0;
  for (;;) {
    std::uint32_t seen = 0;
#pragma unroll 1  // a poll takes hundreds of cycles, the loop overhead a few
    for (unsigned poll = 0; poll < polls_per_clock; ++poll) {
      seen = load(address);
      if (is_satisfied(seen)) return KernelEnd::running;
    }
    if (seen == stop_word) return KernelEnd::stopped;
    const std::uint64_t now = clock_ns();
    if (begin == 0) begin = now;
    if (now - begin > limit_ns) return KernelEnd::expired;
  }
}

}  // namespace gdrkit::platform
