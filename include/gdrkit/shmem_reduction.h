/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Collectives that reduce data: reduce and reducescatter. Included by gdrkit/shmem_collectives.h.
 */
#ifndef GDRKIT_SHMEM_REDUCTION_H
#define GDRKIT_SHMEM_REDUCTION_H

#include <gdrkit/shmem_team.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @addtogroup shmem_collectives
 * @{
 */

/**
 * @brief Type of the elements of a reduction.
 *
 * The value is the size in bytes, plus 16 for signed types, 48 for floating-point types and 112 for bfloat16.
 */
enum gdrkit_shmem_type GDRKIT_SHMEM_IS_INT {
  GDRKIT_SHMEM_TYPE_UINT8 = 1,                  /**< uint8_t */
  GDRKIT_SHMEM_TYPE_UINT16 = 2,                 /**< uint16_t */
  GDRKIT_SHMEM_TYPE_UINT32 = 4,                 /**< uint32_t */
  GDRKIT_SHMEM_TYPE_UINT64 = 8,                 /**< uint64_t */
  GDRKIT_SHMEM_TYPE_INT8 = 16 + 1,              /**< int8_t */
  GDRKIT_SHMEM_TYPE_INT16 = 16 + 2,             /**< int16_t */
  GDRKIT_SHMEM_TYPE_INT32 = 16 + 4,             /**< int32_t */
  GDRKIT_SHMEM_TYPE_INT64 = 16 + 8,             /**< int64_t */
  GDRKIT_SHMEM_TYPE_HALF = 32 + 16 + 2,         /**< IEEE 754 binary16 (CUDA's __half) */
  GDRKIT_SHMEM_TYPE_FLOAT = 32 + 16 + 4,        /**< float */
  GDRKIT_SHMEM_TYPE_DOUBLE = 32 + 16 + 8,       /**< double */
  GDRKIT_SHMEM_TYPE_BFLOAT16 = 64 + 32 + 16 + 2 /**< bfloat16 (CUDA's __nv_bfloat16) */
};

/** @brief Operation of a reduction. */
enum gdrkit_shmem_reduction GDRKIT_SHMEM_IS_INT {
  GDRKIT_SHMEM_SUM = 0,  /**< Sum. */
  GDRKIT_SHMEM_PROD = 1, /**< Product. */
  GDRKIT_SHMEM_MIN = 2,  /**< Minimum. */
  GDRKIT_SHMEM_MAX = 3,  /**< Maximum. */
  GDRKIT_SHMEM_AND = 4,  /**< Bitwise and; integers only. */
  GDRKIT_SHMEM_OR = 5,   /**< Bitwise or; integers only. */
  GDRKIT_SHMEM_XOR = 6   /**< Bitwise exclusive or; integers only. */
};

#ifndef __CUDACC_RTC__ /* NVRTC rejects functions of the host */
/**
 * @brief Reduces element i of all sources to element i of every target. The results are bitwise identical on all PEs.
 * @param[in] team The team.
 * @param[in] type Type of the elements.
 * @param[in] reduction The operation.
 * @param[out] target Symmetric memory of `count` elements, naturally aligned.
 * @param[in] source Symmetric memory of `count` elements, naturally aligned.
 * @param[in] count Number of elements.
 * @return 0, or an error of gdrkit_shmem_broadcast().
 *   - `-EINVAL`: also for an invalid type or reduction, and for AND, OR and XOR of floating-point types.
 * @note Collective over `team`.
 */
int gdrkit_shmem_reduce(gdrkit_shmem_team_t team, enum gdrkit_shmem_type type, enum gdrkit_shmem_reduction reduction,
                        void* target, const void* source, size_t count);
/**
 * @brief Performs gdrkit_shmem_reduce() in the order of a stream.
 * @param[in] team The team.
 * @param[in] type Type of the elements.
 * @param[in] reduction The operation.
 * @param[out] target Symmetric memory of `count` elements, naturally aligned.
 * @param[in] source Symmetric memory of `count` elements, naturally aligned.
 * @param[in] count Number of elements.
 * @param[in] stream Stream of the PE's GPU, or NULL for the legacy default stream.
 * @return 0, or an error of gdrkit_shmem_reduce().
 * @note Collective over `team`.
 */
int gdrkit_shmem_reduce_on_stream(gdrkit_shmem_team_t team, enum gdrkit_shmem_type type,
                                  enum gdrkit_shmem_reduction reduction, void* target, const void* source, size_t count,
                                  void* stream);

/**
 * @brief Reduces the sources of all PEs, and stores part i of the result in PE i's target.
 * @param[in] team The team.
 * @param[in] type Type of the elements.
 * @param[in] reduction The operation.
 * @param[out] target Symmetric memory of `count` elements, naturally aligned.
 * @param[in] source Symmetric memory of `count` elements per PE, naturally aligned.
 * @param[in] count Number of elements of one part.
 * @return 0, or an error of gdrkit_shmem_reduce().
 * @note Collective over `team`.
 */
int gdrkit_shmem_reducescatter(gdrkit_shmem_team_t team, enum gdrkit_shmem_type type,
                               enum gdrkit_shmem_reduction reduction, void* target, const void* source, size_t count);
/**
 * @brief Performs gdrkit_shmem_reducescatter() in the order of a stream.
 * @param[in] team The team.
 * @param[in] type Type of the elements.
 * @param[in] reduction The operation.
 * @param[out] target Symmetric memory of `count` elements, naturally aligned.
 * @param[in] source Symmetric memory of `count` elements per PE, naturally aligned.
 * @param[in] count Number of elements of one part.
 * @param[in] stream Stream of the PE's GPU, or NULL for the legacy default stream.
 * @return 0, or an error of gdrkit_shmem_reduce().
 * @note Collective over `team`.
 */
int gdrkit_shmem_reducescatter_on_stream(gdrkit_shmem_team_t team, enum gdrkit_shmem_type type,
                                         enum gdrkit_shmem_reduction reduction, void* target, const void* source,
                                         size_t count, void* stream);

/** @brief Returns the enum gdrkit_shmem_type of an arithmetic C type. */
#define GDRKIT_SHMEM_TYPE_OF(type)                                                                         \
  GDRKIT_SHMEM_CAST(enum gdrkit_shmem_type,                                                                \
                    sizeof(type) | (GDRKIT_SHMEM_CAST(type, -1) > GDRKIT_SHMEM_CAST(type, 0) ? 0U : 16U) | \
                        (GDRKIT_SHMEM_CAST(type, 0.5) > GDRKIT_SHMEM_CAST(type, 0) ? 32U : 0U))

#ifdef GDRKIT_DOXYGEN
/**
 * @brief Calls gdrkit_shmem_reduce() with elements of one type.
 *
 * One such function exists for each type in GDRKIT_SHMEM_FOR_EACH_TYPE and for each `REDUCTION`: `sum`, `prod`, `min`,
 * `max`, `and`, `or`, `xor`.
 * @param[in] team The team.
 * @param[out] target Symmetric memory.
 * @param[in] source Symmetric memory.
 * @param[in] count Number of elements of the source.
 * @return 0, or an error of gdrkit_shmem_reduce().
 * @note Collective over `team`.
 */
static inline int gdrkit_shmem_TYPENAME_REDUCTION_reduce(gdrkit_shmem_team_t team, TYPE* target, const TYPE* source,
                                                         size_t count);
/**
 * @brief Calls gdrkit_shmem_reduce_on_stream() with elements of one type.
 *
 * One such function exists for each type in GDRKIT_SHMEM_FOR_EACH_TYPE and for each `REDUCTION`: `sum`, `prod`, `min`,
 * `max`, `and`, `or`, `xor`.
 * @param[in] team The team.
 * @param[out] target Symmetric memory.
 * @param[in] source Symmetric memory.
 * @param[in] count Number of elements of the source.
 * @param[in] stream Stream of the PE's GPU, or NULL for the legacy default stream.
 * @return 0, or an error of gdrkit_shmem_reduce().
 * @note Collective over `team`.
 */
static inline int gdrkit_shmem_TYPENAME_REDUCTION_reduce_on_stream(gdrkit_shmem_team_t team, TYPE* target,
                                                                   const TYPE* source, size_t count, void* stream);
/**
 * @brief Calls gdrkit_shmem_reducescatter() with elements of one type.
 *
 * One such function exists for each type in GDRKIT_SHMEM_FOR_EACH_TYPE and for each `REDUCTION`: `sum`, `prod`, `min`,
 * `max`, `and`, `or`, `xor`.
 * @param[in] team The team.
 * @param[out] target Symmetric memory.
 * @param[in] source Symmetric memory.
 * @param[in] count Number of elements of one part.
 * @return 0, or an error of gdrkit_shmem_reducescatter().
 * @note Collective over `team`.
 */
static inline int gdrkit_shmem_TYPENAME_REDUCTION_reducescatter(gdrkit_shmem_team_t team, TYPE* target,
                                                                const TYPE* source, size_t count);
/**
 * @brief Calls gdrkit_shmem_reducescatter_on_stream() with elements of one type.
 *
 * One such function exists for each type in GDRKIT_SHMEM_FOR_EACH_TYPE and for each `REDUCTION`: `sum`, `prod`, `min`,
 * `max`, `and`, `or`, `xor`.
 * @param[in] team The team.
 * @param[out] target Symmetric memory.
 * @param[in] source Symmetric memory.
 * @param[in] count Number of elements of one part.
 * @param[in] stream Stream of the PE's GPU, or NULL for the legacy default stream.
 * @return 0, or an error of gdrkit_shmem_reducescatter().
 * @note Collective over `team`.
 */
static inline int gdrkit_shmem_TYPENAME_REDUCTION_reducescatter_on_stream(gdrkit_shmem_team_t team, TYPE* target,
                                                                          const TYPE* source, size_t count,
                                                                          void* stream);
#else
/* clang-format off */
#define GDRKIT_SHMEM_FOR_EACH_REDUCTION(X, name, type)                                                        \
  X(name, type, sum, GDRKIT_SHMEM_SUM) X(name, type, prod, GDRKIT_SHMEM_PROD) X(name, type, min, GDRKIT_SHMEM_MIN) \
  X(name, type, max, GDRKIT_SHMEM_MAX) X(name, type, and, GDRKIT_SHMEM_AND) X(name, type, or, GDRKIT_SHMEM_OR)     \
  X(name, type, xor, GDRKIT_SHMEM_XOR)
/* clang-format on */

#define GDRKIT_SHMEM_DEFINE_REDUCTION(name, type, reduction, number)                                               \
  static inline int gdrkit_shmem_##name##_##reduction##_reduce(gdrkit_shmem_team_t team, type* target,             \
                                                               const type* source, size_t count) {                 \
    return gdrkit_shmem_reduce(team, GDRKIT_SHMEM_TYPE_OF(type), number, target, source, count);                   \
  }                                                                                                                \
  static inline int gdrkit_shmem_##name##_##reduction##_reduce_on_stream(                                          \
      gdrkit_shmem_team_t team, type* target, const type* source, size_t count, void* stream) {                    \
    return gdrkit_shmem_reduce_on_stream(team, GDRKIT_SHMEM_TYPE_OF(type), number, target, source, count, stream); \
  }                                                                                                                \
  static inline int gdrkit_shmem_##name##_##reduction##_reducescatter(gdrkit_shmem_team_t team, type* target,      \
                                                                      const type* source, size_t count) {          \
    return gdrkit_shmem_reducescatter(team, GDRKIT_SHMEM_TYPE_OF(type), number, target, source, count);            \
  }                                                                                                                \
  static inline int gdrkit_shmem_##name##_##reduction##_reducescatter_on_stream(                                   \
      gdrkit_shmem_team_t team, type* target, const type* source, size_t count, void* stream) {                    \
    return gdrkit_shmem_reducescatter_on_stream(team, GDRKIT_SHMEM_TYPE_OF(type), number, target, source, count,   \
                                                stream);                                                           \
  }
#define GDRKIT_SHMEM_DEFINE_REDUCTIONS(name, type) \
  GDRKIT_SHMEM_FOR_EACH_REDUCTION(GDRKIT_SHMEM_DEFINE_REDUCTION, name, type)
GDRKIT_SHMEM_FOR_EACH_TYPE(GDRKIT_SHMEM_DEFINE_REDUCTIONS)
#undef GDRKIT_SHMEM_DEFINE_REDUCTIONS
#undef GDRKIT_SHMEM_DEFINE_REDUCTION
#endif

#endif

/** @} */

#ifdef __cplusplus
}
#endif
#endif
