/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Two modules of one process initialize NVSHMEM, and an additional thread uses it. Prints "one PE for both". */
#include <nvshmem.h>
#include <nvshmemx.h>

#include <pthread.h>
#include <stdio.h>

static long* words;
static int failed;

static void* work(void* pe) {
  const long value = 7;
  failed |= nvshmem_my_pe() != *(int*)pe;
  nvshmem_long_put(words + 1, &value, 1, nvshmem_my_pe());
  nvshmem_quiet();
  return NULL;
}

int main(void) {
  nvshmem_init();
  int pe = nvshmem_my_pe();
  words = nvshmem_calloc(2, sizeof *words);
  nvshmem_init();
  failed |= nvshmem_my_pe() != pe;
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, &pe) != 0) return 1;
  pthread_join(thread, NULL);
  const long value = 5;
  nvshmem_long_put(words, &value, 1, (pe + 1) % nvshmem_n_pes());
  nvshmem_barrier_all();
  nvshmem_finalize();
  failed |= nvshmem_my_pe() != pe; /* the other module still holds a reference */
  failed |= nvshmem_long_g(words, pe) != 5 || nvshmem_long_g(words + 1, pe) != 7;
  nvshmem_free(words);
  nvshmem_finalize();
  failed |= nvshmemx_init_status() != NVSHMEM_STATUS_NOT_INITIALIZED;
  if (!failed) puts("one PE for both");
  return failed;
}
