// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit shmem for GPU kernels under plain C names, for compilers of other languages (Numba, Triton).
//
// gdrkit_device_<operation>_<group or type> calls gdrkit::shmem::<operation> with the state of the calling PE, which
// gdrkit_shmem_module_init stores in the module. Addresses are 64-bit integers, because these compilers disagree about
// pointer types; enumerations are ints. Functions without a result return 0, because Triton requires a result.
// Functions for a group (thread, warp, block) must be called by all its threads.
#ifndef GDRKIT_SHMEM_PLAIN_NAMES_CUH
#define GDRKIT_SHMEM_PLAIN_NAMES_CUH

// Numba compiles this file with NVRTC as relocatable device code, and inlines the plain functions at link time. The
// rare paths stay calls. If they were inlined, their conditional loads would delay a put of 8 bytes even when they are
// not executed, and the compiler would not hoist the test for a proxy out of a loop of that size. Link-time
// optimization (Numba with nvidia-nvjitlink) counts the registers of a called function, so a call does not reserve 76.
#if defined(__CUDACC_RTC__) && !defined(GDRKIT_SHMEM_OUTLINED)
#define GDRKIT_SHMEM_OUTLINED __noinline__
#endif

#include <gdrkit/shmem_collectives.cuh>
#include <gdrkit/shmem_state.cuh>

#if defined(__CUDACC__)

#define GDRKIT_SHMEM_PLAIN extern "C" __device__
#ifndef GDRKIT_SHMEM_PLAIN_POINTER  // clang_cuda.cuh defines it for Triton
#define GDRKIT_SHMEM_PLAIN_POINTER(type, address) reinterpret_cast<type*>(address)
#endif

GDRKIT_SHMEM_PLAIN int gdrkit_device_my_pe() { return gdrkit::shmem::state().pe; }
GDRKIT_SHMEM_PLAIN int gdrkit_device_n_pes() { return gdrkit::shmem::state().n_pes; }
GDRKIT_SHMEM_PLAIN int gdrkit_device_fence() {
  gdrkit::shmem::fence(gdrkit::shmem::state());
  return 0;
}
/// @return the address of PE `pe`'s copy for loads and stores, or 0 if the GPU cannot reach it.
GDRKIT_SHMEM_PLAIN std::uint64_t gdrkit_device_ptr(std::uint64_t address, int pe) {
  return reinterpret_cast<std::uint64_t>(
      gdrkit::shmem::ptr(gdrkit::shmem::state(), reinterpret_cast<char*>(address), pe));
}

// One element of each type.
#define GDRKIT_SHMEM_PLAIN_ELEMENT(name, type)                                                  \
  GDRKIT_SHMEM_PLAIN int gdrkit_device_p_##name(std::uint64_t target, type value, int pe) {     \
    gdrkit::shmem::p(gdrkit::shmem::state(), reinterpret_cast<type*>(target), value, pe);       \
    return 0;                                                                                   \
  }                                                                                             \
  GDRKIT_SHMEM_PLAIN type gdrkit_device_g_##name(std::uint64_t source, int pe) {                \
    return gdrkit::shmem::g(gdrkit::shmem::state(), reinterpret_cast<const type*>(source), pe); \
  }
GDRKIT_SHMEM_PLAIN_ELEMENT(int8, std::int8_t)
GDRKIT_SHMEM_PLAIN_ELEMENT(uint8, std::uint8_t)
GDRKIT_SHMEM_PLAIN_ELEMENT(int16, std::int16_t)
GDRKIT_SHMEM_PLAIN_ELEMENT(uint16, std::uint16_t)
GDRKIT_SHMEM_PLAIN_ELEMENT(int32, std::int32_t)
GDRKIT_SHMEM_PLAIN_ELEMENT(uint32, std::uint32_t)
GDRKIT_SHMEM_PLAIN_ELEMENT(int64, std::int64_t)
GDRKIT_SHMEM_PLAIN_ELEMENT(uint64, std::uint64_t)
GDRKIT_SHMEM_PLAIN_ELEMENT(float32, float)
GDRKIT_SHMEM_PLAIN_ELEMENT(float64, double)
#undef GDRKIT_SHMEM_PLAIN_ELEMENT

// Waits for, tests and atomic updates of one word of each type. A wait returns 0 if it timed out or a PE has ended.
#define GDRKIT_SHMEM_PLAIN_UPDATE(operation, name, type)                                                          \
  GDRKIT_SHMEM_PLAIN type gdrkit_device_atomic_##operation##_##name(std::uint64_t target, type value, int pe) {   \
    return gdrkit::shmem::atomic_##operation(gdrkit::shmem::state(), reinterpret_cast<type*>(target), value, pe); \
  }
#define GDRKIT_SHMEM_PLAIN_WORD(name, type)                                                                            \
  GDRKIT_SHMEM_PLAIN int gdrkit_device_wait_until_##name(std::uint64_t address, int comparison, type value) {          \
    return gdrkit::shmem::wait_until(gdrkit::shmem::state(), reinterpret_cast<const type*>(address),                   \
                                     static_cast<gdrkit_shmem_comparison>(comparison), value);                         \
  }                                                                                                                    \
  GDRKIT_SHMEM_PLAIN int gdrkit_device_test_##name(std::uint64_t address, int comparison, type value) {                \
    return gdrkit::shmem::test(reinterpret_cast<const type*>(address),                                                 \
                               static_cast<gdrkit_shmem_comparison>(comparison), value);                               \
  }                                                                                                                    \
  GDRKIT_SHMEM_PLAIN_UPDATE(fetch_add, name, type)                                                                     \
  GDRKIT_SHMEM_PLAIN_UPDATE(fetch_and, name, type)                                                                     \
  GDRKIT_SHMEM_PLAIN_UPDATE(fetch_or, name, type)                                                                      \
  GDRKIT_SHMEM_PLAIN_UPDATE(fetch_xor, name, type)                                                                     \
  GDRKIT_SHMEM_PLAIN_UPDATE(swap, name, type)                                                                          \
  GDRKIT_SHMEM_PLAIN int gdrkit_device_atomic_add_##name(std::uint64_t target, type value, int pe) {                   \
    gdrkit::shmem::atomic_add(gdrkit::shmem::state(), reinterpret_cast<type*>(target), value, pe);                     \
    return 0;                                                                                                          \
  }                                                                                                                    \
  GDRKIT_SHMEM_PLAIN type gdrkit_device_atomic_compare_swap_##name(std::uint64_t target, type compare, type value,     \
                                                                   int pe) {                                           \
    return gdrkit::shmem::atomic_compare_swap(gdrkit::shmem::state(), reinterpret_cast<type*>(target), compare, value, \
                                              pe);                                                                     \
  }
GDRKIT_SHMEM_PLAIN_WORD(int32, std::int32_t)
GDRKIT_SHMEM_PLAIN_WORD(uint32, std::uint32_t)
GDRKIT_SHMEM_PLAIN_WORD(int64, std::int64_t)
GDRKIT_SHMEM_PLAIN_WORD(uint64, std::uint64_t)
#undef GDRKIT_SHMEM_PLAIN_WORD
#undef GDRKIT_SHMEM_PLAIN_UPDATE

// Transfers, signals and collectives of each group. One thread sets the signal, after a barrier of the group, and one
// waits. Reductions are for a block only, because of their size. Waits and collectives return 0 if a wait timed out or
// a PE has ended.
#define GDRKIT_SHMEM_PLAIN_REDUCE(group, reduction, REDUCTION, name, type)                                           \
  GDRKIT_SHMEM_PLAIN int gdrkit_device_reduce_##reduction##_##name##_##group(                                        \
      int team, std::uint64_t target, std::uint64_t source, std::uint64_t count) {                                   \
    return gdrkit::shmem::reduce<GDRKIT_SHMEM_##REDUCTION>(                                                          \
        gdrkit::shmem::state(), team, reinterpret_cast<type*>(target), reinterpret_cast<const type*>(source), count, \
        gdrkit::shmem::group());                                                                                     \
  }
#define GDRKIT_SHMEM_PLAIN_REDUCES(group, name, type)    \
  GDRKIT_SHMEM_PLAIN_REDUCE(group, sum, SUM, name, type) \
  GDRKIT_SHMEM_PLAIN_REDUCE(group, min, MIN, name, type) \
  GDRKIT_SHMEM_PLAIN_REDUCE(group, max, MAX, name, type)
#define GDRKIT_SHMEM_PLAIN_COPY(operation, group)                                                                     \
  GDRKIT_SHMEM_PLAIN int gdrkit_device_##operation##_##group(std::uint64_t target, std::uint64_t source,              \
                                                             std::uint64_t size_bytes, int pe) {                      \
    gdrkit::shmem::operation(gdrkit::shmem::state(), GDRKIT_SHMEM_PLAIN_POINTER(void, target),                        \
                             GDRKIT_SHMEM_PLAIN_POINTER(const void, source), size_bytes, pe, gdrkit::shmem::group()); \
    return 0;                                                                                                         \
  }
#define GDRKIT_SHMEM_PLAIN_GROUP(group)                                                                            \
  GDRKIT_SHMEM_PLAIN_COPY(put, group)                                                                              \
  GDRKIT_SHMEM_PLAIN_COPY(put_nbi, group)                                                                          \
  GDRKIT_SHMEM_PLAIN_COPY(get, group)                                                                              \
  GDRKIT_SHMEM_PLAIN int gdrkit_device_put_signal_##group(std::uint64_t target, std::uint64_t source,              \
                                                          std::uint64_t size_bytes, std::uint64_t signal,          \
                                                          std::uint64_t value, int operation, int pe) {            \
    gdrkit::shmem::put_signal(gdrkit::shmem::state(), GDRKIT_SHMEM_PLAIN_POINTER(void, target),                    \
                              GDRKIT_SHMEM_PLAIN_POINTER(const void, source), size_bytes,                          \
                              reinterpret_cast<std::uint64_t*>(signal), value,                                     \
                              static_cast<gdrkit_shmem_signal>(operation), pe, gdrkit::shmem::group());            \
    return 0;                                                                                                      \
  }                                                                                                                \
  GDRKIT_SHMEM_PLAIN int gdrkit_device_signal_op_##group(std::uint64_t signal, std::uint64_t value, int operation, \
                                                         int pe) {                                                 \
    const auto all = gdrkit::shmem::group();                                                                       \
    all.sync();                                                                                                    \
    if (all.rank() == 0) {                                                                                         \
      gdrkit::shmem::signal_op(gdrkit::shmem::state(), reinterpret_cast<std::uint64_t*>(signal), value,            \
                               static_cast<gdrkit_shmem_signal>(operation), pe);                                   \
    }                                                                                                              \
    return 0;                                                                                                      \
  }                                                                                                                \
  GDRKIT_SHMEM_PLAIN int gdrkit_device_signal_wait_until_##group(std::uint64_t signal, int comparison,             \
                                                                 std::uint64_t value) {                            \
    const auto all = gdrkit::shmem::group();                                                                       \
    const bool is_there =                                                                                          \
        all.rank() != 0 ||                                                                                         \
        gdrkit::shmem::signal_wait_until(gdrkit::shmem::state(), reinterpret_cast<const std::uint64_t*>(signal),   \
                                         static_cast<gdrkit_shmem_comparison>(comparison), value);                 \
    return all.all(is_there);                                                                                      \
  }                                                                                                                \
  GDRKIT_SHMEM_PLAIN int gdrkit_device_quiet_##group() {                                                           \
    gdrkit::shmem::quiet(gdrkit::shmem::state(), gdrkit::shmem::group());                                          \
    return 0;                                                                                                      \
  }                                                                                                                \
  GDRKIT_SHMEM_PLAIN int gdrkit_device_barrier_all_##group() {                                                     \
    return gdrkit::shmem::barrier_all(gdrkit::shmem::state(), gdrkit::shmem::group());                             \
  }                                                                                                                \
  GDRKIT_SHMEM_PLAIN int gdrkit_device_team_sync_##group(int team) {                                               \
    return gdrkit::shmem::team_sync(gdrkit::shmem::state(), team, gdrkit::shmem::group());                         \
  }                                                                                                                \
  GDRKIT_SHMEM_PLAIN int gdrkit_device_broadcast_##group(int team, std::uint64_t target, std::uint64_t source,     \
                                                         std::uint64_t size_bytes, int root) {                     \
    return gdrkit::shmem::broadcast(gdrkit::shmem::state(), team, reinterpret_cast<void*>(target),                 \
                                    GDRKIT_SHMEM_PLAIN_POINTER(const void, source), size_bytes, root,              \
                                    gdrkit::shmem::group());                                                       \
  }                                                                                                                \
  GDRKIT_SHMEM_PLAIN int gdrkit_device_fcollect_##group(int team, std::uint64_t target, std::uint64_t source,      \
                                                        std::uint64_t size_bytes) {                                \
    return gdrkit::shmem::fcollect(gdrkit::shmem::state(), team, reinterpret_cast<void*>(target),                  \
                                   GDRKIT_SHMEM_PLAIN_POINTER(const void, source), size_bytes,                     \
                                   gdrkit::shmem::group());                                                        \
  }                                                                                                                \
  GDRKIT_SHMEM_PLAIN int gdrkit_device_alltoall_##group(int team, std::uint64_t target, std::uint64_t source,      \
                                                        std::uint64_t size_bytes) {                                \
    return gdrkit::shmem::alltoall(gdrkit::shmem::state(), team, reinterpret_cast<void*>(target),                  \
                                   GDRKIT_SHMEM_PLAIN_POINTER(const void, source), size_bytes,                     \
                                   gdrkit::shmem::group());                                                        \
  }
GDRKIT_SHMEM_PLAIN_GROUP(thread)
GDRKIT_SHMEM_PLAIN_GROUP(warp)
GDRKIT_SHMEM_PLAIN_GROUP(block)
GDRKIT_SHMEM_PLAIN_REDUCES(block, int32, std::int32_t)
GDRKIT_SHMEM_PLAIN_REDUCES(block, int64, std::int64_t)
GDRKIT_SHMEM_PLAIN_REDUCES(block, float16, gdrkit::shmem::Half)
GDRKIT_SHMEM_PLAIN_REDUCES(block, bfloat16, gdrkit::shmem::Bfloat16)
GDRKIT_SHMEM_PLAIN_REDUCES(block, float32, float)
GDRKIT_SHMEM_PLAIN_REDUCES(block, float64, double)
#undef GDRKIT_SHMEM_PLAIN_GROUP
#undef GDRKIT_SHMEM_PLAIN_COPY
#undef GDRKIT_SHMEM_PLAIN_REDUCES
#undef GDRKIT_SHMEM_PLAIN_REDUCE

#endif

#endif
