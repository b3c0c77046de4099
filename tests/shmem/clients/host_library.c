/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * A client that loads libnvshmem_host.so.3 by name, with the types of NVSHMEM's interface written out. Two processes on
 * the emulated device. usage: host_library LIBRARY. Prints "two PEs through the library". */
#include "nvshmem_interface.h"

#define put_on_stream CALL(void, nvshmemx_putmem_on_stream, (void*, const void*, size_t, int, void*))
#define barrier_all CALL(void, nvshmem_barrier_all, (void))
#define quiet_on_stream CALL(void, nvshmemx_quiet_on_stream, (void*))
#define barrier_all_on_stream CALL(void, nvshmemx_barrier_all_on_stream, (void*))
/* Returns when the stream has completed. */
#define int_g_on_stream CALL(int, nvshmemx_int_g_on_stream, (const int*, int, void*))
#define int_p CALL(void, nvshmem_int_p, (int*, int, int))
#define int_g CALL(int, nvshmem_int_g, (const int*, int))

enum { count = 256, signal_set = 9, compare_eq = 0, world = 0 };

static void queries(void) {
  int major = 0, minor = 0, patch = 0, provided = -1;
  char name[256] = "";
  CALL(void, nvshmem_info_get_version, (int*, int*))(&major, &minor);
  EXPECT(major == 1 && minor == 3);
  CALL(void, nvshmemx_vendor_get_version_info, (int*, int*, int*))(&major, &minor, &patch);
  EXPECT(major == 3 && minor == 8 && patch == 0);
  CALL(void, nvshmem_info_get_name, (char*))(name);
  EXPECT(strcmp(name, "gdrkit") == 0);
  CALL(void, nvshmem_query_thread, (int*))(&provided);
  EXPECT(provided == 3);
}

static void wrong_arguments_before_init(void) {
  init_attr attributes;
  memset(&attributes, 0xee, sizeof attributes); /* nvshmem4py does not clear it */
  EXPECT(initialize(8, NULL) != 0);
  EXPECT(initialize(1U << 20, &attributes) != 0);
  CALL(int, nvshmemx_set_attr_uniqueid_args, (int, int, uniqueid*, init_attr*))(0, 0, NULL, &attributes);
  EXPECT(initialize(8, &attributes) != 0);
  uniqueid foreign;
  memset(&foreign, 0x55, sizeof foreign);
  CALL(int, nvshmemx_set_attr_uniqueid_args, (int, int, uniqueid*, init_attr*))(0, 2, &foreign, &attributes);
  EXPECT(initialize(8, &attributes) != 0);
  attributes.mpi_comm = &foreign;
  EXPECT(initialize(2, &attributes) != 0); /* no MPI is loaded */
  EXPECT(CALL(int, nvshmem_my_pe, (void))() == -1);
  EXPECT(CALL(int, nvshmemx_init_status, (void))() == 0);
  EXPECT(CALL(int, nvshmemid_init_status, (void))() == 0);
  EXPECT(CALL(void*, nvshmem_malloc, (size_t))(64) == NULL);
}

static void moves(int* data, uint64_t* signal) {
  const int other = 1 - rank;
  int* const mine = data + count;
  for (int i = 0; i < count; ++i) int_p(mine + i, 1000 * rank + i, rank);
  barrier_all();
  put_on_stream(data, mine, count * sizeof(int), other, NULL);
  quiet_on_stream(NULL);
  barrier_all_on_stream(NULL);
  EXPECT(int_g_on_stream(data + 7, rank, NULL) == 1000 * other + 7);
  CALL(void, nvshmemx_getmem_nbi_on_stream, (void*, const void*, size_t, int, void*))
  (data, mine, 8 * sizeof(int), other, NULL);
  CALL(void, nvshmemx_flush_on_stream, (void*))(NULL);
  barrier_all_on_stream(NULL);
  EXPECT(int_g_on_stream(data, rank, NULL) == 1000 * other);
  barrier_all();
  CALL(void, nvshmemx_putmem_signal_on_stream, (void*, const void*, size_t, uint64_t*, uint64_t, int, int, void*))
  (data, mine, 4, signal, 5, signal_set, other, NULL);
  CALL(void, nvshmemx_signal_wait_until_on_stream, (uint64_t*, int, uint64_t, void*))(signal, compare_eq, 5, NULL);
  put_on_stream(data + 1, data, 4, rank, NULL); /* after the wait */
  quiet_on_stream(NULL);
  EXPECT(CALL(uint64_t, nvshmem_signal_wait_until, (uint64_t*, int, uint64_t))(signal, compare_eq, 5) == 5);
  EXPECT(int_g_on_stream(data + 1, rank, NULL) == 1000 * other);
  EXPECT(CALL(uint64_t, nvshmem_signal_fetch, (uint64_t*))(signal) == 5);
  EXPECT(CALL(int, nvshmem_int_atomic_fetch_add, (int*, int, int))(mine, 3, rank) == 1000 * rank);
  EXPECT(int_g(mine, rank) == 1000 * rank + 3);
  barrier_all();
}

static void halves(half* data) {
  const half one = {0x3c00}, two = {0x4000};
  CALL(void, nvshmem_half_p, (half*, half, int))(data, one, 1 - rank);
  barrier_all();
  EXPECT(CALL(half, nvshmem_half_g, (const half*, int))(data, rank).bits == one.bits);
  barrier_all();
  EXPECT(CALL(half, nvshmemx_half_atomic_fetch_add, (half*, half, int))(data, one, rank).bits == one.bits);
  EXPECT(CALL(half, nvshmem_half_g, (const half*, int))(data, rank).bits == two.bits);
  const half old = {0x3f80}; /* 1 as a bfloat16 */
  CALL(void, nvshmem_bfloat16_p, (half*, half, int))(data, old, rank);
  CALL(void, nvshmemx_bfloat16_atomic_add, (half*, half, int))(data, old, rank);
  EXPECT(CALL(half, nvshmem_bfloat16_g, (const half*, int))(data, rank).bits == two.bits);
  barrier_all();
}

static void collectives(int* data) {
  int* const result = data + count;
  for (int i = 0; i < 4; ++i) int_p(data + i, 10 * rank + i, rank);
  barrier_all();
  typedef int move(int, int*, const int*, size_t, void*);
  EXPECT(((move*)find("nvshmemx_int_sum_reduce_on_stream"))(world, result, data, 4, NULL) == 0);
  EXPECT(((move*)find("nvshmemx_int_fcollect_on_stream"))(world, result + 4, data, 4, NULL) == 0);
  EXPECT(((move*)find("nvshmemx_int_alltoall_on_stream"))(world, result + 12, data, 2, NULL) == 0);
  EXPECT(((move*)find("nvshmemx_int_max_reducescatter_on_stream"))(world, result + 16, data, 2, NULL) == 0);
  EXPECT(CALL(int, nvshmemx_int_broadcast_on_stream, (int, int*, const int*, size_t, int, void*))(
             world, result + 18, data, 4, 1, NULL) == 0);
  EXPECT(CALL(int, nvshmemx_barrier_on_stream, (int, void*))(world, NULL) == 0);
  EXPECT(CALL(int, nvshmemx_team_sync_on_stream, (int, void*))(world, NULL) == 0);
  CALL(void, nvshmemx_sync_all_on_stream, (void*))(NULL);
  EXPECT(int_g_on_stream(result + 3, rank, NULL) == 16); /* (0 + 3) + (10 + 3) */
  EXPECT(int_g(result + 4 + 5, rank) == 11);             /* part 1, element 1 */
  EXPECT(int_g(result + 12, rank) == 2 * rank);          /* from PE 0, its part for this PE */
  EXPECT(int_g(result + 14, rank) == 10 + 2 * rank);     /* from PE 1 */
  EXPECT(int_g(result + 16, rank) == 10 + 2 * rank);
  EXPECT(int_g(result + 18 + 2, rank) == 12);
  EXPECT(((move*)find("nvshmemx_int_sum_reduce_on_stream"))(4711, result, data, 4, NULL) != 0);
  EXPECT(CALL(int, nvshmem_barrier, (int))(-1) != 0);
  barrier_all();
}

static void teams(void) {
  team_config config;
  memset(&config, 0xee, sizeof config);
  CALL(void, nvshmem_team_get_config, (int, team_config*))(world, &config);
  EXPECT(config.version == (2 << 16) + 64 && config.num_contexts == 0);
  int team = 0, x = 0, y = 0;
  EXPECT(CALL(int, nvshmem_team_split_strided, (int, int, int, int, const team_config*, long, int*))(
             world, 1, 1, 1, &config, 0, &team) == 0);
  EXPECT((team == -1) == (rank == 0));
  EXPECT(CALL(int, nvshmem_team_my_pe, (int))(team) == rank - 1);
  EXPECT(CALL(int, nvshmem_team_n_pes, (int))(world) == 2);
  EXPECT(CALL(int, nvshmem_team_translate_pe, (int, int, int))(world, 1, team) == rank - 1);
  CALL(void, nvshmem_team_destroy, (int))(team);
  EXPECT(CALL(int, nvshmem_team_split_2d, (int, int, const team_config*, long, int*, const team_config*, long, int*))(
             world, 2, NULL, 0, &x, NULL, 0, &y) == 0);
  EXPECT(CALL(int, nvshmem_team_n_pes, (int))(x) == 2 && CALL(int, nvshmem_team_n_pes, (int))(y) == 1);
  EXPECT(CALL(int, nvshmem_team_split_strided, (int, int, int, int, const team_config*, long, int*))(
             world, 0, 1, 9, NULL, 0, &team) != 0);
}

/* `word`: symmetric. */
static void teams_from_a_unique_id(uint64_t* word) {
  team_config config;
  int team = 5;
  memset(&config, 0, sizeof config);
  EXPECT(CALL(int, nvshmemx_team_get_uniqueid, (uint64_t*))(&config.id) == 0 && config.id != 0);
  /* Both PEs use the id of PE 1. */
  CALL(void, nvshmem_uint64_p, (uint64_t*, uint64_t, int))(word, config.id, rank);
  barrier_all();
  config.id = CALL(uint64_t, nvshmem_uint64_g, (const uint64_t*, int))(word, 1);
  EXPECT(CALL(int, nvshmemx_team_init, (int*, team_config*, long, int, int))(&team, NULL, 2, 2, rank) != 0);
  EXPECT(team == -1);
  EXPECT(CALL(int, nvshmemx_team_init, (int*, team_config*, long, int, int))(&team, &config, 0, 2, rank) != 0);
  EXPECT(CALL(int, nvshmemx_team_init, (int*, team_config*, long, int, int))(&team, &config, 2, 2, 1 - rank) == 0);
  EXPECT(CALL(int, nvshmem_team_my_pe, (int))(team) == 1 - rank);
  EXPECT(CALL(int, nvshmem_team_translate_pe, (int, int, int))(team, 0, world) == 1);
  EXPECT(CALL(int, nvshmem_team_sync, (int))(team) == 0);
  CALL(void, nvshmem_team_destroy, (int))(team);
}

static void missing_and_wrong(void* data) {
  uint64_t id = 0;
  int* handles = NULL;
  EXPECT(CALL(int, nvshmemx_qp_create, (int, int**))(1, &handles) != 0);
  EXPECT(CALL(void*, nvshmemx_mc_ptr, (int, const void*))(world, data) == NULL);
  EXPECT(CALL(void*, nvshmem_ptr, (const void*, int))(data, 1 - rank) != NULL);
  EXPECT(CALL(void*, nvshmem_ptr, (const void*, int))(data, 9) == NULL);
  EXPECT(CALL(void*, nvshmem_ptr, (const void*, int))(&id, rank) == NULL);
  EXPECT(CALL(int, nvshmemx_cumodule_init, (void*))(NULL) != 0);
  EXPECT(CALL(int, nvshmemx_culibrary_init, (void*))(NULL) != 0);
  EXPECT(CALL(int, nvshmemx_cumodule_finalize, (void*))(NULL) == 0);
  EXPECT(CALL(int, nvshmemx_collective_launch_attr, (const void*, const void*, void**))(NULL, data, NULL) != 0);
  EXPECT(CALL(void*, nvshmemx_buffer_register_symmetric, (void*, size_t, int))(NULL, 4096, 0) == NULL);
  EXPECT(CALL(void*, nvshmemx_buffer_register_symmetric_at_preferred_address, (void*, size_t, void*, int))(
             NULL, 4096, data, 0) == NULL);
  EXPECT(CALL(int, nvshmemx_buffer_unregister_symmetric, (void*, size_t))(data, 4096) != 0);
  barrier_all();
}

static int as_pe(uniqueid* id) {
  if (!start_pe(id)) return failures;
  EXPECT(CALL(int, nvshmem_my_pe, (void))() == rank && CALL(int, nvshmem_n_pes, (void))() == 2);
  EXPECT(CALL(int, nvshmemx_init_status, (void))() == 2);
  int* const data = CALL(void*, nvshmem_malloc, (size_t))(2 * count * sizeof(int));
  uint64_t* const signal = CALL(void*, nvshmem_calloc, (size_t, size_t))(1, sizeof(uint64_t));
  void* const aligned = CALL(void*, nvshmem_align, (size_t, size_t))(4096, 100);
  EXPECT(data != NULL && signal != NULL && aligned != NULL && (uintptr_t)aligned % 4096 == 0);
  if (failures != 0) _exit(1);
  moves(data, signal);
  halves((half*)data);
  collectives(data);
  teams();
  teams_from_a_unique_id(signal);
  missing_and_wrong(data);
  /* What NVSHMEM's device library calls: the same PE, counted. */
  int provided = -1;
  const version device_library = {3, 8, 0};
  EXPECT(CALL(int, nvshmemid_hostlib_init_attr, (int, int*, unsigned, init_attr*, version, void*))(
             2, &provided, 0, NULL, device_library, NULL) == 0);
  EXPECT(provided == 3 && CALL(int, nvshmemid_init_status, (void))() == 2);
  CALL(void, nvshmemid_hostlib_finalize, (void*, void*))(NULL, NULL);
  for (void* object = aligned; object != NULL; object = object == aligned  ? (void*)signal
                                                        : object == signal ? data
                                                                           : NULL) {
    CALL(void, nvshmem_free, (void*))(object);
  }
  CALL(void, nvshmemx_hostlib_finalize, (void))();
  EXPECT(CALL(int, nvshmem_my_pe, (void))() == -1);
  return failures;
}

int main(int argc, char** argv) {
  if (!open_library(argc, argv)) return 1;
  queries();
  wrong_arguments_before_init();
  if (run_two_pes(as_pe) != 0) return 1;
  printf("two PEs through the library\n");
  return 0;
}
