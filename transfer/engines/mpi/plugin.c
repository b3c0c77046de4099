/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * The plug-in of `gdrkit osu --engine mpi`: MPI's calls as a table of functions, compiled for one MPI, because handles
 * and constants differ between MPIs. For another MPI:
 *
 *   gdrkit osu --mpi-plugin-source | mpicc -O2 -shared -fPIC -o gdrkit_osu_mpi.so -x c -
 */
#define _GNU_SOURCE
#include "plugin.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { data_tag = 1 };

static MPI_Win window = MPI_WIN_NULL;
static MPI_Request* requests;
static MPI_Status* statuses;
static int requests_room;
static int own_rank;

static int begin(int* rank, int* ranks) {
  /* Like OSU's programs. MPI_THREAD_FUNNELED makes messages of Open MPI 4 slower; the other threads never call MPI. */
  int code = MPI_Init(NULL, NULL);
  if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (code == MPI_SUCCESS) code = MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  *rank = own_rank;
  return code == MPI_SUCCESS ? MPI_Comm_size(MPI_COMM_WORLD, ranks) : code;
}

static int end(void) {
  if (window != MPI_WIN_NULL) {
    int code = MPI_Win_unlock_all(window);
    if (code == MPI_SUCCESS) code = MPI_Win_free(&window);
    if (code != MPI_SUCCESS) return code;
  }
  free(requests);
  free(statuses);
  requests = NULL;
  statuses = NULL;
  requests_room = 0;
  return MPI_Finalize();
}

static const char* version(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "an unknown MPI";
  text[strcspn(text, "\n")] = '\0';
  for (char* at = text; *at != '\0'; ++at) *at = *at == '\t' ? ' ' : *at;
  return text;
}

/* Found by name: not every MPI has the function, and its header differs. */
static int has_cuda(void) {
  int (*query)(void) = NULL;
  *(void**)&query = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
  return query == NULL ? -1 : query() != 0;
}

static void error_text(int code, char* text, size_t size) {
  char full[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, full, &length) != MPI_SUCCESS) snprintf(full, sizeof full, "MPI's error %d", code);
  snprintf(text, size, "%s", full);
}

static int send_message(const void* source, size_t size_bytes, int peer) {
  return MPI_Send(source, (int)size_bytes, MPI_CHAR, peer, data_tag, MPI_COMM_WORLD);
}

static int receive_message(void* target, size_t size_bytes, int peer) {
  return MPI_Recv(target, (int)size_bytes, MPI_CHAR, peer, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int exchange(const void* source, int sends, void* target, int receives, size_t size_bytes, size_t stride_bytes,
                    int peer) {
  const int count = sends + receives;
  if (count > requests_room) {
    free(requests);
    free(statuses);
    requests = malloc((size_t)count * sizeof *requests);
    statuses = malloc((size_t)count * sizeof *statuses);
    requests_room = requests == NULL || statuses == NULL ? 0 : count;
    if (requests_room == 0) return MPI_ERR_NO_MEM;
  }
  int code = MPI_SUCCESS;
  for (int i = 0; i < receives && code == MPI_SUCCESS; ++i) {
    char* const buffer = (char*)target + (size_t)i * stride_bytes;
    code = MPI_Irecv(buffer, (int)size_bytes, MPI_CHAR, peer, data_tag, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = receives; i < count && code == MPI_SUCCESS; ++i) {
    const char* const buffer = (const char*)source + (size_t)(i - receives) * stride_bytes;
    code = MPI_Isend(buffer, (int)size_bytes, MPI_CHAR, peer, data_tag, MPI_COMM_WORLD, &requests[i]);
  }
  return code == MPI_SUCCESS ? MPI_Waitall(count, requests, statuses) : code;
}

static int share(void* target, size_t size_bytes) {
  int code = MPI_Win_create(target, (MPI_Aint)size_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (code == MPI_SUCCESS) code = MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  return code == MPI_SUCCESS ? MPI_Win_lock_all(0, window) : code;
}

static int put(const void* source, size_t size_bytes, int peer) {
  return MPI_Put(source, (int)size_bytes, MPI_CHAR, peer, 0, (int)size_bytes, MPI_CHAR, window);
}

static int get(void* target, size_t size_bytes, int peer) {
  return MPI_Get(target, (int)size_bytes, MPI_CHAR, peer, 0, (int)size_bytes, MPI_CHAR, window);
}

static int fetch_add(const void* operand, void* before, int peer) {
  return MPI_Fetch_and_op(operand, before, MPI_INT64_T, peer, 0, MPI_SUM, window);
}

static int flush(int peer) { return MPI_Win_flush(peer, window); }

static int run(enum gdrkit_osu_mpi_collective which, const void* source, void* target, size_t size_bytes) {
  const int size = (int)size_bytes;
  switch (which) {
    case GDRKIT_OSU_MPI_BARRIER: return MPI_Barrier(MPI_COMM_WORLD);
    case GDRKIT_OSU_MPI_ALLREDUCE:
      return MPI_Allreduce(source, target, size, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
    case GDRKIT_OSU_MPI_ALLTOALL: return MPI_Alltoall(source, size, MPI_CHAR, target, size, MPI_CHAR, MPI_COMM_WORLD);
    case GDRKIT_OSU_MPI_BCAST:
      return MPI_Bcast(own_rank == 0 ? (void*)(uintptr_t)source : target, size, MPI_CHAR, 0, MPI_COMM_WORLD);
    case GDRKIT_OSU_MPI_REDUCE: return MPI_Reduce(source, target, size, MPI_UNSIGNED_CHAR, MPI_SUM, 0, MPI_COMM_WORLD);
    case GDRKIT_OSU_MPI_GATHER: return MPI_Gather(source, size, MPI_CHAR, target, size, MPI_CHAR, 0, MPI_COMM_WORLD);
    case GDRKIT_OSU_MPI_SCATTER: return MPI_Scatter(source, size, MPI_CHAR, target, size, MPI_CHAR, 0, MPI_COMM_WORLD);
    case GDRKIT_OSU_MPI_ALLGATHER: return MPI_Allgather(source, size, MPI_CHAR, target, size, MPI_CHAR, MPI_COMM_WORLD);
  }
  return MPI_ERR_OTHER;
}

__attribute__((visibility("default"))) const struct gdrkit_osu_mpi_table* gdrkit_osu_mpi(void) {
  static const struct gdrkit_osu_mpi_table table = {GDRKIT_OSU_MPI_TABLE_VERSION,
                                                    begin,
                                                    end,
                                                    version,
                                                    has_cuda,
                                                    error_text,
                                                    send_message,
                                                    receive_message,
                                                    exchange,
                                                    share,
                                                    put,
                                                    get,
                                                    fetch_add,
                                                    flush,
                                                    run};
  return &table;
}
