/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Waits for words of the caller's heap. Included by gdrkit/shmem.h.
 */
#ifndef GDRKIT_SHMEM_WAIT_H
#define GDRKIT_SHMEM_WAIT_H

#include <gdrkit/shmem_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @defgroup shmem_wait Waits and tests
 * @ingroup shmem
 * @brief Functions that wait for, or test, words of the calling PE that other PEs write.
 *
 * If a wait or a test observes the value written by a signal, the data of the same put_signal is visible to this PE. So
 * are earlier puts of the sender that a fence orders before the signal.
 *
 * @code{.c}
 * #include <gdrkit/shmem.h>
 *
 * // Handles one message that has arrived; called until it returns -ENODATA. done[i] is nonzero for a handled sender.
 * int handle_next(const uint64_t* arrived, size_t n, int* done, size_t* sender) {
 *   const uint64_t one = 1;
 *   const struct gdrkit_shmem_words words = {arrived, n, GDRKIT_SHMEM_UINT64, GDRKIT_SHMEM_EQ, &one, 1, done};
 *   const int result = gdrkit_shmem_wait_until_any(&words, sender);
 *   if (result == 0) done[*sender] = 1;
 *   return result; // -ENODATA: all senders are handled
 * }
 * @endcode
 * @{
 */

/** @brief Adjacent words of the calling PE, and the comparison of each. */
struct gdrkit_shmem_words {
  const void* address;                     /**< Address of the first word in the caller's heap, naturally aligned. */
  size_t count;                            /**< Number of words. */
  enum gdrkit_shmem_word word;             /**< Type of each word. */
  enum gdrkit_shmem_comparison comparison; /**< Comparison of each word with its value. */
  const uint64_t* values;                  /**< Values; signed values are passed sign-extended to 64 bits. */
  size_t n_values;                         /**< 1: one value for all words. `count`: one value per word. */
  const int* skip;                         /**< NULL, or `count` entries: words whose entry is nonzero are ignored. */
};

/**
 * @brief Waits until a signal word of the calling PE satisfies a comparison.
 * @param[in] signal Address of the word in the caller's heap, aligned to 8 bytes.
 * @param[in] comparison The comparison, of unsigned numbers.
 * @param[in] value Right operand of the comparison.
 * @param[out] seen Value of the word that satisfied the comparison. May be NULL.
 * @return 0 on success.
 *   - `-EINVAL`, `-ETIMEDOUT`, `-ECONNRESET`: see @ref shmem_errors.
 */
int gdrkit_shmem_signal_wait_until(const uint64_t* signal, enum gdrkit_shmem_comparison comparison, uint64_t value,
                                   uint64_t* seen);

/**
 * @brief Waits until a word of the calling PE satisfies a comparison.
 * @param[in] address Address of the word in the caller's heap, naturally aligned.
 * @param[in] word Type of the word.
 * @param[in] comparison The comparison; signed or unsigned according to `word`.
 * @param[in] value Right operand of the comparison; a signed value is passed sign-extended to 64 bits.
 * @return 0 on success.
 *   - `-EINVAL`, `-ETIMEDOUT`, `-ECONNRESET`: see @ref shmem_errors.
 */
int gdrkit_shmem_wait_until(const void* address, enum gdrkit_shmem_word word, enum gdrkit_shmem_comparison comparison,
                            uint64_t value);

/**
 * @brief Tests whether a word of the calling PE satisfies a comparison.
 * @param[in] address Address of the word in the caller's heap, naturally aligned.
 * @param[in] word Type of the word.
 * @param[in] comparison The comparison; signed or unsigned according to `word`.
 * @param[in] value Right operand of the comparison; a signed value is passed sign-extended to 64 bits.
 * @return 1 if it does, 0 if not, or an error of @ref shmem_errors.
 */
int gdrkit_shmem_test(const void* address, enum gdrkit_shmem_word word, enum gdrkit_shmem_comparison comparison,
                      uint64_t value);

/**
 * @brief Waits until every word has satisfied its comparison at least once.
 *
 * The words need not satisfy it at the same time. Returns at once if all words are skipped.
 * @param[in] words The words.
 * @return 0 on success.
 *   - `-EINVAL`: also if `n_values` is neither 1 nor `count`.
 *   - `-ETIMEDOUT`, `-ECONNRESET`: see @ref shmem_errors.
 */
int gdrkit_shmem_wait_until_all(const struct gdrkit_shmem_words* words);

/**
 * @brief Waits until a word satisfies its comparison, and stores its index.
 *
 * If several words do, successive calls choose different ones, so that a word that stays satisfied does not hide the
 * others.
 * @param[in] words The words.
 * @param[out] index Index of the word. May be NULL.
 * @return 0 on success.
 *   - `-ENODATA`: all words are skipped, or `count` is 0.
 *   - An error of gdrkit_shmem_wait_until_all().
 */
int gdrkit_shmem_wait_until_any(const struct gdrkit_shmem_words* words, size_t* index);

/**
 * @brief Waits until a word satisfies its comparison, and stores the indices of all words that do.
 *
 * Returns at once, with no index, if all words are skipped.
 * @param[in] words The words.
 * @param[out] indices Indices of the words, ascending. The array must have room for `count` entries.
 * @param[out] n_found Number of indices.
 * @return 0, or an error of gdrkit_shmem_wait_until_all().
 *   - `-EINVAL`: also if an output is NULL.
 */
int gdrkit_shmem_wait_until_some(const struct gdrkit_shmem_words* words, size_t* indices, size_t* n_found);

/**
 * @brief Tests whether every word satisfies its comparison.
 * @param[in] words The words.
 * @return 1 if all do or all are skipped, 0 if not, or an error of @ref shmem_errors.
 */
int gdrkit_shmem_test_all(const struct gdrkit_shmem_words* words);

/**
 * @brief Tests whether a word satisfies its comparison, and stores its index.
 *
 * If several words do, successive calls choose different ones, so that a word that stays satisfied does not hide the
 * others.
 * @param[in] words The words.
 * @param[out] index Index of the word, set if the function returns 1. May be NULL.
 * @return 1 if a word does, 0 if not, or an error of @ref shmem_errors.
 */
int gdrkit_shmem_test_any(const struct gdrkit_shmem_words* words, size_t* index);

/**
 * @brief Stores the indices of the words that satisfy their comparison.
 * @param[in] words The words.
 * @param[out] indices Indices of the words, ascending. The array must have room for `count` entries.
 * @param[out] n_found Number of indices.
 * @return 0, or an error of @ref shmem_errors.
 */
int gdrkit_shmem_test_some(const struct gdrkit_shmem_words* words, size_t* indices, size_t* n_found);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
