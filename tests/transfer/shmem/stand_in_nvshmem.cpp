// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A library with the names that bench loads from NVSHMEM, over libgdrkit_shmem's emulated PEs: what bench makes of a
// second library is tested where there is no GPU.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "gdrkit/shmem.h"

namespace {

// Where NVSHMEM's init attributes hold what set_attr_uniqueid_args was given.
constexpr std::size_t id_offset = 32;
constexpr std::size_t pe_offset = 40;
constexpr std::size_t n_pes_offset = 44;

template <class T>
T value_at(const void* bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, static_cast<const char*>(bytes) + offset, sizeof value);
  return value;
}

template <class T>
void set_at(void* bytes, std::size_t offset, T value) {
  std::memcpy(static_cast<char*>(bytes) + offset, &value, sizeof value);
}

bool has_version_one(const void* bytes, std::size_t offset, std::size_t size_bytes) {
  return value_at<std::int32_t>(bytes, offset) == (1 << 16) + static_cast<std::int32_t>(size_bytes);
}

/// Of the environment, read once, by the first call, as NVSHMEM does.
const std::string& scratch() {
  static const std::string seen = [] {
    const char* const set = std::getenv("NVSHMEM_REDUCE_SCRATCH_SIZE");
    return std::string(set == nullptr ? "its own" : set);
  }();
  return seen;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int nvshmemx_get_uniqueid(void* id) {
  (void)scratch();
  if (!has_version_one(id, 0, 128)) return 1;
  return gdrkit_shmem_get_unique_id(static_cast<gdrkit_shmem_unique_id_t*>(id));
}
int nvshmemx_set_attr_uniqueid_args(int pe, int n_pes, const void* id, void* attributes) {
  set_at(attributes, id_offset, id);
  set_at(attributes, pe_offset, pe);
  set_at(attributes, n_pes_offset, n_pes);
  return 0;
}
int nvshmemx_hostlib_init_attr(unsigned flags, void* attributes) {
  if (flags != 8 || !has_version_one(attributes, 0, 144) || !has_version_one(attributes, 16, 128) ||
      !has_version_one(attributes, 24, 24)) {
    return 1;
  }
  const char* const lines = std::getenv("STAND_IN_LINES");
  for (int i = 0; lines != nullptr && i < std::atoi(lines); ++i) std::fprintf(stderr, "thread [%d,0,0] failed\n", i);
  if (const char* const bytes = std::getenv("STAND_IN_LAST_LINE")) {
    const bool ends = std::getenv("STAND_IN_LAST_LINE_IS_CUT_OFF") == nullptr;
    std::fprintf(stderr, "%s%s", std::string(std::strtoul(bytes, nullptr, 10), 'x').c_str(), ends ? "\n" : "");
  }
  if (std::getenv("STAND_IN_PRINTS_SCRATCH") != nullptr) std::fprintf(stderr, "scratch: %s\n", scratch().c_str());
  gdrkit_shmem_options options{};
  options.struct_size = sizeof options;
  options.unique_id = value_at<const gdrkit_shmem_unique_id_t*>(attributes, id_offset);
  options.pe = value_at<int>(attributes, pe_offset);
  options.n_pes = value_at<int>(attributes, n_pes_offset);
  return gdrkit_shmem_init(&options);
}
void nvshmemx_hostlib_finalize() { (void)gdrkit_shmem_finalize(); }
void nvshmemx_vendor_get_version_info(int* major, int* minor, int* patch) {
  *major = 9;
  *minor = 8;
  *patch = 7;
}
int nvshmem_my_pe() { return gdrkit_shmem_my_pe(); }
void* nvshmem_calloc(std::size_t count, std::size_t size_bytes) {
  void* address = nullptr;
  return gdrkit_shmem_calloc(count, size_bytes, &address) == 0 ? address : nullptr;
}
void nvshmem_putmem(void* target, const void* source, std::size_t size_bytes, int pe) {
  (void)gdrkit_shmem_put(target, source, size_bytes, pe);
}
void nvshmem_getmem(void* target, const void* source, std::size_t size_bytes, int pe) {
  // As NVSHMEM ends the process where it fails.
  if (std::getenv("STAND_IN_ENDS_IN_GET") != nullptr) ::_exit(255);
  (void)gdrkit_shmem_get(target, source, size_bytes, pe);
}
void nvshmem_uint64_p(std::uint64_t* target, std::uint64_t value, int pe) {
  (void)gdrkit_shmem_uint64_p(target, value, pe);
}
std::uint64_t nvshmem_uint64_g(const std::uint64_t* source, int pe) {
  std::uint64_t value = 0;
  (void)gdrkit_shmem_uint64_g(source, &value, pe);
  return value;
}
void nvshmem_quiet() { (void)gdrkit_shmem_quiet(); }
void nvshmem_barrier_all() { (void)gdrkit_shmem_barrier_all(); }
void nvshmem_sync_all() { (void)gdrkit_shmem_sync_all(); }
void nvshmemx_putmem_signal_on_stream(void* target, const void* source, std::size_t size_bytes, std::uint64_t* signal,
                                      std::uint64_t value, int operation, int pe, void*) {
  (void)gdrkit_shmem_put_signal(target, source, size_bytes, signal, value, static_cast<gdrkit_shmem_signal>(operation),
                                pe);
}
void nvshmemx_signal_wait_until_on_stream(std::uint64_t* signal, int comparison, std::uint64_t value, void*) {
  (void)gdrkit_shmem_signal_wait_until(signal, static_cast<gdrkit_shmem_comparison>(comparison), value, nullptr);
}
void nvshmemx_putmem_on_stream(void* target, const void* source, std::size_t size_bytes, int pe, void*) {
  (void)gdrkit_shmem_put(target, source, size_bytes, pe);
}
void nvshmemx_getmem_on_stream(void* target, const void* source, std::size_t size_bytes, int pe, void*) {
  (void)gdrkit_shmem_get(target, source, size_bytes, pe);
}
void nvshmemx_uint64_p_on_stream(std::uint64_t* target, std::uint64_t value, int pe, void*) {
  (void)gdrkit_shmem_uint64_p(target, value, pe);
}
void nvshmemx_quiet_on_stream(void*) { (void)gdrkit_shmem_quiet(); }
void nvshmemx_barrier_all_on_stream(void*) { (void)gdrkit_shmem_barrier_all(); }
void nvshmemx_sync_all_on_stream(void*) { (void)gdrkit_shmem_sync_all(); }

// A team is gdrkit's of the same number: 0, all PEs.
#define STAND_IN_COLLECTIVE(name)                                                                                 \
  int nvshmem_##name##mem(int team, void* target, const void* source, std::size_t size_bytes) {                   \
    return gdrkit_shmem_##name(team, target, source, size_bytes);                                                 \
  }                                                                                                               \
  int nvshmemx_##name##mem_on_stream(int team, void* target, const void* source, std::size_t size_bytes, void*) { \
    return gdrkit_shmem_##name(team, target, source, size_bytes);                                                 \
  }
#define STAND_IN_REDUCTION(operation)                                                                             \
  int nvshmem_float_sum_##operation(int team, float* target, const float* source, std::size_t count) {            \
    return gdrkit_shmem_float_sum_##operation(team, target, source, count);                                       \
  }                                                                                                               \
  int nvshmemx_float_sum_##operation##_on_stream(int team, float* target, const float* source, std::size_t count, \
                                                 void*) {                                                         \
    return gdrkit_shmem_float_sum_##operation(team, target, source, count);                                       \
  }
STAND_IN_COLLECTIVE(fcollect)
STAND_IN_COLLECTIVE(alltoall)
STAND_IN_REDUCTION(reduce)
STAND_IN_REDUCTION(reducescatter)
int nvshmem_broadcastmem(int team, void* target, const void* source, std::size_t size_bytes, int root) {
  return gdrkit_shmem_broadcast(team, target, source, size_bytes, root);
}
int nvshmemx_broadcastmem_on_stream(int team, void* target, const void* source, std::size_t size_bytes, int root,
                                    void*) {
  return gdrkit_shmem_broadcast(team, target, source, size_bytes, root);
}
int nvshmemx_cumodule_init(void*) { return 0; }
int cuStreamSynchronize(void*) { return 0; }

}  // extern "C"
#pragma GCC visibility pop
