// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A program as one would write it for NVSHMEM, in C++: strided transfers, alltoalls, elements of 1 and 2 bytes, sums of
// floating-point words, and waits on streams. Where CUDA's headers exist also half and bfloat16. Prints "PE n of m:
// ok".
#include <nvshmem.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

int failures = 0;
#define EXPECT(condition)                                                                                \
  do {                                                                                                   \
    if (!(condition)) {                                                                                  \
      ++failures;                                                                                        \
      std::fprintf(stderr, "PE %d, line %d: %s does not hold\n", nvshmem_my_pe(), __LINE__, #condition); \
    }                                                                                                    \
  } while (0)

constexpr cudaStream_t stream = nullptr;

struct World {
  int pe = nvshmem_my_pe();
  int n = nvshmem_n_pes();
  int next = (pe + 1) % n;
  int before = (pe + n - 1) % n;
  char* heap = static_cast<char*>(nvshmem_calloc(65536, 1));

  template <class T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(heap + offset);
  }
  void clear() const {
    nvshmem_barrier_all();
    const std::vector<char> zeros(65536);
    nvshmem_putmem(heap, zeros.data(), zeros.size(), pe);
    nvshmem_barrier_all();
  }
};

template <class T>
std::vector<T> own(const World& w, const T* source, std::size_t count) {
  std::vector<T> values(count);
  nvshmem_getmem(values.data(), source, count * sizeof(T), w.pe);
  return values;
}

void strided(const World& w) {
  w.clear();
  std::vector<long long> numbers(40);
  for (int i = 0; i < 40; ++i) numbers[static_cast<std::size_t>(i)] = 100 * w.pe + i;
  auto* const target = w.at<long long>(0);
  nvshmem_iput64(target, numbers.data(), 3, 2, 5, w.next);
  nvshmemx_iput128_on_stream(target + 64, numbers.data(), 2, 1, 4, w.next, stream);
  nvshmemx_longlong_iput_on_stream(target + 128, numbers.data(), 1, 4, 6, w.next, stream);
  gdrkit_shmem_stream_synchronize(stream);
  nvshmem_barrier_all();
  auto seen = own(w, target, 192);
  for (std::size_t i = 0; i < 15; ++i)
    EXPECT(seen[i] == (i % 3 != 0 ? 0 : 100 * w.before + static_cast<int>(i / 3 * 2)));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT(seen[64 + 4 * i] == 100 * w.before + static_cast<int>(2 * i));
    EXPECT(seen[64 + 4 * i + 1] == 100 * w.before + static_cast<int>(2 * i) + 1);
    EXPECT(i == 3 || (seen[64 + 4 * i + 2] == 0 && seen[64 + 4 * i + 3] == 0));
  }
  for (std::size_t i = 0; i < 6; ++i) EXPECT(seen[128 + i] == 100 * w.before + static_cast<int>(4 * i));
  std::vector<short> gathered(12, -1);
  auto* const shorts = w.at<short>(4096);
  for (short i = 0; i < 12; ++i) nvshmem_short_p(shorts + i, static_cast<short>(50 * w.pe + i), w.pe);
  nvshmem_barrier_all();
  nvshmem_iget16(gathered.data(), shorts, 1, 2, 6, w.next);
  nvshmemx_short_iget_on_stream(gathered.data() + 6, shorts, 2, 3, 3, w.next, stream);
  gdrkit_shmem_stream_synchronize(stream);
  for (int i = 0; i < 6; ++i) EXPECT(gathered[static_cast<std::size_t>(i)] == 50 * w.next + 2 * i);
  for (int i = 0; i < 3; ++i) EXPECT(gathered[static_cast<std::size_t>(6 + 2 * i)] == 50 * w.next + 3 * i);
  EXPECT(gathered[7] == -1 && gathered[9] == -1);
  EXPECT(nvshmemx_short_g_on_stream(shorts + 5, w.next, stream) == 50 * w.next + 5);
}

void exchanges(const World& w) {
  w.clear();
  auto* const source = w.at<int>(0);
  auto* const target = w.at<int>(8192);
  for (int part = 0; part < w.n; ++part) {
    for (int i = 0; i < 3; ++i) nvshmem_int_p(source + (3 * part + i) * 2, 1000 * w.pe + 10 * part + i, w.pe);
  }
  nvshmem_barrier_all();
  EXPECT(nvshmem_int_alltoalls(NVSHMEM_TEAM_WORLD, target, source, 4, 2, 3) == 0);
  const auto seen = own(w, target, static_cast<std::size_t>(12 * w.n));
  for (int from = 0; from < w.n; ++from) {
    for (int i = 0; i < 12; ++i) {
      const int expected = i % 4 == 0 ? 1000 * from + 10 * w.pe + i / 4 : 0;
      EXPECT(seen[static_cast<std::size_t>(12 * from + i)] == expected);
    }
  }
  EXPECT(nvshmem_int_alltoalls(NVSHMEM_TEAM_INVALID, target, source, 4, 2, 3) != 0);
}

void narrow_reductions(const World& w) {
  w.clear();
  auto* const source = w.at<uint8_t>(0);
  auto* const target = w.at<uint8_t>(1024);
  for (int i = 0; i < 40; ++i) nvshmem_uint8_p(source + i, static_cast<uint8_t>((1 << w.pe) | 0x40 | i), w.pe);
  nvshmem_barrier_all();
  EXPECT(nvshmem_uint8_and_reduce(NVSHMEM_TEAM_WORLD, target, source, 40) == 0);
  EXPECT(nvshmem_uchar_or_reduce(NVSHMEM_TEAM_WORLD, target + 100, source, 40) == 0);
  EXPECT(nvshmemx_int8_xor_reduce_on_stream(NVSHMEM_TEAM_WORLD, w.at<int8_t>(1300), w.at<int8_t>(0), 40, stream) == 0);
  EXPECT(nvshmem_ushort_xor_reducescatter(NVSHMEM_TEAM_WORLD, w.at<unsigned short>(2048), w.at<unsigned short>(0), 2) ==
         0);
  gdrkit_shmem_stream_synchronize(stream);
  const auto seen = own(w, target, 400);
  for (int i = 0; i < 40; ++i) {
    int all = 0xff, any = 0, odd = 0;
    for (int pe = 0; pe < w.n; ++pe) {
      const int value = (1 << pe) | 0x40 | i;
      all &= value, any |= value, odd ^= value;
    }
    const auto at = static_cast<std::size_t>(i);
    EXPECT(seen[at] == all && seen[100 + at] == any && seen[276 + at] == odd);
    if (i / 4 == w.pe) EXPECT(nvshmem_uint8_g(w.at<uint8_t>(2048) + i % 4, w.pe) == odd);
  }
}

void short_waits(const World& w) {
  w.clear();
  auto* const words = w.at<short>(2); /* not at a multiple of 4 bytes */
  const short expected[3] = {-7, -8, -9};
  nvshmemx_short_wait_until_all_vector_on_stream(words, 3, nullptr, NVSHMEM_CMP_EQ, expected, stream);
  nvshmemx_ushort_wait_until_on_stream(w.at<unsigned short>(12), NVSHMEM_CMP_GT, 40000, stream);
  nvshmemx_int_p_on_stream(w.at<int>(64), 1, w.pe, stream);
  for (int i = 0; i < 3; ++i) nvshmem_short_p(words + i, expected[i], w.next);
  nvshmem_ushort_p(w.at<unsigned short>(12), 50000, w.next);
  nvshmem_short_wait_until(words + 1, NVSHMEM_CMP_LT, 0);
  EXPECT(nvshmem_short_test(words + 1, NVSHMEM_CMP_EQ, -8) == 1);
  EXPECT(nvshmem_short_test(words + 1, NVSHMEM_CMP_GT, 0) == 0);
  nvshmem_short_wait_until_all(words, 3, nullptr, NVSHMEM_CMP_LE, -7);
  EXPECT(nvshmem_short_test_any(words, 3, nullptr, NVSHMEM_CMP_EQ, -9) == 2);
  nvshmem_ushort_wait_until(w.at<unsigned short>(12), NVSHMEM_CMP_GE, 50000);
  gdrkit_shmem_stream_synchronize(stream);
  EXPECT(nvshmem_int_g(w.at<int>(64), w.pe) == 1);
  const long many[2] = {5, 6};
  auto* const longs = w.at<long>(128);
  nvshmemx_long_wait_until_all_vector_on_stream(longs, 2, nullptr, NVSHMEM_CMP_EQ, many, stream);
  nvshmem_long_p(longs, 5, w.next);
  nvshmem_long_p(longs + 1, 6, w.next);
  gdrkit_shmem_stream_synchronize(stream);
}

/* Every word holds all the time: each index must be found. */
void fair_tests(const World& w) {
  w.clear();
  for (const std::size_t count : {2U, 3U, 8U}) {
    std::vector<int> found(count);
    for (int i = 0; i < 400; ++i) {
      const std::size_t at = nvshmem_int_test_any(w.at<int>(0), count, nullptr, NVSHMEM_CMP_EQ, 0);
      EXPECT(at < count);
      if (at < count) ++found[at];
      (void)nvshmem_int_wait_until_any(w.at<int>(256), 2, nullptr, NVSHMEM_CMP_EQ, 0); /* a search in between */
    }
    for (std::size_t i = 0; i < count; ++i) EXPECT(found[i] >= 400 / static_cast<int>(count) / 4);
    std::vector<std::size_t> indices(count);
    EXPECT(nvshmem_int_test_some(w.at<int>(0), count, indices.data(), nullptr, NVSHMEM_CMP_EQ, 0) == count);
  }
}

void sums(const World& w) {
  w.clear();
  nvshmemx_float_atomic_add(w.at<float>(4), 1.5F, 0);
  (void)nvshmemx_double_atomic_fetch_add(w.at<double>(8), 0.25, 0);
  nvshmem_barrier_all();
  EXPECT(nvshmem_float_atomic_fetch(w.at<float>(4), 0) == 1.5F * static_cast<float>(w.n));
  EXPECT(nvshmem_double_atomic_fetch(w.at<double>(8), 0) == 0.25 * w.n);
}

#if defined(GDRKIT_NVSHMEM_HAS_CUDA)
float wide(__half value) { return __half2float(value); }
float wide(__nv_bfloat16 value) { return __bfloat162float(value); }
void narrow(float value, __half* target) { *target = __float2half(value); }
void narrow(float value, __nv_bfloat16* target) { *target = __float2bfloat16(value); }

#define EXPECT_HALF(name, type)                                                                                        \
  do {                                                                                                                 \
    w.clear();                                                                                                         \
    type value;                                                                                                        \
    narrow(static_cast<float>(w.pe + 1), &value);                                                                      \
    nvshmem_##name##_p(w.at<type>(2), value, w.next);                                                                  \
    nvshmem_##name##_put(w.at<type>(4), &value, 1, w.pe);                                                              \
    nvshmem_##name##_iput(w.at<type>(32), &value, 2, 0, 3, w.next);                                                    \
    nvshmem_barrier_all();                                                                                             \
    EXPECT(wide(nvshmem_##name##_g(w.at<type>(2), w.pe)) == static_cast<float>(w.before + 1));                         \
    EXPECT(wide(nvshmem_##name##_g(w.at<type>(40), w.pe)) == static_cast<float>(w.before + 1));                        \
    EXPECT(wide(nvshmem_##name##_g(w.at<type>(38), w.pe)) == 0.0F);                                                    \
    EXPECT(nvshmem_##name##_sum_reduce(NVSHMEM_TEAM_WORLD, w.at<type>(64), w.at<type>(4), 1) == 0);                    \
    EXPECT(wide(nvshmem_##name##_g(w.at<type>(64), w.pe)) == static_cast<float>(w.n * (w.n + 1) / 2));                 \
    EXPECT(nvshmemx_##name##_max_reduce_on_stream(NVSHMEM_TEAM_WORLD, w.at<type>(68), w.at<type>(4), 1, stream) == 0); \
    EXPECT(wide(nvshmemx_##name##_g_on_stream(w.at<type>(68), w.pe, stream)) == static_cast<float>(w.n));              \
    EXPECT(nvshmem_##name##_fcollect(NVSHMEM_TEAM_WORLD, w.at<type>(96), w.at<type>(4), 1) == 0);                      \
    EXPECT(wide(nvshmem_##name##_g(w.at<type>(96) + w.next, w.pe)) == static_cast<float>(w.next + 1));                 \
    narrow(0.5F, &value);                                                                                              \
    nvshmemx_##name##_atomic_add(w.at<type>(202), value, 0);                                                           \
    nvshmem_barrier_all();                                                                                             \
    EXPECT(wide(nvshmem_##name##_atomic_fetch(w.at<type>(202), 0)) == 0.5F * static_cast<float>(w.n));                 \
    EXPECT(wide(nvshmem_##name##_g(w.at<type>(200), 0)) == 0.0F);                                                      \
    nvshmem_barrier_all();                                                                                             \
    EXPECT(wide(nvshmem_##name##_atomic_swap(w.at<type>(300), value, w.next)) == 0.0F);                                \
  } while (0)
void halves(const World& w) {
  EXPECT_HALF(half, __half);
  EXPECT_HALF(bfloat16, __nv_bfloat16);
}
#else
void halves(const World&) {}
#endif

/* What NVSHMEM's programs rely on beyond the results of transfers. */
void semantics(const World& w) {
  EXPECT(nvshmem_team_my_pe(NVSHMEM_TEAM_INVALID) == -1 && nvshmem_team_n_pes(NVSHMEM_TEAM_INVALID) == -1);
  EXPECT(nvshmem_team_translate_pe(NVSHMEM_TEAM_INVALID, 0, NVSHMEM_TEAM_WORLD) == -1);
  nvshmem_putmem(nullptr, nullptr, 0, w.next);
  nvshmem_getmem_nbi(nullptr, nullptr, 0, w.next);
  nvshmemx_putmem_on_stream(nullptr, nullptr, 0, w.next, stream);
  EXPECT(nvshmemx_mc_ptr(NVSHMEM_TEAM_WORLD, w.heap) == nullptr);
  int local = 0;
  EXPECT(nvshmem_ptr(&local, w.pe) == nullptr && nvshmem_ptr(w.heap, w.n) == nullptr);
  for (const std::size_t alignment : {std::size_t{4} << 20, std::size_t{32} << 20}) {
    void* const aligned = nvshmem_align(alignment, 100);
    EXPECT(aligned != nullptr && reinterpret_cast<uintptr_t>(aligned) % alignment == 0);
    if (aligned == nullptr) continue;
    nvshmem_int_p(static_cast<int*>(aligned), 11 + w.pe, w.next);
    nvshmem_barrier_all();
    EXPECT(nvshmem_int_g(static_cast<int*>(aligned), w.pe) == 11 + w.before);
    nvshmem_free(aligned);
  }
  int major = 0, minor = 0, patch = -1;
  nvshmemx_vendor_get_version_info(&major, &minor, &patch);
  EXPECT(major == NVSHMEM_VENDOR_MAJOR_VERSION && minor == NVSHMEM_VENDOR_MINOR_VERSION && patch >= 0);
  char name[NVSHMEM_MAX_NAME_LEN];
  nvshmem_info_get_name(name);
  EXPECT(std::string(name) == NVSHMEM_VENDOR_STRING);
  EXPECT(std::string(nvshmemx_status_string(NVSHMEMX_ERROR_INTERNAL)) == "NVSHMEMX_ERROR_INTERNAL");
}

}  // namespace

int main() {
  EXPECT(nvshmem_my_pe() == -1 && nvshmem_n_pes() == -1);
  nvshmem_init();
  const World w;
  EXPECT(w.heap != nullptr);
  strided(w);
  exchanges(w);
  narrow_reductions(w);
  short_waits(w);
  fair_tests(w);
  sums(w);
  halves(w);
  semantics(w);
  nvshmem_barrier_all();
  if (failures == 0) std::printf("PE %d of %d: ok\n", w.pe, w.n);
  nvshmem_free(w.heap);
  nvshmem_finalize();
  return failures == 0 ? 0 : 1;
}
