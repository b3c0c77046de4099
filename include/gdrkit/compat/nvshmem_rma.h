/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's puts and gets. One macro defines them for typed elements, for elements of a size, and for bytes. Included
 * by nvshmem.h. */
#ifndef GDRKIT_COMPAT_NVSHMEM_RMA_H
#define GDRKIT_COMPAT_NVSHMEM_RMA_H

#include "nvshmem_base.h"

/* One direction. `V` is put or get, `N` and `X` are the prefixes of the names, and `S` is the suffix after the verb.
 * Counts are in elements of `bytes` bytes. */
#define GDRKIT_NVSHMEM_MOVE(V, N, X, S, type, bytes)                                                             \
  GDRKIT_NVSHMEM_BOTH void N##V##S(type* target, const type* source, size_t count, int pe) {                     \
    GDRKIT_NVSHMEM_SPLIT(                                                                                        \
        gdrkit_nvshmem_check(gdrkit_shmem_##V(target, source, count*(bytes), pe), #N #V #S),                     \
        ::gdrkit::shmem::V(GDRKIT_NVSHMEM_STATE, target, source, count*(bytes), pe, ::gdrkit::shmem::thread())); \
  }                                                                                                              \
  GDRKIT_NVSHMEM_BOTH void N##V##S##_nbi(type* target, const type* source, size_t count, int pe) {               \
    GDRKIT_NVSHMEM_SPLIT(                                                                                        \
        gdrkit_nvshmem_check(gdrkit_shmem_##V##_nbi(target, source, count*(bytes), pe), #N #V #S "_nbi"),        \
        ::gdrkit::shmem::V(GDRKIT_NVSHMEM_STATE, target, source, count*(bytes), pe, ::gdrkit::shmem::thread())); \
  }                                                                                                              \
  GDRKIT_NVSHMEM_HOST void X##V##S##_on_stream(type* target, const type* source, size_t count, int pe,           \
                                               cudaStream_t stream) {                                            \
    gdrkit_nvshmem_check(gdrkit_shmem_##V##_on_stream(target, source, count*(bytes), pe, stream),                \
                         #X #V #S "_on_stream");                                                                 \
  }                                                                                                              \
  GDRKIT_NVSHMEM_HOST void X##V##S##_nbi_on_stream(type* target, const type* source, size_t count, int pe,       \
                                                   cudaStream_t stream) {                                        \
    gdrkit_nvshmem_check(gdrkit_shmem_##V##_on_stream(target, source, count*(bytes), pe, stream),                \
                         #X #V #S "_nbi_on_stream");                                                             \
  }                                                                                                              \
  GDRKIT_NVSHMEM_MOVE_BY(V, X, S, type, bytes, warp)                                                             \
  GDRKIT_NVSHMEM_MOVE_BY(V, X, S, type, bytes, block)

/* Performed by all threads of a warp or block. */
#define GDRKIT_NVSHMEM_MOVE_BY(V, X, S, type, bytes, group)                                                \
  GDRKIT_NVSHMEM_GPU(void X##V##S##_##group(type* target, const type* source, size_t count, int pe) {      \
    ::gdrkit::shmem::V(GDRKIT_NVSHMEM_STATE, target, source, count*(bytes), pe, ::gdrkit::shmem::group()); \
  })                                                                                                       \
  GDRKIT_NVSHMEM_GPU(void X##V##S##_nbi_##group(type* target, const type* source, size_t count, int pe) {  \
    ::gdrkit::shmem::V(GDRKIT_NVSHMEM_STATE, target, source, count*(bytes), pe, ::gdrkit::shmem::group()); \
  })

/* A put followed by a signal. */
#define GDRKIT_NVSHMEM_PUT_SIGNAL(N, X, S, type, bytes, nbi)                                                         \
  GDRKIT_NVSHMEM_BOTH void N##put##S##_signal##nbi(type* target, const type* source, size_t count, uint64_t* signal, \
                                                   uint64_t value, int operation, int pe) {                          \
    GDRKIT_NVSHMEM_SPLIT(                                                                                            \
        gdrkit_nvshmem_check(gdrkit_shmem_put_signal##nbi(target, source, count*(bytes), signal, value,              \
                                                          GDRKIT_NVSHMEM_SIG(operation), pe),                        \
                             #N "put" #S "_signal" #nbi),                                                            \
        ::gdrkit::shmem::put_signal(GDRKIT_NVSHMEM_STATE, target, source, count*(bytes), signal, value,              \
                                    GDRKIT_NVSHMEM_SIG(operation), pe, ::gdrkit::shmem::thread()));                  \
  }                                                                                                                  \
  GDRKIT_NVSHMEM_HOST void X##put##S##_signal##nbi##_on_stream(type* target, const type* source, size_t count,       \
                                                               uint64_t* signal, uint64_t value, int operation,      \
                                                               int pe, cudaStream_t stream) {                        \
    gdrkit_nvshmem_check(gdrkit_shmem_put_signal_on_stream(target, source, count*(bytes), signal, value,             \
                                                           GDRKIT_NVSHMEM_SIG(operation), pe, stream),               \
                         #X "put" #S "_signal" #nbi "_on_stream");                                                   \
  }                                                                                                                  \
  GDRKIT_NVSHMEM_PUT_SIGNAL_BY(X, S, type, bytes, nbi, warp)                                                         \
  GDRKIT_NVSHMEM_PUT_SIGNAL_BY(X, S, type, bytes, nbi, block)
#define GDRKIT_NVSHMEM_PUT_SIGNAL_BY(X, S, type, bytes, nbi, group)                                                    \
  GDRKIT_NVSHMEM_GPU(void X##put##S##_signal##nbi##_##group(type* target, const type* source, size_t count,            \
                                                            uint64_t* signal, uint64_t value, int operation, int pe) { \
    ::gdrkit::shmem::put_signal(GDRKIT_NVSHMEM_STATE, target, source, count*(bytes), signal, value,                    \
                                GDRKIT_NVSHMEM_SIG(operation), pe, ::gdrkit::shmem::group());                          \
  })

#define GDRKIT_NVSHMEM_RMA(N, X, S, type, bytes)    \
  GDRKIT_NVSHMEM_MOVE(put, N, X, S, type, bytes)    \
  GDRKIT_NVSHMEM_MOVE(get, N, X, S, type, bytes)    \
  GDRKIT_NVSHMEM_PUT_SIGNAL(N, X, S, type, bytes, ) \
  GDRKIT_NVSHMEM_PUT_SIGNAL(N, X, S, type, bytes, _nbi)

/* Strided elements, for the CPU: one transfer per element unless they are contiguous. Strides are in elements. */
#define GDRKIT_NVSHMEM_HOST_STRIDED(V)                                                                              \
  static inline int gdrkit_nvshmem_i##V(void* target, const void* source, ptrdiff_t target_stride,                  \
                                        ptrdiff_t source_stride, size_t count, size_t bytes, int pe) {              \
    char* const to = GDRKIT_SHMEM_CAST(char*, target);                                                              \
    const char* const from = GDRKIT_SHMEM_CAST(const char*, source);                                                \
    int result = 0;                                                                                                 \
    if (target_stride == 1 && source_stride == 1) return gdrkit_shmem_##V(target, source, count * bytes, pe);       \
    for (size_t i = 0; i < count && result == 0; ++i) {                                                             \
      const ptrdiff_t at = GDRKIT_SHMEM_CAST(ptrdiff_t, i * bytes);                                                 \
      result = gdrkit_shmem_##V(to + at * target_stride, from + at * source_stride, bytes, pe);                     \
    }                                                                                                               \
    return result;                                                                                                  \
  }                                                                                                                 \
  static inline int gdrkit_nvshmem_i##V##_on_stream(void* target, const void* source, ptrdiff_t target_stride,      \
                                                    ptrdiff_t source_stride, size_t count, size_t bytes, int pe,    \
                                                    cudaStream_t stream) {                                          \
    char* const to = GDRKIT_SHMEM_CAST(char*, target);                                                              \
    const char* const from = GDRKIT_SHMEM_CAST(const char*, source);                                                \
    int result = 0;                                                                                                 \
    if (target_stride == 1 && source_stride == 1) {                                                                 \
      return gdrkit_shmem_##V##_on_stream(target, source, count * bytes, pe, stream);                               \
    }                                                                                                               \
    for (size_t i = 0; i < count && result == 0; ++i) {                                                             \
      const ptrdiff_t at = GDRKIT_SHMEM_CAST(ptrdiff_t, i * bytes);                                                 \
      result = gdrkit_shmem_##V##_on_stream(to + at * target_stride, from + at * source_stride, bytes, pe, stream); \
    }                                                                                                               \
    return result;                                                                                                  \
  }
GDRKIT_NVSHMEM_HOST_STRIDED(put)
GDRKIT_NVSHMEM_HOST_STRIDED(get)

#define GDRKIT_NVSHMEM_STRIDED(V, N, X, S, type, bytes)                                                           \
  GDRKIT_NVSHMEM_BOTH void N##i##V##S(type* target, const type* source, ptrdiff_t target_stride,                  \
                                      ptrdiff_t source_stride, size_t count, int pe) {                            \
    GDRKIT_NVSHMEM_SPLIT(                                                                                         \
        gdrkit_nvshmem_check(gdrkit_nvshmem_i##V(target, source, target_stride, source_stride, count, bytes, pe), \
                             #N "i" #V #S),                                                                       \
        ::gdrkit::shmem::detail::V##_strided<bytes>(GDRKIT_NVSHMEM_STATE, target, source, target_stride,          \
                                                    source_stride, count, pe, ::gdrkit::shmem::thread()));        \
  }                                                                                                               \
  GDRKIT_NVSHMEM_HOST void X##i##V##S##_on_stream(type* target, const type* source, ptrdiff_t target_stride,      \
                                                  ptrdiff_t source_stride, size_t count, int pe,                  \
                                                  cudaStream_t stream) {                                          \
    gdrkit_nvshmem_check(                                                                                         \
        gdrkit_nvshmem_i##V##_on_stream(target, source, target_stride, source_stride, count, bytes, pe, stream),  \
        #X "i" #V #S "_on_stream");                                                                               \
  }                                                                                                               \
  GDRKIT_NVSHMEM_STRIDED_BY(V, X, S, type, bytes, warp)                                                           \
  GDRKIT_NVSHMEM_STRIDED_BY(V, X, S, type, bytes, block)
#define GDRKIT_NVSHMEM_STRIDED_BY(V, X, S, type, bytes, group)                                                      \
  GDRKIT_NVSHMEM_GPU(void X##i##V##S##_##group(type* target, const type* source, ptrdiff_t target_stride,           \
                                               ptrdiff_t source_stride, size_t count, int pe) {                     \
    ::gdrkit::shmem::detail::V##_strided<bytes>(GDRKIT_NVSHMEM_STATE, target, source, target_stride, source_stride, \
                                                count, pe, ::gdrkit::shmem::group());                               \
  })

/* Single values. g_on_stream returns when the stream has completed the get. */
#define GDRKIT_NVSHMEM_VALUES(name, type)                                                                            \
  GDRKIT_NVSHMEM_BOTH void nvshmem_##name##_p(type* target, const type value, int pe) {                              \
    GDRKIT_NVSHMEM_SPLIT(                                                                                            \
        gdrkit_nvshmem_check(gdrkit_shmem_put(target, &value, sizeof value, pe), "nvshmem_" #name "_p"),             \
        ::gdrkit::shmem::detail::put_value(GDRKIT_NVSHMEM_STATE, target, value, pe));                                \
  }                                                                                                                  \
  GDRKIT_NVSHMEM_BOTH type nvshmem_##name##_g(const type* source, int pe) {                                          \
    GDRKIT_NVSHMEM_SPLIT(                                                                                            \
        type value; gdrkit_nvshmem_check(gdrkit_shmem_get(&value, source, sizeof value, pe), "nvshmem_" #name "_g"); \
        return value, return ::gdrkit::shmem::detail::get_value(GDRKIT_NVSHMEM_STATE, source, pe));                  \
  }                                                                                                                  \
  GDRKIT_NVSHMEM_HOST void nvshmemx_##name##_p_on_stream(type* target, const type value, int pe,                     \
                                                         cudaStream_t stream) {                                      \
    gdrkit_nvshmem_check(gdrkit_shmem_put_value_on_stream(target, &value, sizeof value, pe, stream),                 \
                         "nvshmemx_" #name "_p_on_stream");                                                          \
  }                                                                                                                  \
  GDRKIT_NVSHMEM_HOST type nvshmemx_##name##_g_on_stream(const type* source, int pe, cudaStream_t stream) {          \
    type value;                                                                                                      \
    gdrkit_nvshmem_check(gdrkit_shmem_get_on_stream(&value, source, sizeof value, pe, stream),                       \
                         "nvshmemx_" #name "_g_on_stream");                                                          \
    gdrkit_nvshmem_check(gdrkit_shmem_stream_synchronize(stream), "nvshmemx_" #name "_g_on_stream");                 \
    return value;                                                                                                    \
  }

#define GDRKIT_NVSHMEM_TYPED(name, type)                                                   \
  GDRKIT_NVSHMEM_RMA(nvshmem_##name##_, nvshmemx_##name##_, , type, sizeof(type))          \
  GDRKIT_NVSHMEM_STRIDED(put, nvshmem_##name##_, nvshmemx_##name##_, , type, sizeof(type)) \
  GDRKIT_NVSHMEM_STRIDED(get, nvshmem_##name##_, nvshmemx_##name##_, , type, sizeof(type)) \
  GDRKIT_NVSHMEM_VALUES(name, type)
#define GDRKIT_NVSHMEM_SIZED(bits)                                       \
  GDRKIT_NVSHMEM_RMA(nvshmem_, nvshmemx_, bits, void, bits / 8)          \
  GDRKIT_NVSHMEM_STRIDED(put, nvshmem_, nvshmemx_, bits, void, bits / 8) \
  GDRKIT_NVSHMEM_STRIDED(get, nvshmem_, nvshmemx_, bits, void, bits / 8)

GDRKIT_NVSHMEM_FOR_EACH_TYPE(GDRKIT_NVSHMEM_TYPED)
GDRKIT_NVSHMEM_FOR_EACH_SIZE(GDRKIT_NVSHMEM_SIZED)
GDRKIT_NVSHMEM_RMA(nvshmem_, nvshmemx_, mem, void, 1)

#undef GDRKIT_NVSHMEM_SIZED
#undef GDRKIT_NVSHMEM_TYPED
#undef GDRKIT_NVSHMEM_VALUES
#undef GDRKIT_NVSHMEM_STRIDED_BY
#undef GDRKIT_NVSHMEM_STRIDED
#undef GDRKIT_NVSHMEM_HOST_STRIDED
#undef GDRKIT_NVSHMEM_RMA
#undef GDRKIT_NVSHMEM_PUT_SIGNAL_BY
#undef GDRKIT_NVSHMEM_PUT_SIGNAL
#undef GDRKIT_NVSHMEM_MOVE_BY
#undef GDRKIT_NVSHMEM_MOVE

#endif
