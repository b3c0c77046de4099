/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Prints the size of the symmetric heap that a program on nvshmem.h starts with. */
#include <inttypes.h>
#include <nvshmem.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  struct gdrkit_shmem_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  int provided = 0;
  if (nvshmem_init_thread(NVSHMEM_THREAD_MULTIPLE, &provided) != 0) {
    printf("nvshmem_init_thread: %s\n", gdrkit_shmem_last_error());
    return 1;
  }
  if (gdrkit_shmem_get_info(&info) != 0) return 1;
  printf("heap %" PRIu64 "\n", info.heap_bytes);
  nvshmem_finalize();
  return 0;
}
