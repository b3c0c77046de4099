/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Each PE sends a row of numbers to the next one's GPU, with a signal behind it, and checks what came from the one
 * before. Without a launcher it is a job of one PE, its own neighbour.
 *
 *   gdrkit run -n 2 -- ./shmem_ring              one PE on each GPU
 *   gdrkit run -n 4 --emulated -- ./shmem_ring   anywhere
 */
#include <gdrkit/shmem.h>
#include <stdio.h>

enum { count = 1000, rounds = 100 };

static int report(const char* what) {
  fprintf(stderr, "%s: %s\n", what, gdrkit_shmem_last_error());
  return 1;
}

/* Returns 0 if all numbers arrived. */
static int play(int pe, int n_pes) {
  const int next = (pe + 1) % n_pes, before = (pe + n_pes - 1) % n_pes;
  long numbers[count], seen[count];
  long* inbox = NULL; /* at the same offset in every PE's heap */
  uint64_t* signal = NULL;
  if (gdrkit_shmem_long_calloc(count, &inbox) != 0 || gdrkit_shmem_uint64_calloc(1, &signal) != 0) {
    return report("allocating");
  }

  for (int round = 1; round <= rounds; ++round) {
    for (int i = 0; i < count; ++i) numbers[i] = 1000L * pe + i + round;
    /* The signal becomes visible after the numbers. */
    if (gdrkit_shmem_put_signal(inbox, numbers, sizeof numbers, signal, (uint64_t)round, GDRKIT_SHMEM_SIGNAL_SET,
                                next) != 0) {
      return report("putting");
    }
    if (gdrkit_shmem_signal_wait_until(signal, GDRKIT_SHMEM_GE, (uint64_t)round, NULL) != 0) return report("waiting");
    if (gdrkit_shmem_long_get(seen, inbox, count, pe) != 0) return report("reading");
    for (int i = 0; i < count; ++i) {
      if (seen[i] != 1000L * before + i + round) {
        fprintf(stderr, "PE %d, round %d: number %d is %ld\n", pe, round, i, seen[i]);
        return 1;
      }
    }
    if (gdrkit_shmem_barrier_all() != 0) return report("barrier"); /* no PE overwrites unchecked numbers */
  }
  printf("PE %d of %d: %d rounds of %d numbers from PE %d\n", pe, n_pes, rounds, count, before);
  return 0;
}

int main(void) {
  setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* line-buffered, so that lines of several PEs do not mix */
  if (gdrkit_shmem_init(NULL) != 0) return report("init");
  const int result = play(gdrkit_shmem_my_pe(), gdrkit_shmem_n_pes());
  if (gdrkit_shmem_finalize() != 0) return report("finalize");
  return result;
}
