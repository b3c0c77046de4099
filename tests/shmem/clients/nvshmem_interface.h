/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * For clients that load libnvshmem_host.so.3 by name: the types of NVSHMEM's interface, written out, and the start of
 * two PEs on the emulated device. Each client includes it once. */
#ifndef NVSHMEM_INTERFACE_H
#define NVSHMEM_INTERFACE_H

#include <assert.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  int version;
  char internal[124];
} uniqueid;
typedef struct {
  int version;
  uniqueid* id;
  int rank, n_ranks;
} uniqueid_args;
typedef struct {
  int version;
  uniqueid_args uid;
  int device;
  char content[92];
} init_args;
typedef struct {
  int version;
  void* mpi_comm;
  init_args args;
} init_attr;
typedef struct {
  int version, num_contexts;
  uint64_t id;
  char padding[48];
} team_config;
typedef struct {
  uint16_t bits;
} half;
typedef struct {
  int major, minor, patch;
} version;
static_assert(sizeof(uniqueid) == 128 && sizeof(uniqueid_args) == 24 && sizeof(init_args) == 128, "NVSHMEM's sizes");
static_assert(sizeof(init_attr) == 144 && sizeof(team_config) == 64, "NVSHMEM's sizes");

static void* library;
static int failures, rank = -1;
#define EXPECT(condition)                                                                     \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      ++failures;                                                                             \
      fprintf(stderr, "process %d, line %d: %s does not hold\n", rank, __LINE__, #condition); \
    }                                                                                         \
  } while (0)

static void* find(const char* name) {
  void* const address = dlsym(library, name);
  if (address != NULL) return address;
  fprintf(stderr, "%s is missing\n", name);
  exit(1);
}
/* CALL(int, nvshmem_ptr, (const void*, int))(address, pe) */
#define CALL(result, name, parameters) ((result(*) parameters)find(#name))

static int initialize(unsigned flags, init_attr* attributes) {
  return CALL(int, nvshmemx_hostlib_init_attr, (unsigned, init_attr*))(flags, attributes);
}

/* Starts this PE of a job of two. Returns whether it succeeded. nvshmem4py does not clear the attributes, either. */
static int start_pe(uniqueid* id) {
  init_attr attributes;
  memset(&attributes, 0xee, sizeof attributes);
  EXPECT(CALL(int, nvshmemx_set_attr_uniqueid_args, (int, int, uniqueid*, init_attr*))(rank, 2, id, &attributes) == 0);
  EXPECT(initialize(8, &attributes) == 0);
  return failures == 0;
}

static int open_library(int argc, char** argv) {
  library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  if (library == NULL) fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: PROGRAM LIBRARY");
  return library != NULL;
}

/* Calls `as_pe` in two processes with the ids of two jobs. Returns the exit status of the program. The child exits. */
static int run_two_pes(int (*as_pe)(uniqueid* ids)) {
  uniqueid ids[2];
  memset(ids, 0xee, sizeof ids);
  for (int i = 0; i < 2; ++i) {
    EXPECT(CALL(int, nvshmemx_get_uniqueid, (uniqueid*))(&ids[i]) == 0);
    EXPECT(ids[i].version == (1 << 16) + 128);
  }
  const pid_t child = fork();
  rank = child == 0 ? 1 : 0;
  const int failed = as_pe(ids);
  if (child == 0) _exit(failed != 0);
  int status = 1;
  waitpid(child, &status, 0);
  return failed != 0 || status != 0;
}

#endif
