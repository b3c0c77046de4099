/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Halo exchange: a ring of cells is cut into one part for each PE. In each step every cell becomes the mean of itself
 * and its neighbours. So each PE needs one cell (the halo) of the previous PE and of the next one.
 *   gdrkit run -n 2 -- ./shmem_halo              one PE on each GPU
 *   gdrkit run -n 4 --emulated -- ./shmem_halo   any machine
 * The halos are in GPU memory. Here the CPU computes; in your program a GPU kernel does, with the same puts. */
#include <gdrkit/shmem.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { cells = 256, steps = 200 };

static int report(const char* what) {
  fprintf(stderr, "%s: %s\n", what, gdrkit_shmem_last_error());
  return 1;
}

static double first_value(int cell) { return cell % 97 == 0 ? 100.0 : cell % 7; }

/* One step over a ring of n cells. */
static void smooth(const double* from, double* to, int n) {
  for (int i = 0; i < n; ++i) to[i] = (from[(i + n - 1) % n] + from[i] + from[(i + 1) % n]) / 3;
}

/* Computes the expected result in one process. */
static double* expected_ring(int n) {
  double* from = malloc((size_t)n * sizeof *from);
  double* to = malloc((size_t)n * sizeof *to);
  for (int i = 0; i < n; ++i) from[i] = first_value(i);
  for (int step = 0; step < steps; ++step) {
    smooth(from, to, n);
    double* const swapped = from;
    from = to;
    to = swapped;
  }
  free(to);
  return from;
}

/* The cells that other PEs write: the cell before the part and the one after it, for even and odd steps, with signals.
 * There are two sets, because a neighbour may be one step ahead. */
struct halo {
  double* left;      /* [2] */
  double* right;     /* [2] */
  uint64_t* arrived; /* [2]: the last step whose left and right cells have arrived */
};

static int exchange(const struct halo* halo, const double* piece, int step, int pe, int n_pes) {
  const int before = (pe + n_pes - 1) % n_pes, next = (pe + 1) % n_pes, set = step % 2;
  const uint64_t number = (uint64_t)step + 1;
  /* The first cell is the right halo of the previous PE; the last one is the left halo of the next. */
  if (gdrkit_shmem_put_signal(halo->right + set, &piece[0], sizeof(double), halo->arrived + 1, number,
                              GDRKIT_SHMEM_SIGNAL_SET, before) != 0 ||
      gdrkit_shmem_put_signal(halo->left + set, &piece[cells - 1], sizeof(double), halo->arrived, number,
                              GDRKIT_SHMEM_SIGNAL_SET, next) != 0) {
    return report("putting the halo");
  }
  const struct gdrkit_shmem_words both = {halo->arrived, 2, GDRKIT_SHMEM_UINT64, GDRKIT_SHMEM_GE, &number, 1, NULL};
  return gdrkit_shmem_wait_until_all(&both) == 0 ? 0 : report("waiting for the halo");
}

static int play(int pe, int n_pes) {
  struct halo halo;
  double piece[cells], smoothed[cells];
  if (gdrkit_shmem_double_calloc(2, &halo.left) != 0 || gdrkit_shmem_double_calloc(2, &halo.right) != 0 ||
      gdrkit_shmem_uint64_calloc(2, &halo.arrived) != 0) {
    return report("allocating");
  }
  for (int i = 0; i < cells; ++i) piece[i] = first_value(pe * cells + i);

  for (int step = 0; step < steps; ++step) {
    double left, right;
    if (exchange(&halo, piece, step, pe, n_pes) != 0) return 1;
    if (gdrkit_shmem_double_g(halo.left + step % 2, &left, pe) != 0 ||
        gdrkit_shmem_double_g(halo.right + step % 2, &right, pe) != 0) {
      return report("reading the halo");
    }
    for (int i = 0; i < cells; ++i) {
      smoothed[i] = ((i == 0 ? left : piece[i - 1]) + piece[i] + (i == cells - 1 ? right : piece[i + 1])) / 3;
    }
    for (int i = 0; i < cells; ++i) piece[i] = smoothed[i];
  }

  double* const expected = expected_ring(n_pes * cells);
  int wrong = 0;
  for (int i = 0; i < cells; ++i) wrong += fabs(piece[i] - expected[pe * cells + i]) > 1e-9;
  free(expected);
  if (wrong != 0) {
    fprintf(stderr, "PE %d: %d of %d cells are wrong\n", pe, wrong, cells);
  } else {
    printf("PE %d of %d: %d steps of %d cells\n", pe, n_pes, steps, cells);
  }
  return wrong != 0;
}

int main(void) {
  setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* line-buffered, so that lines of several PEs do not mix */
  if (gdrkit_shmem_init(NULL) != 0) return report("init");
  const int result = play(gdrkit_shmem_my_pe(), gdrkit_shmem_n_pes());
  if (gdrkit_shmem_finalize() != 0) return report("finalize");
  return result;
}
