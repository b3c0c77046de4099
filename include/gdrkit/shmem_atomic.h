/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Atomic operations by the CPU. Included by gdrkit/shmem.h.
 */
#ifndef GDRKIT_SHMEM_ATOMIC_H
#define GDRKIT_SHMEM_ATOMIC_H

#include <gdrkit/shmem_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @defgroup shmem_atomic Atomic operations
 * @ingroup shmem
 * @brief Atomic operations on words of other PEs.
 *
 * @code{.c}
 * #include <gdrkit/shmem.h>
 *
 * // Returns a number that no other caller gets. `counter` is symmetric; PE 0's copy is used.
 * int take_number(uint64_t* counter, uint64_t* number) {
 *   return gdrkit_shmem_atomic(counter, sizeof *counter, GDRKIT_SHMEM_ATOMIC_ADD, 1, 0, number, 0);
 * }
 * @endcode
 * @{
 */

/** @brief Operation of gdrkit_shmem_atomic(). */
enum gdrkit_shmem_atomic_operation GDRKIT_SHMEM_IS_INT {
  GDRKIT_SHMEM_ATOMIC_FETCH = 0,        /**< Load the word. */
  GDRKIT_SHMEM_ATOMIC_SET = 1,          /**< word = operand */
  GDRKIT_SHMEM_ATOMIC_ADD = 2,          /**< word += operand */
  GDRKIT_SHMEM_ATOMIC_SWAP = 3,         /**< word = operand */
  GDRKIT_SHMEM_ATOMIC_COMPARE_SWAP = 4, /**< word = operand if word == compare */
  GDRKIT_SHMEM_ATOMIC_AND = 5,          /**< word &= operand */
  GDRKIT_SHMEM_ATOMIC_OR = 6,           /**< word |= operand */
  GDRKIT_SHMEM_ATOMIC_XOR = 7           /**< word ^= operand */
};

#ifndef __CUDACC_RTC__ /* NVRTC rejects functions of the host */
/**
 * @brief Performs an atomic operation on a word of another PE.
 *
 * FETCH and SET are a load and a store. The GPU performs all other operations.
 * @param[in,out] target Symmetric address of the word, naturally aligned.
 * @param[in] size_bytes Size of the word: 4 or 8 bytes.
 * @param[in] operation The operation.
 * @param[in] operand Operand. Ignored by FETCH.
 * @param[in] compare Value that COMPARE_SWAP compares with. Ignored by other operations.
 * @param[out] fetched Value of the word before the operation. If it is NULL, the call may return before the operation
 *   is complete.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @return 0 on success.
 *   - `-EINVAL`: the operation, the size, the alignment, the address or `pe` is invalid.
 *   - `-ECONNRESET`, `-ETIMEDOUT`: `pe` is on another node, and has ended or did not respond.
 *   - See also @ref shmem_errors.
 * @note Atomic with respect to other calls and to system-scope atomic operations of GPU kernels, but not to puts.
 */
int gdrkit_shmem_atomic(void* target, size_t size_bytes, enum gdrkit_shmem_atomic_operation operation, uint64_t operand,
                        uint64_t compare, uint64_t* fetched, int pe);

#endif

/** @} */

#ifdef __cplusplus
}
#endif
#endif
