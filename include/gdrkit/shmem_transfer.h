/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Puts, gets, signals and their ordering. Included by gdrkit/shmem.h.
 */
#ifndef GDRKIT_SHMEM_TRANSFER_H
#define GDRKIT_SHMEM_TRANSFER_H

#include <gdrkit/shmem_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @defgroup shmem_transfer Puts, gets and signals
 * @ingroup shmem
 * @brief One-sided transfers by the CPU, and their ordering.
 *
 * Addresses may have any alignment. A transfer of size 0 moves no data; put_signal still updates the word. The next
 * gdrkit_shmem_quiet() or gdrkit_shmem_barrier_all() reports errors of the target PE that occur after a call has
 * returned.
 *
 * @code{.c}
 * #include <gdrkit/shmem.h>
 *
 * // Puts two rows to `pe`, then sets its signal word. A PE that observes 1 in the word also observes both rows.
 * int send(float* rows, const float* mine, uint64_t* signal, int pe) {
 *   int result = gdrkit_shmem_float_put_nbi(rows, mine, 100, pe);
 *   if (result == 0) result = gdrkit_shmem_fence(); // orders the first row before the signal
 *   if (result == 0) {
 *     result = gdrkit_shmem_put_signal(rows + 100, mine + 100, 100 * sizeof(float), signal, 1,
 *                                      GDRKIT_SHMEM_SIGNAL_SET, pe);
 *   }
 *   return result == 0 ? gdrkit_shmem_quiet() : result; // `mine` may be reused now
 * }
 * @endcode
 * @{
 */

/**
 * @brief Copies local data to another PE's copy of an object.
 * @param[out] target Symmetric address in the caller's heap.
 * @param[in] source Local data. May be reused when the call returns.
 * @param[in] size_bytes Size in bytes.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @return 0 on success.
 *   - `-EINVAL`: `pe` is out of range, the target range is not in one symmetric object, or `source` is NULL.
 *   - `-ECONNRESET`, `-ETIMEDOUT`: `pe` is on another node, and has ended or did not respond.
 *   - See also @ref shmem_errors.
 * @note The data is visible at the target after gdrkit_shmem_quiet().
 */
int gdrkit_shmem_put(void* target, const void* source, size_t size_bytes, int pe);

/**
 * @brief Copies data from another PE's copy of an object to local memory.
 * @param[out] target Local memory. It holds the data when the call returns.
 * @param[in] source Symmetric address in the caller's heap.
 * @param[in] size_bytes Size in bytes.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @return 0, or an error of gdrkit_shmem_put(), with the roles of `target` and `source` exchanged.
 */
int gdrkit_shmem_get(void* target, const void* source, size_t size_bytes, int pe);

/**
 * @brief Starts a put. It is complete after gdrkit_shmem_quiet().
 * @param[out] target Symmetric address in the caller's heap.
 * @param[in] source Local data. It must not change before gdrkit_shmem_quiet().
 * @param[in] size_bytes Size in bytes.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @return 0, or an error of gdrkit_shmem_put().
 */
int gdrkit_shmem_put_nbi(void* target, const void* source, size_t size_bytes, int pe);

/**
 * @brief Starts a get. It is complete after gdrkit_shmem_quiet().
 * @param[out] target Local memory. Its contents are undefined until gdrkit_shmem_quiet().
 * @param[in] source Symmetric address in the caller's heap.
 * @param[in] size_bytes Size in bytes.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @return 0, or an error of gdrkit_shmem_put(), with the roles of `target` and `source` exchanged.
 */
int gdrkit_shmem_get_nbi(void* target, const void* source, size_t size_bytes, int pe);

/**
 * @brief Puts data, then updates a signal word at the same PE.
 * @param[out] target Symmetric address in the caller's heap.
 * @param[in] source Local data. May be reused when the call returns.
 * @param[in] size_bytes Size of the data in bytes. With 0, only the signal is sent.
 * @param[in,out] signal Symmetric address of the word, aligned to 8 bytes.
 * @param[in] value Operand of the signal.
 * @param[in] operation How the signal changes the word.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @return 0, or an error of gdrkit_shmem_put().
 *   - `-EINVAL`: also for an invalid signal word or operation.
 * @note A PE that observes the new value of the word also observes the data.
 */
int gdrkit_shmem_put_signal(void* target, const void* source, size_t size_bytes, uint64_t* signal, uint64_t value,
                            enum gdrkit_shmem_signal operation, int pe);

/**
 * @brief Starts a put with a signal. It is complete after gdrkit_shmem_quiet().
 * @param[out] target Symmetric address in the caller's heap.
 * @param[in] source Local data. It must not change before gdrkit_shmem_quiet().
 * @param[in] size_bytes Size of the data in bytes. With 0, only the signal is sent.
 * @param[in,out] signal Symmetric address of the word, aligned to 8 bytes.
 * @param[in] value Operand of the signal.
 * @param[in] operation How the signal changes the word.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @return 0, or an error of gdrkit_shmem_put_signal().
 * @note A PE that observes the new value of the word also observes the data.
 */
int gdrkit_shmem_put_signal_nbi(void* target, const void* source, size_t size_bytes, uint64_t* signal, uint64_t value,
                                enum gdrkit_shmem_signal operation, int pe);

/**
 * @brief Updates a signal word of another PE.
 * @param[in,out] signal Symmetric address of the word, aligned to 8 bytes.
 * @param[in] value Operand of the signal.
 * @param[in] operation How the signal changes the word.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @return 0, or an error of gdrkit_shmem_put_signal().
 * @note A PE that observes the new value also observes puts to that PE that a fence orders before the signal.
 */
int gdrkit_shmem_signal_op(uint64_t* signal, uint64_t value, enum gdrkit_shmem_signal operation, int pe);

/**
 * @brief Loads a signal word of the calling PE.
 * @param[in] signal Address of the word in the caller's heap, aligned to 8 bytes.
 * @param[out] value Value of the word.
 * @return 0, or an error of @ref shmem_errors.
 * @note If the call returns the value written by a signal, the data of the same put_signal is visible to this PE.
 *   So are earlier puts of the sender that a fence orders before the signal.
 */
int gdrkit_shmem_signal_fetch(const uint64_t* signal, uint64_t* value);

/**
 * @brief Orders this PE's earlier puts to each PE before its later puts to the same PE.
 *
 * Does not complete outstanding puts.
 * @return 0, or an error of @ref shmem_errors.
 * @note Does not apply to operations on streams.
 */
int gdrkit_shmem_fence(void);

/**
 * @brief Waits until earlier puts, gets and atomic operations of this PE are complete and visible to every PE.
 * @return 0 on success.
 *   - `-ETIMEDOUT`, `-ECONNRESET`: an operation did not complete, or a wait of a GPU kernel or a stream failed since
 *     the last report.
 *   - See also @ref shmem_errors.
 * @note Does not complete operations on streams.
 */
int gdrkit_shmem_quiet(void);

#ifdef GDRKIT_DOXYGEN
/**
 * @brief Puts elements of a type. See gdrkit_shmem_put().
 *
 * One such function exists for each type in GDRKIT_SHMEM_FOR_EACH_TYPE.
 * @param[out] target Symmetric address in the caller's heap.
 * @param[in] source Local elements. May be reused when the call returns.
 * @param[in] count Number of elements.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @return 0, or an error of gdrkit_shmem_put(). `-EINVAL` also if the size exceeds SIZE_MAX.
 */
static inline int gdrkit_shmem_TYPENAME_put(TYPE* target, const TYPE* source, size_t count, int pe);
/**
 * @brief Gets elements of a type. See gdrkit_shmem_get().
 *
 * One such function exists for each type in GDRKIT_SHMEM_FOR_EACH_TYPE.
 * @param[out] target Local memory.
 * @param[in] source Symmetric address in the caller's heap.
 * @param[in] count Number of elements.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @return 0, or an error of gdrkit_shmem_get(). `-EINVAL` also if the size exceeds SIZE_MAX.
 */
static inline int gdrkit_shmem_TYPENAME_get(TYPE* target, const TYPE* source, size_t count, int pe);
/**
 * @brief Starts a put of elements of one type. See gdrkit_shmem_put_nbi().
 * @param[out] target Symmetric address in the caller's heap.
 * @param[in] source Local elements. They must not change before gdrkit_shmem_quiet().
 * @param[in] count Number of elements.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @return 0, or an error of gdrkit_shmem_put_nbi(). `-EINVAL` also if the size exceeds SIZE_MAX.
 */
static inline int gdrkit_shmem_TYPENAME_put_nbi(TYPE* target, const TYPE* source, size_t count, int pe);
/**
 * @brief Starts a get of elements of one type. See gdrkit_shmem_get_nbi().
 * @param[out] target Local memory. Its contents are undefined until gdrkit_shmem_quiet().
 * @param[in] source Symmetric address in the caller's heap.
 * @param[in] count Number of elements.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @return 0, or an error of gdrkit_shmem_get_nbi(). `-EINVAL` also if the size exceeds SIZE_MAX.
 */
static inline int gdrkit_shmem_TYPENAME_get_nbi(TYPE* target, const TYPE* source, size_t count, int pe);
/**
 * @brief Puts one value. See gdrkit_shmem_put().
 * @param[out] target Symmetric address in the caller's heap.
 * @param[in] value The value.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @return 0, or an error of gdrkit_shmem_put().
 */
static inline int gdrkit_shmem_TYPENAME_p(TYPE* target, TYPE value, int pe);
/**
 * @brief Gets one value. See gdrkit_shmem_get().
 * @param[in] source Symmetric address in the caller's heap.
 * @param[out] value The value.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @return 0, or an error of gdrkit_shmem_get().
 */
static inline int gdrkit_shmem_TYPENAME_g(const TYPE* source, TYPE* value, int pe);
#else
#define GDRKIT_SHMEM_DEFINE_COPY(name, type, operation)                                                         \
  static inline int gdrkit_shmem_##name##_##operation(type* target, const type* source, size_t count, int pe) { \
    if (count > SIZE_MAX / sizeof(type)) return -EINVAL;                                                        \
    return gdrkit_shmem_##operation(target, source, count * sizeof(type), pe);                                  \
  }
#define GDRKIT_SHMEM_DEFINE_TRANSFERS(name, type)                                      \
  GDRKIT_SHMEM_DEFINE_COPY(name, type, put)                                            \
  GDRKIT_SHMEM_DEFINE_COPY(name, type, get)                                            \
  GDRKIT_SHMEM_DEFINE_COPY(name, type, put_nbi)                                        \
  GDRKIT_SHMEM_DEFINE_COPY(name, type, get_nbi)                                        \
  static inline int gdrkit_shmem_##name##_p(type* target, type value, int pe) {        \
    return gdrkit_shmem_put(target, &value, sizeof value, pe);                         \
  }                                                                                    \
  static inline int gdrkit_shmem_##name##_g(const type* source, type* value, int pe) { \
    return gdrkit_shmem_get(value, source, sizeof *value, pe);                         \
  }
GDRKIT_SHMEM_FOR_EACH_TYPE(GDRKIT_SHMEM_DEFINE_TRANSFERS)
#undef GDRKIT_SHMEM_DEFINE_TRANSFERS
#undef GDRKIT_SHMEM_DEFINE_COPY
#endif

/** @} */

#ifdef __cplusplus
}
#endif
#endif
