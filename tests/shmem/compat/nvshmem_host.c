/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * A program as one would write it for NVSHMEM, without CUDA's headers: each function family once, between neighbours.
 * Prints "PE n of m: ok". */
#include <nvshmem.h>
#include <nvshmemx.h>
#include <pthread.h>
#include <stdio.h>

enum { count = 1000 };

static int failures = 0;
#define EXPECT(condition)                                                                           \
  do {                                                                                              \
    if (!(condition)) {                                                                             \
      ++failures;                                                                                   \
      fprintf(stderr, "PE %d, line %d: %s does not hold\n", nvshmem_my_pe(), __LINE__, #condition); \
    }                                                                                               \
  } while (0)

struct world {
  int pe, n_pes, next, before;
  int* data;        /* symmetric: 4 * count */
  long long* words; /* symmetric: 64 */
  uint64_t* signal; /* symmetric: 8 */
};

/* What this PE's copy holds. */
static int own(const struct world* w, size_t i) { return nvshmem_int_g(w->data + i, w->pe); }

static void moves(const struct world* w) {
  int numbers[count], seen[count];
  for (int i = 0; i < count; ++i) numbers[i] = 1000 * w->pe + i;
  nvshmem_int_put(w->data, numbers, count, w->next);
  nvshmem_putmem_nbi(w->data + count, numbers, sizeof numbers, w->next);
  nvshmem_put32(w->data + 2 * count, numbers, count, w->next);
  nvshmem_int_iput(w->data + 3 * count, numbers, 2, 1, 10, w->next);
  nvshmem_quiet();
  nvshmem_barrier_all();
  for (int part = 0; part < 3; ++part) {
    nvshmem_int_get(seen, w->data + part * count, count, w->pe);
    for (int i = 0; i < count; ++i) EXPECT(seen[i] == 1000 * w->before + i);
  }
  EXPECT(own(w, 3 * count + 18) == 1000 * w->before + 9);
  nvshmem_get64_nbi(seen, w->data, count / 2, w->before);
  nvshmem_int_iget(numbers, w->data, 1, 100, 10, w->next);
  nvshmem_quiet();
  EXPECT(seen[7] == 1000 * ((w->before + w->n_pes - 1) % w->n_pes) + 7);
  EXPECT(numbers[9] == 1000 * w->pe + 900);
  nvshmem_barrier_all();
  nvshmem_int_p(w->data, -5 - w->pe, w->next);
  nvshmem_barrier_all();
  EXPECT(own(w, 0) == -5 - w->before);
  EXPECT(nvshmem_ptr(w->data, w->pe) == w->data);
  nvshmem_barrier_all();
}

static void signals(const struct world* w) {
  const int number = 77 + w->pe;
  nvshmem_int_put_signal(w->data, &number, 1, w->signal, 3, NVSHMEM_SIGNAL_SET, w->next);
  EXPECT(nvshmem_signal_wait_until(w->signal, NVSHMEM_CMP_EQ, 3) == 3);
  EXPECT(own(w, 0) == 77 + w->before);
  nvshmem_barrier_all(); /* the neighbour may add before the 3 was seen */
  nvshmem_putmem_signal_nbi(w->data + 1, &number, sizeof number, w->signal, 4, NVSHMEM_SIGNAL_ADD, w->next);
  EXPECT(nvshmem_signal_wait_until(w->signal, NVSHMEM_CMP_GT, 3) == 7);
  EXPECT(own(w, 1) == 77 + w->before);
  nvshmemx_signal_op(w->signal + 1, 9, NVSHMEM_SIGNAL_SET, w->next);
  nvshmem_signal_wait_until(w->signal + 1, NVSHMEM_CMP_GE, 9);
  EXPECT(nvshmem_signal_fetch(w->signal + 1) == 9);
  nvshmem_barrier_all();
}

static void waits(const struct world* w) {
  const int status[4] = {0, 1, 0, 0};
  const long long values[4] = {-10, 0, -12, -13};
  size_t indices[4];
  EXPECT(nvshmem_longlong_test_any(w->words, 4, status, NVSHMEM_CMP_LT, 0) == SIZE_MAX);
  nvshmem_barrier_all();
  for (int i = 0; i < 4; ++i) {
    if (i != 1) nvshmem_longlong_p(w->words + i, -10 - i, w->next);
  }
  nvshmem_longlong_wait_until(w->words, NVSHMEM_CMP_LT, 0);
  nvshmem_longlong_wait_until_all(w->words, 4, status, NVSHMEM_CMP_LE, -10);
  nvshmem_longlong_wait_until_all_vector(w->words, 4, status, NVSHMEM_CMP_EQ, values);
  EXPECT(nvshmem_longlong_wait_until_any(w->words, 4, status, NVSHMEM_CMP_EQ, -12) == 2);
  EXPECT(nvshmem_longlong_wait_until_some(w->words, 4, indices, status, NVSHMEM_CMP_NE, -12) == 2 && indices[1] == 3);
  EXPECT(nvshmem_longlong_test(w->words + 3, NVSHMEM_CMP_GE, -13) == 1);
  EXPECT(nvshmem_longlong_test_all(w->words, 4, NULL, NVSHMEM_CMP_LT, 0) == 0);
  EXPECT(nvshmem_longlong_test_some_vector(w->words, 4, indices, NULL, NVSHMEM_CMP_EQ, values) == 4);
  nvshmem_barrier_all();
}

static void atomics(const struct world* w) {
  long long* const word = w->words + 8;
  double* const number = (double*)(w->words + 9);
  nvshmem_longlong_atomic_inc(word, 0);
  nvshmem_longlong_atomic_add(word, 10, 0);
  nvshmem_barrier_all();
  EXPECT(nvshmem_longlong_atomic_fetch(word, 0) == 11 * w->n_pes);
  nvshmem_barrier_all();
  if (w->pe == 0) {
    EXPECT(nvshmem_longlong_atomic_swap(word, -3, w->next) == (w->n_pes == 1 ? 11 : 0));
    EXPECT(nvshmem_longlong_atomic_fetch_add(word, 1, w->next) == -3);
    EXPECT(nvshmem_longlong_atomic_compare_swap(word, -2, 12, w->next) == -2);
    EXPECT(nvshmem_longlong_atomic_fetch_and(word, 8, w->next) == 12);
    EXPECT(nvshmem_longlong_atomic_fetch_or(word, 3, w->next) == 8);
    EXPECT(nvshmem_longlong_atomic_fetch_xor(word, 1, w->next) == 11);
    EXPECT(nvshmem_longlong_atomic_fetch_inc(word, w->next) == 10);
    nvshmem_longlong_atomic_set(word, 5, w->next);
    EXPECT(nvshmem_double_atomic_swap(number, 2.5, w->next) == 0.0);
    EXPECT(nvshmem_double_atomic_fetch(number, w->next) == 2.5);
  }
  nvshmem_barrier_all();
  if (w->before == 0) EXPECT(nvshmem_longlong_g(word, w->pe) == 5);
  nvshmem_barrier_all();
}

static void streams(const struct world* w) {
  int number = 500 + w->pe, seen = 0;
  const cudaStream_t stream = NULL;
  nvshmemx_int_put_signal_on_stream(w->data, &number, 1, w->signal + 2, 1, NVSHMEM_SIGNAL_SET, w->next, stream);
  nvshmemx_signal_wait_until_on_stream(w->signal + 2, NVSHMEM_CMP_EQ, 1, stream);
  nvshmemx_getmem_on_stream(&seen, w->data, sizeof seen, w->pe, stream);
  nvshmemx_quiet_on_stream(stream);
  gdrkit_shmem_stream_synchronize(stream);
  EXPECT(seen == 500 + w->before);
  nvshmem_barrier_all();
  nvshmemx_int_p_on_stream(w->data, 600 + w->pe, w->next, stream);
  nvshmemx_put64_nbi_on_stream(w->data + 2, w->data + 2, 1, w->next, stream);
  nvshmemx_barrier_all_on_stream(stream);
  nvshmemx_signal_op_on_stream(w->signal + 3, 1, NVSHMEM_SIGNAL_ADD, w->next, stream);
  nvshmemx_uint64_wait_until_on_stream(w->signal + 3, NVSHMEM_CMP_EQ, 1, stream);
  nvshmemx_int_get_on_stream(&seen, w->data, 1, w->pe, stream);
  gdrkit_shmem_stream_synchronize(stream);
  EXPECT(seen == 600 + w->before);
  nvshmem_barrier_all();
}

static void teams(const struct world* w) {
  nvshmem_team_t odd_or_even = NVSHMEM_TEAM_INVALID;
  EXPECT(nvshmem_team_my_pe(NVSHMEM_TEAM_WORLD) == w->pe && nvshmem_team_n_pes(NVSHMEM_TEAM_WORLD) == w->n_pes);
  EXPECT(nvshmem_team_n_pes(NVSHMEMX_TEAM_NODE) == w->n_pes);
  EXPECT(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, w->n_pes, NULL, 0, &odd_or_even) == 0);
  EXPECT(nvshmem_team_translate_pe(odd_or_even, w->pe, NVSHMEM_TEAM_WORLD) == w->pe);
  EXPECT(nvshmem_barrier(odd_or_even) == 0 && nvshmem_team_sync(odd_or_even) == 0);
  for (int i = 0; i < 8; ++i) nvshmem_int_p(w->data + i, w->pe + 1, w->pe);
  nvshmem_barrier_all();
  EXPECT(nvshmem_int_sum_reduce(odd_or_even, w->data + 100, w->data, 8) == 0);
  EXPECT(own(w, 107) == w->n_pes * (w->n_pes + 1) / 2);
  EXPECT(nvshmem_int_max_reduce(NVSHMEM_TEAM_WORLD, w->data + 100, w->data, 8) == 0);
  EXPECT(own(w, 100) == w->n_pes);
  EXPECT(nvshmem_int_fcollect(NVSHMEM_TEAM_WORLD, w->data + 200, w->data, 2) == 0);
  EXPECT(own(w, 200 + (size_t)(2 * w->n_pes) - 1) == w->n_pes);
  EXPECT(nvshmem_broadcastmem(NVSHMEM_TEAM_WORLD, w->data + 300, w->data, 4, w->n_pes - 1) == 0);
  EXPECT(own(w, 300) == w->n_pes);
  EXPECT(nvshmem_int_alltoall(NVSHMEM_TEAM_WORLD, w->data + 400, w->data, 1) == 0);
  EXPECT(own(w, 400 + (size_t)w->before) == w->before + 1);
  EXPECT(nvshmemx_int_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, w->data + 500, w->data, 1, NULL) == 0);
  gdrkit_shmem_stream_synchronize(NULL);
  EXPECT(own(w, 500) == w->n_pes * (w->n_pes + 1) / 2);
  nvshmem_team_destroy(odd_or_even);
}

/* In the opposite order. */
static void team_from_a_unique_id(const struct world* w) {
  nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  nvshmem_team_t team = 0;
  EXPECT(nvshmemx_team_get_uniqueid(&config.uniqueid) == 0);
  nvshmem_uint64_p(w->signal, config.uniqueid, w->pe);
  nvshmem_barrier_all();
  config.uniqueid = nvshmem_uint64_g(w->signal, 0);
  EXPECT(nvshmemx_team_init(&team, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, w->n_pes, w->n_pes - 1 - w->pe) == 0);
  EXPECT(nvshmem_team_translate_pe(team, 0, NVSHMEM_TEAM_WORLD) == w->n_pes - 1);
  nvshmem_int_p(w->data, w->pe, w->pe);
  nvshmem_quiet();
  EXPECT(nvshmem_int_fcollect(team, w->data + 100, w->data, 1) == 0);
  EXPECT(own(w, 100) == w->n_pes - 1);
  nvshmem_team_destroy(team);
}

static void registration(const struct world* w) {
  static char host[4096];
  EXPECT(nvshmemx_buffer_register_symmetric(host, sizeof host, 0) == NULL); /* host memory cannot be shared */
  EXPECT(nvshmemx_buffer_unregister_symmetric(w->data, sizeof host) != 0);  /* is not registered */
}

static void* use_in_thread(void* argument) {
  const struct world* const w = argument;
  const long long value = 7;
  EXPECT(nvshmem_my_pe() == w->pe);
  nvshmem_longlong_put(w->words + 33, &value, 1, w->pe);
  nvshmem_quiet();
  return NULL;
}

/* A second module of the process initializes NVSHMEM, and an additional thread uses it. */
static void two_modules(struct world* w) {
  nvshmem_init();
  EXPECT(nvshmem_my_pe() == w->pe && nvshmem_n_pes() == w->n_pes);
  pthread_t thread;
  const int error = pthread_create(&thread, NULL, use_in_thread, w);
  EXPECT(error == 0);
  if (error == 0) pthread_join(thread, NULL);
  const long long value = 5;
  nvshmem_longlong_put(w->words + 32, &value, 1, w->next);
  nvshmem_barrier_all();
  nvshmem_finalize();
  EXPECT(nvshmem_my_pe() == w->pe); /* the first module still holds a reference */
  EXPECT(nvshmem_longlong_g(w->words + 32, w->pe) == 5 && nvshmem_longlong_g(w->words + 33, w->pe) == 7);
}

int main(void) {
  EXPECT(nvshmemx_init_status() == NVSHMEM_STATUS_NOT_INITIALIZED);
  nvshmem_init();
  struct world w;
  w.pe = nvshmem_my_pe();
  w.n_pes = nvshmem_n_pes();
  w.next = (w.pe + 1) % w.n_pes;
  w.before = (w.pe + w.n_pes - 1) % w.n_pes;
  w.data = nvshmem_calloc(4 * count, sizeof(int));
  w.words = nvshmem_calloc(64, sizeof(long long));
  w.signal = nvshmem_calloc(8, sizeof(uint64_t));
  EXPECT(w.data != NULL && w.words != NULL && w.signal != NULL);
  moves(&w);
  signals(&w);
  waits(&w);
  atomics(&w);
  streams(&w);
  teams(&w);
  team_from_a_unique_id(&w);
  registration(&w);
  two_modules(&w);
  nvshmem_free(w.signal);
  nvshmem_free(w.words);
  nvshmem_free(w.data);
  nvshmem_finalize();
  EXPECT(nvshmemx_init_status() == NVSHMEM_STATUS_NOT_INITIALIZED);
  if (failures == 0) printf("PE %d of %d: ok\n", w.pe, w.n_pes);
  return failures == 0 ? 0 : 1;
}
