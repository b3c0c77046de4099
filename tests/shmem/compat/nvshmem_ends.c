/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * usage: nvshmem_ends exit STATUS: PE 0 ends the job by nvshmem_global_exit(STATUS), with text in stdio's buffer
 *        nvshmem_ends init: a program that ignores the result of nvshmemx_init_attr, which fails
 *        nvshmem_ends malloc: a program that allocates before nvshmem_init
 *        nvshmem_ends nothing: a program that allocates 0 bytes */
#include <nvshmem.h>

int main(int count, char** arguments) {
  static char buffer[4096];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  if (count > 1 && strcmp(arguments[1], "init") == 0) {
    int communicator = 0;
    nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
    attributes.mpi_comm = &communicator;
    nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &attributes);
    return nvshmem_my_pe() == -1 ? 0 : 1;
  }
  if (count > 1 && strcmp(arguments[1], "malloc") == 0) return nvshmem_malloc(8) == NULL ? 0 : 1;
  if (count > 1 && strcmp(arguments[1], "nothing") == 0) {
    const int are_null = nvshmem_malloc(0) == NULL && nvshmem_calloc(0, 8) == NULL && nvshmem_calloc(8, 0) == NULL &&
                         nvshmem_align(64, 0) == NULL;
    return are_null ? 0 : 1;
  }
  nvshmem_init();
  printf("PE %d wrote this before the end\n", nvshmem_my_pe());
  nvshmem_barrier_all();
  if (nvshmem_my_pe() == 0) nvshmem_global_exit(count > 2 ? atoi(arguments[2]) : 1);
  for (;;) nvshmem_barrier_all();
}
