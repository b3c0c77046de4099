/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Transfers, signals and waits in the order of a stream. Included by gdrkit/shmem.h.
 */
#ifndef GDRKIT_SHMEM_STREAM_H
#define GDRKIT_SHMEM_STREAM_H

#include <gdrkit/shmem_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @defgroup shmem_stream Operations on streams
 * @ingroup shmem
 * @brief Transfers, signals and waits in the order of a stream.
 *
 * `stream` is a stream of the PE's GPU: a CUstream or cudaStream_t; NULL is CUDA's legacy default stream. Each call
 * checks its arguments, adds work to the stream and returns. The GPU performs the work of a stream in order. A signal
 * is visible after all earlier work of its stream. The calls work under stream capture.
 *
 * A GPU cannot access the memory of PEs of other nodes. A call for such a PE waits for the stream, and the CPU performs
 * the operation before the call returns. Such a call cannot be captured. gdrkit_shmem_fence() and gdrkit_shmem_quiet()
 * do not apply to streams.
 *
 * @code{.c}
 * #include <gdrkit/shmem.h>
 *
 * // A GPU kernel that is launched on `stream` after this call reads the row that the previous PE put.
 * int exchange(float* row, const float* mine, uint64_t* signal, uint64_t step, int next, void* stream) {
 *   const int result = gdrkit_shmem_put_signal_on_stream(row, mine, 1000 * sizeof(float), signal, step,
 *                                                        GDRKIT_SHMEM_SIGNAL_SET, next, stream);
 *   return result != 0 ? result : gdrkit_shmem_signal_wait_until_on_stream(signal, GDRKIT_SHMEM_GE, step, stream);
 * }
 * @endcode
 * @{
 */

/**
 * @brief Puts data in the order of a stream.
 * @param[out] target Symmetric address in the caller's heap.
 * @param[in] source Local data. It must not change until the stream completes the put. Host memory that is not pinned
 *   may be read during the call.
 * @param[in] size_bytes Size in bytes.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @param[in] stream Stream of the PE's GPU.
 * @return 0 on success.
 *   - `-EINVAL`: `pe` is out of range, the target range is not in one symmetric object, or `source` is NULL.
 *   - `-ENOSYS`: the stream is being captured and `pe` is on another node.
 *   - See also @ref shmem_errors.
 */
int gdrkit_shmem_put_on_stream(void* target, const void* source, size_t size_bytes, int pe, void* stream);

/**
 * @brief Gets data in the order of a stream.
 * @param[out] target Local memory. Its contents are undefined until the stream completes the get.
 * @param[in] source Symmetric address in the caller's heap.
 * @param[in] size_bytes Size in bytes.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @param[in] stream Stream of the PE's GPU.
 * @return 0, or an error of gdrkit_shmem_put_on_stream().
 */
int gdrkit_shmem_get_on_stream(void* target, const void* source, size_t size_bytes, int pe, void* stream);

/**
 * @brief Puts a value in the order of a stream. The value is read during the call.
 * @param[out] target Symmetric address in the caller's heap.
 * @param[in] value Address of the value in host memory.
 * @param[in] size_bytes Size of the value in bytes, at most 1024.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @param[in] stream Stream of the PE's GPU.
 * @return 0, or an error of gdrkit_shmem_put_on_stream().
 *   - `-EINVAL`: also if `size_bytes` exceeds 1024.
 */
int gdrkit_shmem_put_value_on_stream(void* target, const void* value, size_t size_bytes, int pe, void* stream);

/**
 * @brief Puts data, then updates a signal word at the same PE, in the order of a stream.
 * @param[out] target Symmetric address in the caller's heap.
 * @param[in] source Local data, as for gdrkit_shmem_put_on_stream().
 * @param[in] size_bytes Size of the data in bytes. With 0, only the signal is sent.
 * @param[in,out] signal Symmetric address of the word, aligned to 8 bytes.
 * @param[in] value Operand of the signal.
 * @param[in] operation How the signal changes the word.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @param[in] stream Stream of the PE's GPU.
 * @return 0, or an error of gdrkit_shmem_put_on_stream().
 *   - `-EINVAL`: also for an invalid signal word or operation.
 */
int gdrkit_shmem_put_signal_on_stream(void* target, const void* source, size_t size_bytes, uint64_t* signal,
                                      uint64_t value, enum gdrkit_shmem_signal operation, int pe, void* stream);

/**
 * @brief Updates a signal word of another PE in the order of a stream.
 * @param[in,out] signal Symmetric address of the word, aligned to 8 bytes.
 * @param[in] value Operand of the signal.
 * @param[in] operation How the signal changes the word.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @param[in] stream Stream of the PE's GPU.
 * @return 0, or an error of gdrkit_shmem_put_signal_on_stream().
 */
int gdrkit_shmem_signal_op_on_stream(uint64_t* signal, uint64_t value, enum gdrkit_shmem_signal operation, int pe,
                                     void* stream);

/**
 * @brief Makes a stream wait until a word of the calling PE satisfies a comparison.
 *
 * The wait ends when the word satisfies the comparison, when the PE's limit (60 s if the PE has none) is exceeded, or
 * when a PE ends. In the last two cases, the stream continues and the next gdrkit_shmem_quiet(),
 * gdrkit_shmem_barrier_all() or gdrkit_shmem_stream_synchronize() returns `-ETIMEDOUT` or `-ECONNRESET`.
 * @param[in] address Address of the word in the caller's heap, naturally aligned.
 * @param[in] word Type of the word.
 * @param[in] comparison The comparison; signed or unsigned according to `word`.
 * @param[in] value Right operand of the comparison; a signed value is passed sign-extended to 64 bits.
 * @param[in] stream Stream of the PE's GPU.
 * @return 0 on success.
 *   - `-EINVAL`: an argument is invalid.
 *   - `-EAGAIN`: the thread that detects ended PEs cannot be started.
 *   - See also @ref shmem_errors.
 * @note The wait occupies one thread of the GPU. Streams that wait for each other must run at the same time.
 */
int gdrkit_shmem_wait_until_on_stream(const void* address, enum gdrkit_shmem_word word,
                                      enum gdrkit_shmem_comparison comparison, uint64_t value, void* stream);

/**
 * @brief Makes a stream wait until a signal word of the calling PE satisfies a comparison.
 * @param[in] signal Address of the word in the caller's heap, aligned to 8 bytes.
 * @param[in] comparison The comparison, of unsigned numbers.
 * @param[in] value Right operand of the comparison.
 * @param[in] stream Stream of the PE's GPU.
 * @return 0, or an error of gdrkit_shmem_wait_until_on_stream().
 */
int gdrkit_shmem_signal_wait_until_on_stream(const uint64_t* signal, enum gdrkit_shmem_comparison comparison,
                                             uint64_t value, void* stream);

/**
 * @brief Completes earlier puts, gets and signals of a stream, and the operations that gdrkit_shmem_quiet() completes.
 *
 * The operations of the stream are complete when the stream has passed this call. The call itself may wait for the
 * operations of the CPU.
 * @param[in] stream Stream of the PE's GPU.
 * @return 0, or an error of gdrkit_shmem_quiet().
 */
int gdrkit_shmem_quiet_on_stream(void* stream);

/**
 * @brief Creates a stream of the PE's GPU that does not synchronize with the legacy default stream.
 *
 * For programs without CUDA code, and for the emulated device, which has no other streams.
 * @param[out] stream The stream.
 * @return 0, or an error of @ref shmem_errors.
 */
int gdrkit_shmem_stream_create(void** stream);

/**
 * @brief Destroys a stream from gdrkit_shmem_stream_create().
 * @param[in] stream The stream.
 * @return 0, or an error of @ref shmem_errors.
 */
int gdrkit_shmem_stream_destroy(void* stream);

/**
 * @brief Waits until a stream has performed all its work.
 * @param[in] stream Stream of the PE's GPU, from gdrkit_shmem_stream_create() or from CUDA.
 * @return 0 on success.
 *   - `-ETIMEDOUT`, `-ECONNRESET`: a wait of a GPU kernel or a stream failed since the last report.
 *   - See also @ref shmem_errors.
 */
int gdrkit_shmem_stream_synchronize(void* stream);

#ifdef GDRKIT_DOXYGEN
/**
 * @brief Puts elements of one type in the order of a stream. See gdrkit_shmem_put_on_stream().
 * @param[out] target Symmetric address in the caller's heap.
 * @param[in] source Local elements.
 * @param[in] count Number of elements.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @param[in] stream Stream of the PE's GPU.
 * @return 0, or an error of gdrkit_shmem_put_on_stream(). `-EINVAL` also if the size exceeds SIZE_MAX.
 */
static inline int gdrkit_shmem_TYPENAME_put_on_stream(TYPE* target, const TYPE* source, size_t count, int pe,
                                                      void* stream);
/**
 * @brief Gets elements of one type in the order of a stream. See gdrkit_shmem_get_on_stream().
 * @param[out] target Local memory.
 * @param[in] source Symmetric address in the caller's heap.
 * @param[in] count Number of elements.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @param[in] stream Stream of the PE's GPU.
 * @return 0, or an error of gdrkit_shmem_get_on_stream(). `-EINVAL` also if the size exceeds SIZE_MAX.
 */
static inline int gdrkit_shmem_TYPENAME_get_on_stream(TYPE* target, const TYPE* source, size_t count, int pe,
                                                      void* stream);
/**
 * @brief Puts one value in the order of a stream. See gdrkit_shmem_put_value_on_stream().
 * @param[out] target Symmetric address in the caller's heap.
 * @param[in] value The value.
 * @param[in] pe PE number, 0 to `n_pes` - 1.
 * @param[in] stream Stream of the PE's GPU.
 * @return 0, or an error of gdrkit_shmem_put_value_on_stream().
 */
static inline int gdrkit_shmem_TYPENAME_p_on_stream(TYPE* target, TYPE value, int pe, void* stream);
#else
#define GDRKIT_SHMEM_DEFINE_COPY(name, type, operation)                                                           \
  static inline int gdrkit_shmem_##name##_##operation##_on_stream(type* target, const type* source, size_t count, \
                                                                  int pe, void* stream) {                         \
    if (count > SIZE_MAX / sizeof(type)) return -EINVAL;                                                          \
    return gdrkit_shmem_##operation##_on_stream(target, source, count * sizeof(type), pe, stream);                \
  }
#define GDRKIT_SHMEM_DEFINE_TRANSFERS(name, type)                                                       \
  GDRKIT_SHMEM_DEFINE_COPY(name, type, put)                                                             \
  GDRKIT_SHMEM_DEFINE_COPY(name, type, get)                                                             \
  static inline int gdrkit_shmem_##name##_p_on_stream(type* target, type value, int pe, void* stream) { \
    return gdrkit_shmem_put_value_on_stream(target, &value, sizeof value, pe, stream);                  \
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
