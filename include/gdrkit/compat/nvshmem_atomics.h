/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's atomic operations. Included by nvshmem.h. */
#ifndef GDRKIT_COMPAT_NVSHMEM_ATOMICS_H
#define GDRKIT_COMPAT_NVSHMEM_ATOMICS_H

#include "nvshmem_base.h"
#include "nvshmem_rma.h"

#if defined(__cplusplus)
#define GDRKIT_NVSHMEM_ADDRESS(pointer) reinterpret_cast<uintptr_t>(pointer)
#define GDRKIT_NVSHMEM_BYTES(pointer) reinterpret_cast<char*>(pointer)
#else
#define GDRKIT_NVSHMEM_ADDRESS(pointer) ((uintptr_t)(pointer))
#define GDRKIT_NVSHMEM_BYTES(pointer) ((char*)(pointer))
#endif

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

/* Convert a value to bits and back. Little-endian, like all hosts of GPUs. */
#define GDRKIT_NVSHMEM_BITS(name, type)                               \
  static inline uint64_t gdrkit_nvshmem_##name##_bits(type value) {   \
    uint64_t bits = 0;                                                \
    memcpy(&bits, &value, sizeof value);                              \
    return bits;                                                      \
  }                                                                   \
  static inline type gdrkit_nvshmem_##name##_of_bits(uint64_t bits) { \
    type value;                                                       \
    memcpy(GDRKIT_SHMEM_CAST(void*, &value), &bits, sizeof value);    \
    return value;                                                     \
  }

#define GDRKIT_NVSHMEM_HOST_ATOMIC(name, type, OPERATION, operand, compare, is_fetched, function)           \
  gdrkit_nvshmem_##name##_of_bits(                                                                          \
      gdrkit_nvshmem_atomic(target, sizeof(type), GDRKIT_SHMEM_ATOMIC_##OPERATION,                          \
                            gdrkit_nvshmem_##name##_bits(GDRKIT_SHMEM_CAST(type, operand)),                 \
                            gdrkit_nvshmem_##name##_bits(GDRKIT_SHMEM_CAST(type, compare)), is_fetched, pe, \
                            "nvshmem_" #name "_atomic_" #function))

#define GDRKIT_NVSHMEM_EXTENDED_ATOMICS(name, type)                                                            \
  GDRKIT_NVSHMEM_BITS(name, type)                                                                              \
  GDRKIT_NVSHMEM_BOTH type nvshmem_##name##_atomic_fetch(const type* target, int pe) {                         \
    return GDRKIT_NVSHMEM_SPLIT(GDRKIT_NVSHMEM_HOST_ATOMIC(name, type, FETCH, 0, 0, 1, fetch),                 \
                                ::gdrkit::shmem::detail::get_value(GDRKIT_NVSHMEM_STATE, target, pe));         \
  }                                                                                                            \
  GDRKIT_NVSHMEM_BOTH void nvshmem_##name##_atomic_set(type* target, type value, int pe) {                     \
    GDRKIT_NVSHMEM_SPLIT((void)GDRKIT_NVSHMEM_HOST_ATOMIC(name, type, SET, value, 0, 0, set),                  \
                         ::gdrkit::shmem::detail::put_value(GDRKIT_NVSHMEM_STATE, target, value, pe));         \
  }                                                                                                            \
  GDRKIT_NVSHMEM_BOTH type nvshmem_##name##_atomic_swap(type* target, type value, int pe) {                    \
    return GDRKIT_NVSHMEM_SPLIT(GDRKIT_NVSHMEM_HOST_ATOMIC(name, type, SWAP, value, 0, 1, swap),               \
                                ::gdrkit::shmem::detail::swap_value(GDRKIT_NVSHMEM_STATE, target, value, pe)); \
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

/* Updates a value by compare-and-swap. Words of 2 bytes are updated as part of their aligned 4 bytes. */
#define GDRKIT_NVSHMEM_HOST_CHANGE(name, type, function)                                                           \
  static inline type gdrkit_nvshmem_##name##_##function(type* target, type value, int pe) {                        \
    const size_t word_bytes = sizeof(type) == 8 ? 8 : 4;                                                           \
    const size_t at = GDRKIT_NVSHMEM_ADDRESS(target) % word_bytes;                                                 \
    void* const word = GDRKIT_SHMEM_CAST(void*, GDRKIT_NVSHMEM_BYTES(target) - at);                                \
    const uint64_t mask = sizeof(type) == 8 ? ~UINT64_C(0) : sizeof(type) == 4 ? UINT64_C(0xffffffff) : 0xffff;    \
    uint64_t seen = gdrkit_nvshmem_atomic(word, word_bytes, GDRKIT_SHMEM_ATOMIC_FETCH, 0, 0, 1, pe,                \
                                          "nvshmem_" #name "_atomic_" #function);                                  \
    for (;;) {                                                                                                     \
      const type before = gdrkit_nvshmem_##name##_of_bits(seen >> (8 * at) & mask);                                \
      const uint64_t after = gdrkit_nvshmem_##name##_bits(GDRKIT_NVSHMEM_CHANGED_##function(type, before, value)); \
      const uint64_t found = gdrkit_nvshmem_atomic(word, word_bytes, GDRKIT_SHMEM_ATOMIC_COMPARE_SWAP,             \
                                                   (seen & ~(mask << (8 * at))) | after << (8 * at), seen, 1, pe,  \
                                                   "nvshmem_" #name "_atomic_" #function);                         \
      if (found == seen) return before;                                                                            \
      seen = found;                                                                                                \
    }                                                                                                              \
  }
#define GDRKIT_NVSHMEM_CHANGED_swap(type, before, value) (value)
#define GDRKIT_NVSHMEM_CHANGED_fetch_add(type, before, value) GDRKIT_SHMEM_CAST(type, (before) + (value))

#define GDRKIT_NVSHMEM_SUMS(name, type)                                                                             \
  GDRKIT_NVSHMEM_HOST_CHANGE(name, type, fetch_add)                                                                 \
  GDRKIT_NVSHMEM_BOTH type nvshmemx_##name##_atomic_fetch_add(type* target, type value, int pe) {                   \
    return GDRKIT_NVSHMEM_SPLIT(gdrkit_nvshmem_##name##_fetch_add(target, value, pe),                               \
                                ::gdrkit::shmem::detail::fetch_add_value(GDRKIT_NVSHMEM_STATE, target, value, pe)); \
  }                                                                                                                 \
  GDRKIT_NVSHMEM_BOTH void nvshmemx_##name##_atomic_add(type* target, type value, int pe) {                         \
    (void)nvshmemx_##name##_atomic_fetch_add(target, value, pe);                                                    \
  }
/* An element of 2 bytes: set and fetch are a store and a load. */
#define GDRKIT_NVSHMEM_HALF_ATOMICS(name, type)                                                                \
  GDRKIT_NVSHMEM_BITS(name, type)                                                                              \
  GDRKIT_NVSHMEM_HOST_CHANGE(name, type, swap)                                                                 \
  GDRKIT_NVSHMEM_SUMS(name, type)                                                                              \
  GDRKIT_NVSHMEM_BOTH type nvshmem_##name##_atomic_fetch(const type* target, int pe) {                         \
    return nvshmem_##name##_g(target, pe);                                                                     \
  }                                                                                                            \
  GDRKIT_NVSHMEM_BOTH void nvshmem_##name##_atomic_set(type* target, type value, int pe) {                     \
    nvshmem_##name##_p(target, value, pe);                                                                     \
  }                                                                                                            \
  GDRKIT_NVSHMEM_BOTH type nvshmem_##name##_atomic_swap(type* target, type value, int pe) {                    \
    return GDRKIT_NVSHMEM_SPLIT(gdrkit_nvshmem_##name##_swap(target, value, pe),                               \
                                ::gdrkit::shmem::detail::swap_value(GDRKIT_NVSHMEM_STATE, target, value, pe)); \
  }

GDRKIT_NVSHMEM_FOR_EACH_WORD(GDRKIT_NVSHMEM_STANDARD_ATOMICS)
GDRKIT_NVSHMEM_EXTENDED_ATOMICS(float, float)
GDRKIT_NVSHMEM_EXTENDED_ATOMICS(double, double)
GDRKIT_NVSHMEM_SUMS(float, float)
GDRKIT_NVSHMEM_SUMS(double, double)
GDRKIT_NVSHMEM_FOR_EACH_HALF(GDRKIT_NVSHMEM_HALF_ATOMICS)

#undef GDRKIT_NVSHMEM_HALF_ATOMICS
#undef GDRKIT_NVSHMEM_SUMS
#undef GDRKIT_NVSHMEM_CHANGED_fetch_add
#undef GDRKIT_NVSHMEM_CHANGED_swap
#undef GDRKIT_NVSHMEM_HOST_CHANGE
#undef GDRKIT_NVSHMEM_STANDARD_ATOMICS
#undef GDRKIT_NVSHMEM_COMMA
#undef GDRKIT_NVSHMEM_UPDATE
#undef GDRKIT_NVSHMEM_EXTENDED_ATOMICS
#undef GDRKIT_NVSHMEM_BITS

#endif
