/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * What libnvshmem_host.so.3 prints and returns if it cannot fill the state of NVSHMEM's GPU code. Each case is a job of
 * two processes on the emulated device. usage: state_errors LIBRARY. Prints "two PEs report each error". */
#include <fcntl.h>

#include "nvshmem_interface.h"

enum { world = 0, teams_per_slot = 255, state_bytes = 1024 };
static const version version_3_4 = {3, 4, 5}, version_3_8 = {3, 8, 0}, version_3_5 = {3, 5, 19};

/* In place of the variable in the GPU code: symmetric memory, which the emulated device can write to. */
static unsigned char* state;
static void find_state(void** address, void** transport_address) {
  *address = state;
  *transport_address = NULL;
}
static void find_nothing(void** address, void** transport_address) { *address = *transport_address = NULL; }

static int init_device_library(version of, void (*locate)(void**, void**)) {
  int provided = -1;
  return CALL(int, nvshmemid_hostlib_init_attr, (int, int*, unsigned, init_attr*, version, void (*)(void**, void**)))(
      2, &provided, 0, NULL, of, locate);
}

/* stderr of the PE between the two calls. The text is also printed, for the log of a failed test. */
static int saved_stderr, captured;
static char text[4096];
static void begin_capture(void) {
  char name[] = "/tmp/state_errors_XXXXXX";
  captured = mkstemp(name);
  unlink(name);
  saved_stderr = dup(2);
  dup2(captured, 2);
}
static void end_capture(void) {
  dup2(saved_stderr, 2);
  close(saved_stderr);
  const ssize_t length = pread(captured, text, sizeof text - 1, 0);
  text[length > 0 ? length : 0] = '\0';
  close(captured);
  fputs(text, stderr);
}
static int lines(void) {
  int count = 0;
  for (const char* at = text; *at != '\0'; ++at) count += *at == '\n';
  return count;
}

/* Initializes GPU code, and expects one line that contains both parts, and a state that stays 0. The functions of the
 * CPU must work, so the call itself succeeds. */
static void expect_error(version of, void (*locate)(void**, void**), const char* cause, const char* advice) {
  begin_capture();
  const int result = init_device_library(of, locate);
  end_capture();
  char start[64];
  snprintf(start, sizeof start, "cannot initialize GPU code of NVSHMEM %d.%d.%d: ", of.major, of.minor, of.patch);
  EXPECT(result == 0);
  EXPECT(lines() == 1);
  EXPECT(strncmp(text, start, strlen(start)) == 0);
  EXPECT(strstr(text, cause) != NULL);
  EXPECT(strstr(text, advice) != NULL);
  for (int i = 0; i < state_bytes; ++i) EXPECT(state[i] == 0);
}

static void unknown_version(void) {
  expect_error(version_3_5, find_state, "gdrkit supports NVSHMEM 3.4 and 3.8; ",
               "compile the GPU code with one of them, or with gdrkit's nvshmem.h");
}

static void no_code_for_the_gpu(void) {
  expect_error(version_3_4, find_nothing, "the program has no code for the PE's GPU", "; compile it for this GPU");
}

/* The PEs make the second attempt one after the other. */
static void twice(const char* cause, const char* advice) {
  expect_error(version_3_4, find_state, cause, advice);
  for (int pe = 0; pe < 2; ++pe) {
    if (rank == pe) expect_error(version_3_4, find_state, cause, advice);
    CALL(void, nvshmem_barrier_all, (void))();
  }
  expect_error(version_3_8, find_state, cause, advice);
}

/* GDRKIT_SHMEM_HEAP_MAX=64M */
static void heap_too_small(void) {
  twice("bytes: the symmetric heap is limited to 67108864 bytes", "; increase GDRKIT_SHMEM_HEAP_MAX");
}

/* GDRKIT_SHMEM_DISABLE_P2P=1. Reports it before the tables are allocated, for which the heap is also too small. */
static void no_p2p_access(void) {
  twice("the GPU cannot access the memory of all PEs", "; run the job on one node whose GPUs have P2P access, or");
}

static int split(int start, int size, int* team) {
  *team = -2;
  return CALL(int, nvshmem_team_split_strided, (int, int, int, int, const team_config*, long, int*))(
      world, start, 1, size, NULL, 0, team);
}

static void too_many_teams(void) {
  EXPECT(init_device_library(version_3_4, find_state) == 0);
  int team = -2;
  for (int i = 0; i < teams_per_slot && failures == 0; ++i) {
    EXPECT(split(0, 2, &team) == 0 && team < 65536);
    CALL(void, nvshmem_team_destroy, (int))(team);
  }
  begin_capture();
  const int result = split(0, 2, &team);
  end_capture();
  EXPECT(result != 0 && lines() == 1);
  EXPECT(strncmp(text, "cannot describe team ", strlen("cannot describe team ")) == 0);
  EXPECT(strstr(text, "255 teams had its slot before; use a team again") != NULL);
  CALL(void, nvshmem_team_destroy, (int))(team); /* the CPU can use it, and destroys it */
}

/* GDRKIT_SHMEM_TIMEOUT_S=10. Only PE 1 fails, because it alone was in 255 teams with the slot of the last one. Its
 * second attempt must not wait for PE 0, which has the state. */
static void failure_of_one_pe(void) {
  int team = -2;
  for (int i = 0; i < teams_per_slot; ++i) {
    EXPECT(split(1, 1, &team) == 0 && (team == -1) == (rank == 0));
    if (rank == 1) CALL(void, nvshmem_team_destroy, (int))(team);
  }
  EXPECT(split(0, 2, &team) == 0 && (team > 65535) == (rank == 1));
  for (int i = 0; i < 2; ++i) {
    if (rank == 0) {
      EXPECT(init_device_library(version_3_4, find_state) == 0 && state[0] != 0);
    } else {
      expect_error(version_3_4, find_state, "cannot describe team ",
                   ": 255 teams had its slot before; use a team again");
    }
    CALL(void, nvshmem_barrier_all, (void))();
  }
  CALL(void, nvshmem_team_destroy, (int))(team);
}

struct test_case {
  const char* name;
  void (*run)(void);
  const char* settings[2]; /* NAME=VALUE or NULL */
};
static const struct test_case cases[] = {
    {"unknown_version", unknown_version, {NULL, NULL}},
    {"no_code_for_the_gpu", no_code_for_the_gpu, {NULL, NULL}},
    {"heap_too_small", heap_too_small, {"GDRKIT_SHMEM_HEAP_MAX=64M", NULL}},
    {"no_p2p_access", no_p2p_access, {"GDRKIT_SHMEM_DISABLE_P2P=1", "GDRKIT_SHMEM_HEAP_MAX=64M"}},
    {"too_many_teams", too_many_teams, {NULL, NULL}},
    {"failure_of_one_pe", failure_of_one_pe, {"GDRKIT_SHMEM_TIMEOUT_S=10", NULL}},
};
static const struct test_case* current;

static int as_pe(uniqueid* ids) {
  if (!start_pe(ids)) return failures;
  state = CALL(void*, nvshmem_calloc, (size_t, size_t))(1, state_bytes);
  EXPECT(state != NULL);
  if (failures == 0) current->run();
  if (failures == 0) CALL(void, nvshmemx_hostlib_finalize, (void))();
  return failures;
}

/* In a process of its own, because of the settings. */
static int run(const struct test_case* one) {
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 2; ++i) {
      if (one->settings[i] != NULL) putenv((char*)one->settings[i]);
    }
    current = one;
    _exit(run_two_pes(as_pe) != 0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  printf("%s: %s\n", one->name, status == 0 ? "ok" : "failed");
  return status != 0;
}

/* PEs without P2P access communicate through UCX. */
static int has_ucx(void) {
  void* const ucx = dlopen("libucp.so.0", RTLD_NOW);
  if (ucx != NULL) dlclose(ucx);
  return ucx != NULL;
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!open_library(argc, argv)) return 1;
  int failed = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (cases[i].run == no_p2p_access && !has_ucx()) {
      printf("%s: skipped: UCX is not installed\n", cases[i].name);
      continue;
    }
    failed += run(&cases[i]);
  }
  if (failed == 0) printf("two PEs report each error\n");
  return failed != 0;
}
