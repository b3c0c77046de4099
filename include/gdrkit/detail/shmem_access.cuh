// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Basis of gdrkit shmem's headers for GPU kernels: function attributes, accesses of one word, and waits. Included by
// shmem_device.cuh.
#ifndef GDRKIT_SHMEM_ACCESS_CUH
#define GDRKIT_SHMEM_ACCESS_CUH

#if defined(__CUDACC_RTC__)
#include <gdrkit/shmem_atomic.h>
#include <gdrkit/shmem_collectives.h>
#include <gdrkit/shmem_kernel.h>
#include <gdrkit/shmem_team.h>
#else
#include <gdrkit/shmem.h>
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__CUDACC__)
#define GDRKIT_SHMEM_FUNCTION __device__ inline
#define GDRKIT_SHMEM_ANYWHERE __host__ __device__ constexpr
#define GDRKIT_SHMEM_ROLLED _Pragma("unroll 1")  // a step takes longer than the loop around it
#define GDRKIT_SHMEM_UNROLLED _Pragma("unroll")
#else
#define GDRKIT_SHMEM_FUNCTION inline
#define GDRKIT_SHMEM_ANYWHERE constexpr
#define GDRKIT_SHMEM_ROLLED
#define GDRKIT_SHMEM_UNROLLED
#include <sched.h>
#include <time.h>
#endif
// A function that is called in many places, or rarely. nvcc inlines it in relocatable device code (-rdc=true): a called
// function uses at least 76 registers there, and each GPU kernel that can call it needs as many.
#if defined(__CUDA_ARCH__) && !defined(__CUDACC_RDC__)
#define GDRKIT_SHMEM_OUTLINED __noinline__
#elif !defined(GDRKIT_SHMEM_OUTLINED)  // with NVRTC, shmem_plain_names.cuh may define it
#define GDRKIT_SHMEM_OUTLINED
#endif

namespace gdrkit::shmem {

using State = gdrkit_shmem_device_state;

// Accesses of one word, and the clock. All accesses have system scope: the other side is another GPU or a CPU. All are
// to global memory, where the heap and mapped host memory are. A generic access takes longer, and a generic 64-bit
// update would also contain code for shared memory.
namespace detail {

#if defined(__CUDACC__)
template <class T>
GDRKIT_SHMEM_FUNCTION T* in_global_memory(T* address) {
  __builtin_assume(__isGlobal(address));
  return address;
}
#define GDRKIT_SHMEM_LOAD(order, bits, constraint)                                             \
  GDRKIT_SHMEM_FUNCTION std::uint##bits##_t load_##order(const std::uint##bits##_t* address) { \
    std::uint##bits##_t value;                                                                 \
    asm volatile("ld." #order ".sys.global.u" #bits " %0, [%1];"                               \
                 : constraint(value)                                                           \
                 : "l"(__cvta_generic_to_global(address))                                      \
                 : "memory");                                                                  \
    return value;                                                                              \
  }
GDRKIT_SHMEM_LOAD(acquire, 32, "=r")
GDRKIT_SHMEM_LOAD(acquire, 64, "=l")
GDRKIT_SHMEM_LOAD(relaxed, 32, "=r")
GDRKIT_SHMEM_LOAD(relaxed, 64, "=l")
#undef GDRKIT_SHMEM_LOAD
GDRKIT_SHMEM_FUNCTION void store_relaxed(std::uint64_t* address, std::uint64_t value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(address)), "l"(value) : "memory");
}
/// A store that others wait for. Data that must be visible with it requires a separate fence before it.
GDRKIT_SHMEM_FUNCTION void post(std::uint64_t* address, std::uint64_t value) { store_relaxed(address, value); }
GDRKIT_SHMEM_FUNCTION void fence_system() { __threadfence_system(); }
GDRKIT_SHMEM_FUNCTION std::uint64_t clock_ns() {
  std::uint64_t value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
  return value;
}
GDRKIT_SHMEM_FUNCTION void relax() {}
// From compute capability 9.0 and CUDA 12.8 on, a thread polls by relaxed loads and executes one acquire fence after
// the last: an acquire load also empties the first-level cache, and the next poll waits for that. Before a store that
// other PEs poll for, a release fence is enough; a fence of sequential consistency takes longer.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208
template <class Word>
GDRKIT_SHMEM_FUNCTION Word load_polled(const Word* address) {
  return load_relaxed(address);
}
/// Call it after the poll that saw the value: what the writer of the value wrote before is visible then.
GDRKIT_SHMEM_FUNCTION void end_polls() { asm volatile("fence.acquire.sys;" ::: "memory"); }
GDRKIT_SHMEM_FUNCTION void fence_release() { asm volatile("fence.release.sys;" ::: "memory"); }
#else
template <class Word>
GDRKIT_SHMEM_FUNCTION Word load_polled(const Word* address) {
  return load_acquire(address);
}
GDRKIT_SHMEM_FUNCTION void end_polls() {}
GDRKIT_SHMEM_FUNCTION void fence_release() { fence_system(); }
#endif
#else
template <class T>
inline T* in_global_memory(T* address) {
  return address;
}
template <class Word>
inline Word load_acquire(const Word* address) {
  return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}
template <class Word>
inline Word load_relaxed(const Word* address) {
  return __atomic_load_n(address, __ATOMIC_RELAXED);
}
template <class Word>
inline Word load_polled(const Word* address) {
  return load_acquire(address);
}
inline void end_polls() {}
inline void store_relaxed(std::uint64_t* address, std::uint64_t value) {
  __atomic_store_n(address, value, __ATOMIC_RELAXED);
}
inline void post(std::uint64_t* address, std::uint64_t value) { __atomic_store_n(address, value, __ATOMIC_RELEASE); }
inline void fence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void fence_release() { fence_system(); }
inline std::uint64_t clock_ns() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}
inline void relax() { ::sched_yield(); }
#endif

template <class Word>
GDRKIT_SHMEM_FUNCTION bool compares(Word seen, gdrkit_shmem_comparison comparison, Word value) {
  switch (comparison) {
    case GDRKIT_SHMEM_EQ: return seen == value;
    case GDRKIT_SHMEM_NE: return seen != value;
    case GDRKIT_SHMEM_GT: return seen > value;
    case GDRKIT_SHMEM_LE: return seen <= value;
    case GDRKIT_SHMEM_LT: return seen < value;
    default: return seen >= value;
  }
}

/// Number of polls between two reads of the clock, which take as long as a poll.
constexpr unsigned polls_per_clock = 1024;

/// Communication of a PE's CPU and its GPU kernels about waits, in host memory (control_address).
struct Control {
  std::uint32_t is_broken;  ///< nonzero: a PE has ended, and all waits end
  std::uint32_t unused;
  std::uint64_t timed_out_address;  ///< address of the word of the last wait that timed out; 0: none
};

/// Waits until is_there() returns true; its loads by load_polled() are acquired then. Returns false, and reports
/// `address` to the CPU, if the wait exceeds the state's limit or a PE has ended. Both are checked after every
/// polls_per_clock polls.
template <class Condition>
GDRKIT_SHMEM_FUNCTION bool wait_for(const State& state, const void* address, Condition is_there) {
  auto* const control = reinterpret_cast<Control*>(state.control_address);
  std::uint64_t begin = 0;
  for (;;) {
    GDRKIT_SHMEM_ROLLED
    for (unsigned poll = 0; poll < polls_per_clock; ++poll) {
      if (is_there()) {
        end_polls();
        return true;
      }
    }
    relax();
    const std::uint64_t now = clock_ns();
    if (begin == 0) begin = now;
    if (now - begin > state.limit_ns || (control != nullptr && load_relaxed(&control->is_broken) != 0)) break;
  }
  if (control != nullptr) store_relaxed(&control->timed_out_address, reinterpret_cast<std::uint64_t>(address));
  return false;
}

// Updates of one word.

template <class Word>
using Bits = std::conditional_t<sizeof(Word) == 8, unsigned long long, unsigned>;

#if defined(__CUDACC__)
#define GDRKIT_SHMEM_UPDATE(name, gpu_operation, cpu_function)                 \
  template <class Unsigned>                                                    \
  GDRKIT_SHMEM_FUNCTION Unsigned name(Unsigned* word, Unsigned value) {        \
    Unsigned before;                                                           \
    if constexpr (sizeof(Unsigned) == 4) {                                     \
      asm volatile("atom.relaxed.sys.global." gpu_operation "32 %0, [%1], %2;" \
                   : "=r"(before)                                              \
                   : "l"(__cvta_generic_to_global(word)), "r"(value)           \
                   : "memory");                                                \
    } else {                                                                   \
      asm volatile("atom.relaxed.sys.global." gpu_operation "64 %0, [%1], %2;" \
                   : "=l"(before)                                              \
                   : "l"(__cvta_generic_to_global(word)), "l"(value)           \
                   : "memory");                                                \
    }                                                                          \
    return before;                                                             \
  }
/// Uses `red`: the GPU waits for the result of `atom` even if it is unused.
template <class Unsigned>
GDRKIT_SHMEM_FUNCTION void add(Unsigned* word, Unsigned value) {
  if constexpr (sizeof(Unsigned) == 4) {
    asm volatile("red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(word)), "r"(value)
                 : "memory");
  } else {
    asm volatile("red.relaxed.sys.global.add.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(word)), "l"(value)
                 : "memory");
  }
}
template <class Unsigned>
GDRKIT_SHMEM_FUNCTION Unsigned compare_swap(Unsigned* word, Unsigned compare, Unsigned value) {
  Unsigned before;
  if constexpr (sizeof(Unsigned) == 4) {
    asm volatile("atom.relaxed.sys.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(before)
                 : "l"(__cvta_generic_to_global(word)), "r"(compare), "r"(value)
                 : "memory");
  } else {
    asm volatile("atom.relaxed.sys.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(before)
                 : "l"(__cvta_generic_to_global(word)), "l"(compare), "l"(value)
                 : "memory");
  }
  return before;
}
#else
#define GDRKIT_SHMEM_UPDATE(name, gpu_operation, cpu_function) \
  template <class Unsigned>                                    \
  inline Unsigned name(Unsigned* word, Unsigned value) {       \
    return cpu_function(word, value, __ATOMIC_RELAXED);        \
  }
template <class Unsigned>
inline void add(Unsigned* word, Unsigned value) {
  __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}
template <class Unsigned>
inline Unsigned compare_swap(Unsigned* word, Unsigned compare, Unsigned value) {
  __atomic_compare_exchange_n(word, &compare, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return compare;
}
#endif
GDRKIT_SHMEM_UPDATE(fetch_add, "add.u", __atomic_fetch_add)
GDRKIT_SHMEM_UPDATE(fetch_and, "and.b", __atomic_fetch_and)
GDRKIT_SHMEM_UPDATE(fetch_or, "or.b", __atomic_fetch_or)
GDRKIT_SHMEM_UPDATE(fetch_xor, "xor.b", __atomic_fetch_xor)
GDRKIT_SHMEM_UPDATE(swap, "exch.b", __atomic_exchange_n)
#undef GDRKIT_SHMEM_UPDATE

}  // namespace detail
}  // namespace gdrkit::shmem

#endif
