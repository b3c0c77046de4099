/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * What libnvshmem_host.so.3 stores for GPU code of NVSHMEM, read back as that code reads it: by the offsets of
 * NVSHMEM's interface. Two processes on the emulated device, whose memory the CPU accesses. usage: device_state
 * LIBRARY. Prints "two PEs have the state". */
#include "nvshmem_interface.h"

enum { state_bytes_3_4 = 776, state_bytes_3_8 = 848, world = 0, shared = 1, node = 2 };
static const version version_3_4 = {3, 4, 5}, version_3_8 = {3, 8, 0}, version_2_11 = {2, 11, 0};

/* In place of the variable in the GPU code: symmetric memory, which the emulated device can write to. Followed by bytes
 * that must not change. */
enum { room = state_bytes_3_8 + 64 };
static unsigned char* state;
static int calls;
static void find_state(void** address, void** transport_address) {
  ++calls;
  *address = state;
  *transport_address = NULL;
}
static void find_nothing(void** address, void** transport_address) { *address = *transport_address = NULL; }

static int int_at(const void* base, size_t offset) {
  int value = 0;
  memcpy(&value, (const char*)base + offset, sizeof value);
  return value;
}
static uint64_t word_at(const void* base, size_t offset) {
  uint64_t value = 0;
  memcpy(&value, (const char*)base + offset, sizeof value);
  return value;
}
static void* address_at(const void* base, size_t offset) { return (void*)(uintptr_t)word_at(base, offset); }

static void* team_of(int handle) { return ((void**)address_at(state, 96))[handle]; }
/* The distance between the words of two teams, in words, as the GPU code computes it. */
static size_t words_per_team(const version* of) {
  const size_t scratch = word_at(state, 168) / 8, n_pes = (size_t)int_at(state, 8);
  EXPECT(word_at(state, 152) == 0 && word_at(state, 200) == 0);
  const size_t words = of->minor == 8 ? 20 * 27648 + scratch + n_pes : 16 * 27648 + scratch;
  return words + words % 2;
}
static volatile long* words_of(int handle, const version* of) {
  return (long*)address_at(state, 104) + (size_t)int_at(team_of(handle), 20) * words_per_team(of);
}
static volatile long* count_of(int handle) { return (long*)address_at(state, 112) + 2 * int_at(team_of(handle), 20); }

/* A barrier of two members, as GPU code performs it. */
static void barrier(int handle, const version* of) {
  const int* const map = address_at(team_of(handle), 784);
  const int me = int_at(state, 4), other = map[(int_at(team_of(handle), 4) + 1) % 2];
  char* const heap = address_at(state, 40);
  char* const peer_heap = ((char**)address_at(state, 56))[other];
  volatile long* const count = count_of(handle);
  volatile long* const words = words_of(handle, of);
  __atomic_store_n((long*)(peer_heap + ((char*)(words + me) - heap)), *count, __ATOMIC_RELEASE);
  while (__atomic_load_n(words + other, __ATOMIC_ACQUIRE) < *count) usleep(100);
  *count += 1;
}

static int init_device_library(version of, void* locate) {
  int provided = -1;
  return CALL(int, nvshmemid_hostlib_init_attr, (int, int*, unsigned, init_attr*, version, void*))(2, &provided, 0,
                                                                                                   NULL, of, locate);
}

static void state_members(const version* of, int bytes) {
  EXPECT(int_at(state, 0) == (1 << 16) + bytes);
  EXPECT(int_at(state, 4) == rank && int_at(state, 8) == 2);
  EXPECT(int_at(state, 12) == rank && int_at(state, 16) == 2);
  EXPECT(int_at(state, 20) == 1 && int_at(state, 24) == 0 && int_at(state, 32) == 1); /* no proxy; P2P with atomics */
  EXPECT(state[768] == 0 && state[769] == 1 && state[770] == 1);                      /* no IBGDA */
  EXPECT(int_at(state, 124) >= 2 && int_at(state, 128) >= 2);
  for (size_t i = (size_t)bytes; i < room; ++i) EXPECT(state[i] == 0xcc);
  const uint64_t heap = word_at(state, 40), heap_bytes = word_at(state, 48);
  const uint64_t words = word_at(state, 104);
  EXPECT(words >= heap && words + 33 * 8 * words_per_team(of) <= heap + heap_bytes);
  EXPECT(((uint64_t*)address_at(state, 56))[rank] == heap);
  EXPECT(address_at(state, 80) != NULL && address_at(state, 88) != NULL);
  int* const object = CALL(void*, nvshmem_malloc, (size_t))(64);
  const uint64_t offset = (uint64_t)(uintptr_t)object - heap;
  EXPECT((void*)(uintptr_t)(((uint64_t*)address_at(state, 56))[1 - rank] + offset) ==
         CALL(void*, nvshmem_ptr, (const void*, int))(object, 1 - rank));
  CALL(void, nvshmem_free, (void*))(object);
}

static void fixed_teams(const version* of) {
  for (int handle = world; handle <= node; ++handle) {
    const void* const team = team_of(handle);
    const int* const map = address_at(team, 784);
    EXPECT(int_at(team, 0) == (of->minor == 8 ? (4 << 16) + 816 : (3 << 16) + 792));
    EXPECT(int_at(team, 4) == rank && int_at(team, 8) == 0 && int_at(team, 12) == 1 && int_at(team, 16) == 2);
    EXPECT(int_at(team, 20) == handle && ((const char*)team)[236] == 1 && address_at(team, 264) == NULL);
    EXPECT(map[0] == 0 && map[1] == 1 && map[2] == 0 && map[3] == 1);
    for (int i = 0; i < 20; ++i) barrier(handle, of);
  }
  const void* const alone = team_of(3); /* the PEs with this number on their nodes */
  EXPECT(int_at(alone, 4) == 0 && int_at(alone, 8) == rank && int_at(alone, 16) == 1);
  EXPECT(team_of(4) == NULL && team_of(5) == NULL);
}

static int split(int start, int stride, int size) {
  int team = -2;
  EXPECT(CALL(int, nvshmem_team_split_strided, (int, int, int, int, const team_config*, long, int*))(
             world, start, stride, size, NULL, 0, &team) == 0);
  return team;
}

static void other_teams(const version* of) {
  const int reversed = split(1, -1, 2);
  const int* const map = address_at(team_of(reversed), 784);
  EXPECT(int_at(team_of(reversed), 4) == 1 - rank && int_at(team_of(reversed), 8) == 1);
  EXPECT(map[0] == 1 && map[1] == 0 && map[2] == 1 && map[3] == 0);
  for (int i = 0; i < 20; ++i) barrier(reversed, of);
  const int single = split(1, 1, 1); /* PE 1 */
  EXPECT((single == -1) == (rank == 0));
  if (rank == 1) {
    const int* const of_single = address_at(team_of(single), 784);
    EXPECT(int_at(team_of(single), 20) != int_at(team_of(reversed), 20));
    EXPECT(of_single[0] == 1 && of_single[1] == -1 && of_single[2] == 0);
  }
  CALL(void, nvshmem_team_destroy, (int))(reversed);
  EXPECT(team_of(reversed) == NULL);
  const int again = split(0, 1, 2); /* its place, whose words and counts start anew */
  EXPECT((again & 0xff) == (reversed & 0xff) && again != reversed);
  EXPECT(*count_of(again) == 1);
  for (int i = 0; i < 20; ++i) barrier(again, of);
  int x = -1, y = -1;
  EXPECT(CALL(int, nvshmem_team_split_2d, (int, int, const team_config*, long, int*, const team_config*, long, int*))(
             world, 2, NULL, 0, &x, NULL, 0, &y) == 0);
  EXPECT(int_at(team_of(x), 16) == 2 && int_at(team_of(y), 16) == 1);
  barrier(x, of);
  CALL(void, nvshmem_team_destroy, (int))(x);
  CALL(void, nvshmem_team_destroy, (int))(y);
  CALL(void, nvshmem_team_destroy, (int))(again);
  CALL(void, nvshmem_team_destroy, (int))(single);
}

static void clear_state(void) {
  memset(state, 0xcc, room);
  calls = 0;
}

/* From init to the end of the PE. */
static void whole_job(uniqueid* id) {
  if (!start_pe(id)) return;
  state = CALL(void*, nvshmem_malloc, (size_t))(room);
  const int early = split(1, -1, 2); /* before the first state */
  clear_state();
  EXPECT(init_device_library(version_2_11, find_state) == 0); /* unknown: prints the reason */
  EXPECT(calls == 0 && state[0] == 0xcc);
  EXPECT(init_device_library(version_3_4, NULL) == 0); /* code of the CPU only */
  EXPECT(init_device_library(version_3_4, find_nothing) == 0);
  EXPECT(init_device_library(version_3_4, find_state) == 0 && calls == 1);
  state_members(&version_3_4, state_bytes_3_4);
  fixed_teams(&version_3_4);
  barrier(early, &version_3_4);
  other_teams(&version_3_4);
  const uint64_t words = word_at(state, 104);
  EXPECT(init_device_library(version_3_4, find_state) == 0 && word_at(state, 104) == words); /* a second module */
  clear_state();
  EXPECT(init_device_library(version_3_8, find_state) == 0 && word_at(state, 104) != words);
  state_members(&version_3_8, state_bytes_3_8);
  fixed_teams(&version_3_8);
  barrier(early, &version_3_8);
  other_teams(&version_3_8);
  for (int i = 0; i < 6; ++i) CALL(void, nvshmemid_hostlib_finalize, (void*, void*))(state, NULL);
  EXPECT(CALL(int, nvshmem_my_pe, (void))() == rank);
  CALL(void, nvshmemx_hostlib_finalize, (void))();
  EXPECT(CALL(int, nvshmem_my_pe, (void))() == -1);
}

static int as_pe(uniqueid* id) {
  whole_job(id);
  if (failures == 0) whole_job(id + 1); /* the tables of the ended PE are not used again */
  return failures;
}

int main(int argc, char** argv) {
  if (!open_library(argc, argv) || run_two_pes(as_pe) != 0) return 1;
  printf("two PEs have the state\n");
  return 0;
}
