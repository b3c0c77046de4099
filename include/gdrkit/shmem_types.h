/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Constants and lists of types that several parts of gdrkit shmem use. Included by gdrkit/shmem.h.
 */
#ifndef GDRKIT_SHMEM_TYPES_H
#define GDRKIT_SHMEM_TYPES_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

/**
 * @defgroup shmem_types Constants and types
 * @ingroup shmem
 * @brief Comparisons, signals, kinds of words, and the types of typed functions.
 * @{
 */

/* GDRKIT_SHMEM_IS_INT: other languages and casts may pass any int, and functions check it. So the type of each enum
 * must hold every int. GDRKIT_SHMEM_CAST: a conversion for which neither C nor C++ compilers print a warning. */
/** @cond INTERNAL */
#ifdef __cplusplus
#define GDRKIT_SHMEM_IS_INT : int
#define GDRKIT_SHMEM_CAST(type, value) static_cast<type>(value)
#else
#define GDRKIT_SHMEM_IS_INT
#define GDRKIT_SHMEM_CAST(type, value) ((type)(value))
#endif
/** @endcond */

/** @brief How a word is compared with a value. */
enum gdrkit_shmem_comparison GDRKIT_SHMEM_IS_INT {
  GDRKIT_SHMEM_EQ = 0, /**< word == value */
  GDRKIT_SHMEM_NE = 1, /**< word != value */
  GDRKIT_SHMEM_GT = 2, /**< word > value */
  GDRKIT_SHMEM_LE = 3, /**< word <= value */
  GDRKIT_SHMEM_LT = 4, /**< word < value */
  GDRKIT_SHMEM_GE = 5  /**< word >= value */
};

/** @brief How a signal changes its 64-bit word. */
enum gdrkit_shmem_signal GDRKIT_SHMEM_IS_INT {
  GDRKIT_SHMEM_SIGNAL_SET = 9, /**< word = value, as one 8-byte store */
  GDRKIT_SHMEM_SIGNAL_ADD = 10 /**< word += value, atomically */
};

/** @brief Type of a word for waits and tests. The value is its size in bytes, negated for signed types. */
enum gdrkit_shmem_word GDRKIT_SHMEM_IS_INT {
  GDRKIT_SHMEM_UINT16 = 2, /**< unsigned, 2 bytes */
  GDRKIT_SHMEM_UINT32 = 4, /**< unsigned, 4 bytes */
  GDRKIT_SHMEM_UINT64 = 8, /**< unsigned, 8 bytes */
  GDRKIT_SHMEM_INT16 = -2, /**< signed, 2 bytes */
  GDRKIT_SHMEM_INT32 = -4, /**< signed, 4 bytes */
  GDRKIT_SHMEM_INT64 = -8  /**< signed, 8 bytes */
};

/**
 * @brief Expands `X(TYPENAME, TYPE)` for each type that has typed functions.
 *
 * `TYPENAME` in the documentation of a typed function stands for the first argument of `X`: for `long`,
 * gdrkit_shmem_TYPENAME_put() is `gdrkit_shmem_long_put`.
 */
/* clang-format off */
#define GDRKIT_SHMEM_FOR_EACH_TYPE(X)                                                                            \
  X(float, float) X(double, double) X(char, char) X(schar, signed char) X(uchar, unsigned char)                  \
  X(short, short) X(ushort, unsigned short) X(int, int) X(uint, unsigned) X(long, long) X(ulong, unsigned long)  \
  X(longlong, long long) X(ulonglong, unsigned long long) X(int8, int8_t) X(uint8, uint8_t)                      \
  X(int16, int16_t) X(uint16, uint16_t) X(int32, int32_t) X(uint32, uint32_t) X(int64, int64_t)                  \
  X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
/* clang-format on */

/** @} */

#endif
