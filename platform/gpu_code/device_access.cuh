// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How GPU kernels look at memory that the CPU, too, reads and writes, and at the clock.
#pragma once

#include <cstdint>

#include "platform/gpu_code/parameters.hpp"

namespace gdrkit::platform {

/// Looks between two looks at the clock: the clock costs more than a look, and a limit may be exceeded by this much.
constexpr unsigned looks_per_clock = 64;

/// Pairs with what the other side did before its store: a CPU's SFENCE or release, a GPU's store_for_all. The scope is
/// the system, as that side may be a CPU behind PCIe.
__device__ inline std::uint32_t load_of_all(std::uint64_t address) {
  std::uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

/// Everything this thread did, and has seen done by threads of its block before a barrier, comes before the store.
__device__ inline void store_for_all(std::uint64_t address, std::uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

__device__ inline void tell_end(std::uint64_t address, KernelEnd end) {
  store_for_all(address, static_cast<std::uint32_t>(end));
}

/// Nanoseconds of a clock that all of the GPU shares.
__device__ inline std::uint64_t clock_ns() {
  std::uint64_t value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
  return value;
}

/// Waits for `is_there(word)`; false when `limit_ns` went by before. The last word seen in *seen.
template <class Condition>
__device__ bool wait_for(std::uint64_t address, std::uint64_t limit_ns, std::uint32_t* seen, Condition is_there) {
  const std::uint64_t begin = clock_ns();
  for (;;) {
#pragma unroll 1  // a look takes hundreds of cycles, a step of the loop a few
    for (unsigned look = 0; look < looks_per_clock; ++look) {
      *seen = load_of_all(address);
      if (is_there(*seen)) return true;
    }
    if (clock_ns() - begin > limit_ns) return false;
  }
}

}  // namespace gdrkit::platform
