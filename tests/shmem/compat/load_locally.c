/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Loads a library whose symbols no other library sees, as Python loads mpi4py, and calls its run_as_library. */
#include <dlfcn.h>
#include <gdrkit/shmem.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* const library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*run)(void) = NULL;
  if (library != NULL) *(void**)&run = dlsym(library, "run_as_library");
  if (run != NULL) return run();
  /* This use also makes the program load gdrkit itself. */
  if (gdrkit_shmem_my_pe() < 0) fprintf(stderr, "%s\n", dlerror());
  return 1;
}
