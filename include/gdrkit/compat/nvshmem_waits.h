/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * NVSHMEM's signals, and its waits and tests on the caller's own words. Included by nvshmem.h. */
#ifndef GDRKIT_COMPAT_NVSHMEM_WAITS_H
#define GDRKIT_COMPAT_NVSHMEM_WAITS_H

#include "nvshmem_base.h"
#include "nvshmem_setup.h"

/* Signals. */

GDRKIT_NVSHMEM_BOTH void nvshmemx_signal_op(uint64_t* signal, uint64_t value, int operation, int pe) {
  GDRKIT_NVSHMEM_SPLIT(
      gdrkit_nvshmem_check(gdrkit_shmem_signal_op(signal, value, GDRKIT_NVSHMEM_SIG(operation), pe),
                           "nvshmemx_signal_op"),
      ::gdrkit::shmem::signal_op(GDRKIT_NVSHMEM_STATE, signal, value, GDRKIT_NVSHMEM_SIG(operation), pe));
}
GDRKIT_NVSHMEM_HOST void nvshmemx_signal_op_on_stream(uint64_t* signal, uint64_t value, int operation, int pe,
                                                      cudaStream_t stream) {
  gdrkit_nvshmem_check(gdrkit_shmem_signal_op_on_stream(signal, value, GDRKIT_NVSHMEM_SIG(operation), pe, stream),
                       "nvshmemx_signal_op_on_stream");
}
static inline uint64_t gdrkit_nvshmem_signal_fetch(const uint64_t* signal) {
  uint64_t value = 0;
  gdrkit_nvshmem_check(gdrkit_shmem_signal_fetch(signal, &value), "nvshmem_signal_fetch");
  return value;
}
GDRKIT_NVSHMEM_BOTH uint64_t nvshmem_signal_fetch(uint64_t* signal) {
  return GDRKIT_NVSHMEM_SPLIT(gdrkit_nvshmem_signal_fetch(signal), ::gdrkit::shmem::signal_fetch(signal));
}
/* NVSHMEM's counted signals are ordinary words. */
GDRKIT_NVSHMEM_BOTH void nvshmemx_signal_counted_reset(uint64_t* signal) {
  nvshmemx_signal_op(signal, 0, NVSHMEM_SIGNAL_SET, nvshmem_my_pe());
}
static inline uint64_t gdrkit_nvshmem_signal_wait_until(const uint64_t* signal, int comparison, uint64_t value) {
  uint64_t seen = 0;
  gdrkit_nvshmem_check(gdrkit_shmem_signal_wait_until(signal, GDRKIT_NVSHMEM_CMP(comparison), value, &seen),
                       "nvshmem_signal_wait_until");
  return seen;
}
/* Returns the value of the word after the wait. */
GDRKIT_NVSHMEM_BOTH uint64_t nvshmem_signal_wait_until(uint64_t* signal, int comparison, uint64_t value) {
  GDRKIT_NVSHMEM_SPLIT(return gdrkit_nvshmem_signal_wait_until(signal, comparison, value),
                              (void)::gdrkit::shmem::signal_wait_until(GDRKIT_NVSHMEM_STATE, signal,
                                                                       GDRKIT_NVSHMEM_CMP(comparison), value);
                       return ::gdrkit::shmem::signal_fetch(signal));
}
GDRKIT_NVSHMEM_HOST void nvshmemx_signal_wait_until_on_stream(uint64_t* signal, int comparison, uint64_t value,
                                                              cudaStream_t stream) {
  gdrkit_nvshmem_check(gdrkit_shmem_signal_wait_until_on_stream(signal, GDRKIT_NVSHMEM_CMP(comparison), value, stream),
                       "nvshmemx_signal_wait_until_on_stream");
}

/* Waits for and tests of many words, for the CPU: with one value for all words, or with one value per word. */

static inline struct gdrkit_shmem_words gdrkit_nvshmem_words(const void* address, size_t count, const int* status,
                                                             enum gdrkit_shmem_word word, int comparison,
                                                             const uint64_t* values, size_t n_values) {
  struct gdrkit_shmem_words words;
  words.address = address;
  words.count = count;
  words.word = word;
  words.comparison = GDRKIT_NVSHMEM_CMP(comparison);
  words.values = values;
  words.n_values = n_values;
  words.skip = status;
  return words;
}
static inline size_t gdrkit_nvshmem_any(const struct gdrkit_shmem_words* words, int waits, const char* name) {
  size_t index = SIZE_MAX;
  const int found = waits ? gdrkit_shmem_wait_until_any(words, &index) : gdrkit_shmem_test_any(words, &index);
  if (found != -ENODATA) gdrkit_nvshmem_check(found, name);
  return index;
}
static inline size_t gdrkit_nvshmem_some(const struct gdrkit_shmem_words* words, size_t* indices, int waits,
                                         const char* name) {
  size_t found = 0;
  gdrkit_nvshmem_check(
      waits ? gdrkit_shmem_wait_until_some(words, indices, &found) : gdrkit_shmem_test_some(words, indices, &found),
      name);
  return found;
}
static inline int gdrkit_nvshmem_all(const struct gdrkit_shmem_words* words, int waits, const char* name) {
  const int result = waits ? gdrkit_shmem_wait_until_all(words) : gdrkit_shmem_test_all(words);
  gdrkit_nvshmem_check(result, name);
  return result;
}

/* clang-format off */
#define GDRKIT_NVSHMEM_WORD(type) GDRKIT_SHMEM_CAST(enum gdrkit_shmem_word, (GDRKIT_SHMEM_CAST(type, -1) > GDRKIT_SHMEM_CAST(type, 0) ? 1 : -1) * GDRKIT_SHMEM_CAST(int, sizeof(type)))
/* Body of a CPU function: builds the words with a 64-bit copy of their values, evaluates `call`, and frees the copy. */
#define GDRKIT_NVSHMEM_HOST_WORDS(name, type, take, result_type, n, call)                                              \
  uint64_t* const wide = gdrkit_nvshmem_##name##_##take(value, n);                                                     \
  const struct gdrkit_shmem_words words =                                                                              \
      gdrkit_nvshmem_words(address, count, status, GDRKIT_NVSHMEM_WORD(type), comparison, wide, n);       \
  const result_type result = call;                                                                                     \
  free(wide);                                                                                                          \
  return result
#define GDRKIT_NVSHMEM_GPU_WORDS(type, Values) \
  (::gdrkit::shmem::Words<type, Values>{static_cast<const type*>(address), count, status, GDRKIT_NVSHMEM_CMP(comparison), value})
/* clang-format on */

/* Defines wait_until and test for all, any and some words. `take` is `one` or `each`; `Values` and `n` match it. */
#define GDRKIT_NVSHMEM_MANY(name, type, suffix, take, Values, n)                                                     \
  GDRKIT_NVSHMEM_BOTH void nvshmem_##name##_wait_until_all##suffix(type* address, size_t count, const int* status,   \
                                                                   int comparison, Values value) {                   \
    GDRKIT_NVSHMEM_SPLIT(                                                                                            \
        (void)gdrkit_nvshmem_##name##_all_##take(address, count, status, comparison, value, 1),                      \
        (void)::gdrkit::shmem::wait_until_all(GDRKIT_NVSHMEM_STATE, GDRKIT_NVSHMEM_GPU_WORDS(type, Values)));        \
  }                                                                                                                  \
  GDRKIT_NVSHMEM_BOTH size_t nvshmem_##name##_wait_until_any##suffix(type* address, size_t count, const int* status, \
                                                                     int comparison, Values value) {                 \
    return GDRKIT_NVSHMEM_SPLIT(                                                                                     \
        gdrkit_nvshmem_##name##_any_##take(address, count, status, comparison, value, 1),                            \
        ::gdrkit::shmem::wait_until_any(GDRKIT_NVSHMEM_STATE, GDRKIT_NVSHMEM_GPU_WORDS(type, Values)));              \
  }                                                                                                                  \
  GDRKIT_NVSHMEM_BOTH size_t nvshmem_##name##_wait_until_some##suffix(                                               \
      type* address, size_t count, size_t* indices, const int* status, int comparison, Values value) {               \
    return GDRKIT_NVSHMEM_SPLIT(                                                                                     \
        gdrkit_nvshmem_##name##_some_##take(address, count, indices, status, comparison, value, 1),                  \
        ::gdrkit::shmem::wait_until_some(GDRKIT_NVSHMEM_STATE, GDRKIT_NVSHMEM_GPU_WORDS(type, Values), indices));    \
  }                                                                                                                  \
  GDRKIT_NVSHMEM_BOTH int nvshmem_##name##_test_all##suffix(type* address, size_t count, const int* status,          \
                                                            int comparison, Values value) {                          \
    return GDRKIT_NVSHMEM_SPLIT(gdrkit_nvshmem_##name##_all_##take(address, count, status, comparison, value, 0),    \
                                ::gdrkit::shmem::test_all(GDRKIT_NVSHMEM_GPU_WORDS(type, Values)));                  \
  }                                                                                                                  \
  GDRKIT_NVSHMEM_BOTH size_t nvshmem_##name##_test_any##suffix(type* address, size_t count, const int* status,       \
                                                               int comparison, Values value) {                       \
    return GDRKIT_NVSHMEM_SPLIT(gdrkit_nvshmem_##name##_any_##take(address, count, status, comparison, value, 0),    \
                                ::gdrkit::shmem::test_any(GDRKIT_NVSHMEM_GPU_WORDS(type, Values)));                  \
  }                                                                                                                  \
  GDRKIT_NVSHMEM_BOTH size_t nvshmem_##name##_test_some##suffix(type* address, size_t count, size_t* indices,        \
                                                                const int* status, int comparison, Values value) {   \
    return GDRKIT_NVSHMEM_SPLIT(                                                                                     \
        gdrkit_nvshmem_##name##_some_##take(address, count, indices, status, comparison, value, 0),                  \
        ::gdrkit::shmem::test_some(GDRKIT_NVSHMEM_GPU_WORDS(type, Values), indices));                                \
  }

/* The CPU parts of these functions. */
#define GDRKIT_NVSHMEM_HOST_MANY(name, type, take, Values, n)                                                          \
  static inline int gdrkit_nvshmem_##name##_all_##take(type* address, size_t count, const int* status, int comparison, \
                                                       Values value, int waits) {                                      \
    GDRKIT_NVSHMEM_HOST_WORDS(                                                                                         \
        name, type, take, int, n,                                                                                      \
        gdrkit_nvshmem_all(&words, waits, waits ? "nvshmem_" #name "_wait_until_all" : "nvshmem_" #name "_test_all")); \
  }                                                                                                                    \
  static inline size_t gdrkit_nvshmem_##name##_any_##take(type* address, size_t count, const int* status,              \
                                                          int comparison, Values value, int waits) {                   \
    GDRKIT_NVSHMEM_HOST_WORDS(                                                                                         \
        name, type, take, size_t, n,                                                                                   \
        gdrkit_nvshmem_any(&words, waits, waits ? "nvshmem_" #name "_wait_until_any" : "nvshmem_" #name "_test_any")); \
  }                                                                                                                    \
  static inline size_t gdrkit_nvshmem_##name##_some_##take(                                                            \
      type* address, size_t count, size_t* indices, const int* status, int comparison, Values value, int waits) {      \
    GDRKIT_NVSHMEM_HOST_WORDS(                                                                                         \
        name, type, take, size_t, n,                                                                                   \
        gdrkit_nvshmem_some(&words, indices, waits,                                                                    \
                            waits ? "nvshmem_" #name "_wait_until_some" : "nvshmem_" #name "_test_some"));             \
  }

#define GDRKIT_NVSHMEM_WAITS(name, type)                                                                               \
  static inline uint64_t* gdrkit_nvshmem_##name##_each(const type* values, size_t count) {                             \
    uint64_t* const wide = GDRKIT_SHMEM_CAST(uint64_t*, malloc((count == 0 ? 1 : count) * sizeof(uint64_t)));          \
    if (wide == NULL) gdrkit_nvshmem_out_of_memory("nvshmem_" #name "_wait_until or _test of several words");          \
    for (size_t i = 0; i < count; ++i) wide[i] = GDRKIT_SHMEM_CAST(uint64_t, values[i]);                               \
    return wide;                                                                                                       \
  }                                                                                                                    \
  static inline uint64_t* gdrkit_nvshmem_##name##_one(type value, size_t count) {                                      \
    return gdrkit_nvshmem_##name##_each(&value, count);                                                                \
  }                                                                                                                    \
  GDRKIT_NVSHMEM_HOST_MANY(name, type, one, type, 1)                                                                   \
  GDRKIT_NVSHMEM_HOST_MANY(name, type, each, const type*, count)                                                       \
  GDRKIT_NVSHMEM_MANY(name, type, , one, type, 1)                                                                      \
  GDRKIT_NVSHMEM_MANY(name, type, _vector, each, const type*, count)                                                   \
  GDRKIT_NVSHMEM_BOTH void nvshmem_##name##_wait_until(type* address, int comparison, type value) {                    \
    GDRKIT_NVSHMEM_SPLIT(                                                                                              \
        gdrkit_nvshmem_check(                                                                                          \
            gdrkit_shmem_wait_until(address, GDRKIT_NVSHMEM_WORD(type), GDRKIT_NVSHMEM_CMP(comparison),                \
                                    GDRKIT_SHMEM_CAST(uint64_t, value)),                                               \
            "nvshmem_" #name "_wait_until"),                                                                           \
        (void)::gdrkit::shmem::detail::wait_until_word(GDRKIT_NVSHMEM_STATE, static_cast<const type*>(address),        \
                                                       GDRKIT_NVSHMEM_CMP(comparison), value));                        \
  }                                                                                                                    \
  static inline int gdrkit_nvshmem_##name##_test(type* address, int comparison, type value) {                          \
    const int result = gdrkit_shmem_test(address, GDRKIT_NVSHMEM_WORD(type), GDRKIT_NVSHMEM_CMP(comparison),           \
                                         GDRKIT_SHMEM_CAST(uint64_t, value));                                          \
    gdrkit_nvshmem_check(result, "nvshmem_" #name "_test");                                                            \
    return result;                                                                                                     \
  }                                                                                                                    \
  GDRKIT_NVSHMEM_BOTH int nvshmem_##name##_test(type* address, int comparison, type value) {                           \
    return GDRKIT_NVSHMEM_SPLIT(                                                                                       \
        gdrkit_nvshmem_##name##_test(address, comparison, value),                                                      \
        ::gdrkit::shmem::detail::test_word(static_cast<const type*>(address), GDRKIT_NVSHMEM_CMP(comparison), value)); \
  }                                                                                                                    \
  GDRKIT_NVSHMEM_HOST void nvshmemx_##name##_wait_until_on_stream(type* address, int comparison, type value,           \
                                                                  cudaStream_t stream) {                               \
    gdrkit_nvshmem_check(                                                                                              \
        gdrkit_shmem_wait_until_on_stream(address, GDRKIT_NVSHMEM_WORD(type), GDRKIT_NVSHMEM_CMP(comparison),          \
                                          GDRKIT_SHMEM_CAST(uint64_t, value), stream),                                 \
        "nvshmemx_" #name "_wait_until_on_stream");                                                                    \
  }                                                                                                                    \
  /* `status` is read during the call. */                                                                              \
  GDRKIT_NVSHMEM_HOST void nvshmemx_##name##_wait_until_all_on_stream(                                                 \
      type* address, size_t count, const int* status, int comparison, type value, cudaStream_t stream) {               \
    for (size_t i = 0; i < count; ++i) {                                                                               \
      if (status != NULL && status[i] != 0) continue;                                                                  \
      nvshmemx_##name##_wait_until_on_stream(address + i, comparison, value, stream);                                  \
    }                                                                                                                  \
  }                                                                                                                    \
  GDRKIT_NVSHMEM_HOST void nvshmemx_##name##_wait_until_all_vector_on_stream(                                          \
      type* address, size_t count, const int* status, int comparison, const type* values, cudaStream_t stream) {       \
    for (size_t i = 0; i < count; ++i) {                                                                               \
      if (status != NULL && status[i] != 0) continue;                                                                  \
      nvshmemx_##name##_wait_until_on_stream(address + i, comparison, values[i], stream);                              \
    }                                                                                                                  \
  }

GDRKIT_NVSHMEM_FOR_EACH_WORD(GDRKIT_NVSHMEM_WAITS)
GDRKIT_NVSHMEM_FOR_EACH_SHORT(GDRKIT_NVSHMEM_WAITS)

#undef GDRKIT_NVSHMEM_WAITS
#undef GDRKIT_NVSHMEM_HOST_MANY
#undef GDRKIT_NVSHMEM_MANY

#endif
