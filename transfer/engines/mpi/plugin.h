/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * What `gdrkit osu --engine mpi` calls of a plug-in, which is compiled for one MPI: plugin.c. */
#ifndef GDRKIT_OSU_MPI_PLUGIN_H
#define GDRKIT_OSU_MPI_PLUGIN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GDRKIT_OSU_MPI_TABLE_VERSION 2

enum gdrkit_osu_mpi_collective {
  GDRKIT_OSU_MPI_BARRIER,
  GDRKIT_OSU_MPI_ALLREDUCE, /* sums of bytes */
  GDRKIT_OSU_MPI_ALLTOALL,  /* size_bytes: of one rank's part, as in ALLGATHER */
  GDRKIT_OSU_MPI_BCAST,     /* from the source of rank 0 to the targets of the others */
  GDRKIT_OSU_MPI_ALLGATHER,
  GDRKIT_OSU_MPI_REDUCE, /* sums of bytes on rank 0 */
  GDRKIT_OSU_MPI_GATHER, /* to rank 0; size_bytes as of ALLTOALL */
  GDRKIT_OSU_MPI_SCATTER /* from rank 0; size_bytes as of ALLTOALL */
};

/* Functions that return int return MPI's error code, 0 for success. */
struct gdrkit_osu_mpi_table {
  int table_version;
  int (*begin)(int* rank, int* ranks);
  int (*end)(void);
  const char* (*version)(void); /* the first line of MPI's own text; before begin() too */
  int (*has_cuda)(void);        /* whether MPI accepts addresses of GPUs: 1, 0, or -1 if unknown */
  void (*error_text)(int code, char* text, size_t size);
  int (*send)(const void* source, size_t size_bytes, int peer);
  int (*receive)(void* target, size_t size_bytes, int peer);
  /* Starts this many receives and sends at once and waits for all. Buffers are stride_bytes apart. */
  int (*exchange)(const void* source, int sends, void* target, int receives, size_t size_bytes, size_t stride_bytes,
                  int peer);
  /* Collective: others may put to `target` from now on. put(), get() and fetch_add() are complete after flush(). */
  int (*share)(void* target, size_t size_bytes);
  int (*put)(const void* source, size_t size_bytes, int peer);
  int (*get)(void* target, size_t size_bytes, int peer);
  int (*fetch_add)(const void* operand, void* before, int peer); /* of 8 bytes */
  int (*flush)(int peer);
  int (*run)(enum gdrkit_osu_mpi_collective which, const void* source, void* target, size_t size_bytes);
};

/* The name of the plug-in's only function, for dlsym(). */
#define GDRKIT_OSU_MPI_SYMBOL "gdrkit_osu_mpi"
const struct gdrkit_osu_mpi_table* gdrkit_osu_mpi(void);

#ifdef __cplusplus
}
#endif

#endif
