/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * mpi_loops: a baseline for `gdrkit osu --engine mpi`: the plain loops of one test in host memory.
 * mpirun -n 2 mpi_loops latency|bw|put_latency|put_bw|allreduce LARGEST [ITERATIONS]
 * Prints a size and a value for each power of 2: us, or MB/s. Iterations and warm-up are OSU's by default.
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { window_size = 64, tag = 1 };

static int rank, ranks;
static char *source, *target;
static MPI_Win window;
static MPI_Request requests[window_size];
static MPI_Status statuses[window_size];

static void ping_pong(int size) {
  if (rank == 0) {
    MPI_Send(source, size, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
    MPI_Recv(target, size, MPI_CHAR, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(target, size, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(source, size, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
  }
}

static void stream(int size) {
  if (rank == 0) {
    for (int i = 0; i < window_size; ++i) MPI_Isend(source, size, MPI_CHAR, 1, tag, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(window_size, requests, statuses);
    MPI_Recv(target, 4, MPI_CHAR, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    for (int i = 0; i < window_size; ++i) MPI_Irecv(target, size, MPI_CHAR, 0, tag, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(window_size, requests, statuses);
    MPI_Send(source, 4, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
  }
}

static void put(int size, int count) {
  if (rank != 0) return;
  for (int i = 0; i < count; ++i) MPI_Put(source, size, MPI_CHAR, 1, 0, size, MPI_CHAR, window);
  MPI_Win_flush(1, window);
}

/* Seconds of all iterations on this rank. */
static double measure(const char* test, int size, int iterations, int warmup) {
  double begin = 0, sum = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = -warmup; i < iterations; ++i) {
    if (i == 0) begin = MPI_Wtime();
    if (strcmp(test, "latency") == 0) {
      ping_pong(size);
    } else if (strcmp(test, "bw") == 0) {
      stream(size);
    } else if (strcmp(test, "put_latency") == 0) {
      put(size, 1);
    } else if (strcmp(test, "put_bw") == 0) {
      put(size, window_size);
    } else {
      const double start = MPI_Wtime();
      MPI_Allreduce(source, target, size, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
      if (i >= 0) sum += MPI_Wtime() - start;
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  const double seconds = strcmp(test, "allreduce") == 0 ? sum : MPI_Wtime() - begin;
  MPI_Barrier(MPI_COMM_WORLD);
  return seconds;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* const test = argv[1];
  const int largest = atoi(argv[2]);
  const int has_window = strstr(test, "bw") != NULL;
  const int is_of_all = strcmp(test, "allreduce") == 0;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void* memory[2];
  if (posix_memalign(&memory[0], page, (size_t)largest + 4) != 0) return 1;
  if (posix_memalign(&memory[1], page, (size_t)largest + 4) != 0) return 1;
  source = memset(memory[0], 'a', (size_t)largest + 4);
  target = memset(memory[1], 'b', (size_t)largest + 4);
  if (strncmp(test, "put", 3) == 0) {
    MPI_Win_create(target, largest, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(0, window);
  }
  for (int size = 1; size <= largest; size *= 2) {
    const int is_large = size > 8192;
    int iterations = is_of_all    ? (is_large ? 100 : 1000)
                     : has_window ? (is_large ? 20 : 100)
                                  : (is_large ? 1000 : 10000);
    if (argc > 3) iterations = atoi(argv[3]);
    const int warmup = has_window ? (is_large ? 2 : 10) : (is_large ? 10 : 100);
    double each = measure(test, size, iterations, warmup) / iterations;
    if (is_of_all) {
      double sum = 0;
      MPI_Reduce(&each, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      each = sum / ranks;
    }
    if (rank != 0) continue;
    if (has_window) {
      printf("%d %.3f\n", size, (double)window_size * size / each / 1e6);
    } else {
      printf("%d %.3f\n", size, each * 1e6 / (strcmp(test, "latency") == 0 ? 2 : 1));
    }
  }
  if (strncmp(test, "put", 3) == 0) {
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  }
  return MPI_Finalize();
}
