/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's atomic operations. Included by nvshmem.h. */
#ifndef GDRKIT_COMPAT_NVSHMEM_ATOMICS_H
#define GDRKIT_COMPAT_NVSHMEM_ATOMICS_H

#include "nvshmem_base.h"

/* An atomic operation from the CPU. Returns the bits of the word before the operation. */
static inline uint64_t gdrkit_nvshmem_atomic(const void* target, size_t size,
                                             enum gdrkit_shmem_atomic_operation operation, uint64_t operand,
                                             uint64_t compare, int is_fetched, int pe, const char* name) {
#if defined(__cplusplus)
  void* const word = const_cast<void*>(target); /* const only for FETCH, which does not write */
#else
  void* const word = (void*)target;
#endif
  uint64_t before = 0;
  gdrkit_nvshmem_check(gdrkit_shmem_atomic(word, size, operation, operand, compare, is_fetched ? &before : NULL, pe),
                       name);
  return before;
}

#if defined(__CUDACC__)
namespace gdrkit::shmem::detail {
/// What the GPU updates in place of a float or double: the same bits.
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
template <class To, class From>
__device__ inline To nvshmem_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  union {
    From from;
    To to;
  } both = {from};
  return both.to;
}
template <class T>
__device__ inline T nvshmem_swap(const State& state, T* target, T value, int pe) {
  using Bits = BitsOf<T>;
  return nvshmem_bits<T>(atomic_swap(state, reinterpret_cast<Bits*>(target), nvshmem_bits<Bits>(value), pe));
}
}  // namespace gdrkit::shmem::detail
#endif

/* Of a value as bits, and back; little-endian, as all GPUs' hosts are. */
#define GDRKIT_NVSHMEM_BITS(name, type)                               \
  static inline uint64_t gdrkit_nvshmem_##name##_bits(type value) {   \
    uint64_t bits = 0;                                                \
    memcpy(&bits, &value, sizeof value);                              \
    return bits;                                                      \
  }                                                                   \
  static inline type gdrkit_nvshmem_##name##_of_bits(uint64_t bits) { \
    type value;                                                       \
    memcpy(&value, &bits, sizeof value);                              \
    return value;                                                     \
  }

#define GDRKIT_NVSHMEM_HOST_ATOMIC(name, type, OPERATION, operand, compare, is_fetched, function)           \
  gdrkit_nvshmem_##name##_of_bits(                                                                          \
      gdrkit_nvshmem_atomic(target, sizeof(type), GDRKIT_SHMEM_ATOMIC_##OPERATION,                          \
                            gdrkit_nvshmem_##name##_bits(GDRKIT_SHMEM_CAST(type, operand)),                 \
                            gdrkit_nvshmem_##name##_bits(GDRKIT_SHMEM_CAST(type, compare)), is_fetched, pe, \
                            "nvshmem_" #name "_atomic_" #function))

#define GDRKIT_NVSHMEM_EXTENDED_ATOMICS(name, type)                                                              \
  GDRKIT_NVSHMEM_BITS(name, type)                                                                                \
  GDRKIT_NVSHMEM_BOTH type nvshmem_##name##_atomic_fetch(const type* target, int pe) {                           \
    return GDRKIT_NVSHMEM_SPLIT(GDRKIT_NVSHMEM_HOST_ATOMIC(name, type, FETCH, 0, 0, 1, fetch),                   \
                                ::gdrkit::shmem::atomic_fetch(GDRKIT_NVSHMEM_STATE, target, pe));                \
  }                                                                                                              \
  GDRKIT_NVSHMEM_BOTH void nvshmem_##name##_atomic_set(type* target, type value, int pe) {                       \
    GDRKIT_NVSHMEM_SPLIT((void)GDRKIT_NVSHMEM_HOST_ATOMIC(name, type, SET, value, 0, 0, set),                    \
                         ::gdrkit::shmem::atomic_set(GDRKIT_NVSHMEM_STATE, target, value, pe));                  \
  }                                                                                                              \
  GDRKIT_NVSHMEM_BOTH type nvshmem_##name##_atomic_swap(type* target, type value, int pe) {                      \
    return GDRKIT_NVSHMEM_SPLIT(GDRKIT_NVSHMEM_HOST_ATOMIC(name, type, SWAP, value, 0, 1, swap),                 \
                                ::gdrkit::shmem::detail::nvshmem_swap(GDRKIT_NVSHMEM_STATE, target, value, pe)); \
  }

/* fetch_<operation> and <operation>; `value` may be a parameter or a number. */
#define GDRKIT_NVSHMEM_UPDATE(name, type, operation, OPERATION, update, parameter, value)                    \
  GDRKIT_NVSHMEM_BOTH type nvshmem_##name##_atomic_fetch_##operation(type* target parameter, int pe) {       \
    return GDRKIT_NVSHMEM_SPLIT(                                                                             \
        GDRKIT_NVSHMEM_HOST_ATOMIC(name, type, OPERATION, value, 0, 1, fetch_##operation),                   \
        ::gdrkit::shmem::atomic_##update(GDRKIT_NVSHMEM_STATE, target, static_cast<type>(value), pe));       \
  }                                                                                                          \
  GDRKIT_NVSHMEM_BOTH void nvshmem_##name##_atomic_##operation(type* target parameter, int pe) {             \
    GDRKIT_NVSHMEM_SPLIT(                                                                                    \
        (void)GDRKIT_NVSHMEM_HOST_ATOMIC(name, type, OPERATION, value, 0, 0, operation),                     \
        (void)::gdrkit::shmem::atomic_##update(GDRKIT_NVSHMEM_STATE, target, static_cast<type>(value), pe)); \
  }
#define GDRKIT_NVSHMEM_COMMA ,
#define GDRKIT_NVSHMEM_STANDARD_ATOMICS(name, type)                                                                 \
  GDRKIT_NVSHMEM_EXTENDED_ATOMICS(name, type)                                                                       \
  GDRKIT_NVSHMEM_UPDATE(name, type, add, ADD, fetch_add, GDRKIT_NVSHMEM_COMMA type value, value)                    \
  GDRKIT_NVSHMEM_UPDATE(name, type, inc, ADD, fetch_add, , 1)                                                       \
  GDRKIT_NVSHMEM_UPDATE(name, type, and, AND, fetch_and, GDRKIT_NVSHMEM_COMMA type value, value)                    \
  GDRKIT_NVSHMEM_UPDATE(name, type, or, OR, fetch_or, GDRKIT_NVSHMEM_COMMA type value, value)                       \
  GDRKIT_NVSHMEM_UPDATE(name, type, xor, XOR, fetch_xor, GDRKIT_NVSHMEM_COMMA type value, value)                    \
  GDRKIT_NVSHMEM_BOTH type nvshmem_##name##_atomic_compare_swap(type* target, type condition, type value, int pe) { \
    return GDRKIT_NVSHMEM_SPLIT(                                                                                    \
        GDRKIT_NVSHMEM_HOST_ATOMIC(name, type, COMPARE_SWAP, value, condition, 1, compare_swap),                    \
        ::gdrkit::shmem::atomic_compare_swap(GDRKIT_NVSHMEM_STATE, target, condition, value, pe));                  \
  }

GDRKIT_NVSHMEM_FOR_EACH_WORD(GDRKIT_NVSHMEM_STANDARD_ATOMICS)
GDRKIT_NVSHMEM_EXTENDED_ATOMICS(float, float)
GDRKIT_NVSHMEM_EXTENDED_ATOMICS(double, double)

#undef GDRKIT_NVSHMEM_STANDARD_ATOMICS
#undef GDRKIT_NVSHMEM_COMMA
#undef GDRKIT_NVSHMEM_UPDATE
#undef GDRKIT_NVSHMEM_EXTENDED_ATOMICS
#undef GDRKIT_NVSHMEM_BITS

#endif
