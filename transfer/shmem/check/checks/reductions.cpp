// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// reduce and reducescatter of every C type, by every reduction, by the CPU and on a stream.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "transfer/shmem/check/checker.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr gdrkit_shmem_team_t world = GDRKIT_SHMEM_TEAM_WORLD;
constexpr std::size_t counts[] = {1, 7, 1000, 9000, 33'000};
constexpr std::size_t most = 33'000;

/// Random bits as integers; small whole numbers as floating-point ones, whose sums and products are exact.
template <class T>
T element(int pe, std::size_t index, gdrkit_shmem_reduction reduction) {
  std::uint8_t bytes[sizeof(T)];
  fill_pattern(bytes, sizeof bytes, index * 1024 + static_cast<std::size_t>(pe));
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  if constexpr (std::is_floating_point_v<T>) {
    value = reduction == GDRKIT_SHMEM_PROD ? static_cast<T>(bytes[0] % 2 == 0 ? -1 : 2)
                                           : static_cast<T>(bytes[0] % 33) - 16;
  }
  return value;
}

template <class T>
T combine(gdrkit_shmem_reduction reduction, T left, T right) {
  if (reduction == GDRKIT_SHMEM_MIN) return std::min(left, right);
  if (reduction == GDRKIT_SHMEM_MAX) return std::max(left, right);
  if constexpr (std::is_integral_v<T>) {
    const auto one = static_cast<std::uint64_t>(left), other = static_cast<std::uint64_t>(right);
    switch (reduction) {
      case GDRKIT_SHMEM_SUM: return static_cast<T>(one + other);
      case GDRKIT_SHMEM_PROD: return static_cast<T>(one * other);
      case GDRKIT_SHMEM_AND: return static_cast<T>(one & other);
      case GDRKIT_SHMEM_OR: return static_cast<T>(one | other);
      default: return static_cast<T>(one ^ other);
    }
  } else {
    return reduction == GDRKIT_SHMEM_SUM ? left + right : left * right;
  }
}

template <class T>
std::vector<std::uint8_t> source_of(int pe, std::size_t count, gdrkit_shmem_reduction reduction) {
  std::vector<std::uint8_t> bytes(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    const T value = element<T>(pe, i, reduction);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return bytes;
}

template <class T>
std::vector<std::uint8_t> reduced(int n_pes, std::size_t first, std::size_t count, gdrkit_shmem_reduction reduction) {
  std::vector<std::uint8_t> bytes(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    T value = element<T>(0, first + i, reduction);
    for (int pe = 1; pe < n_pes; ++pe) value = combine(reduction, value, element<T>(pe, first + i, reduction));
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return bytes;
}

/// The functions of one type and reduction.
template <class T>
struct Functions {
  const char* name;  ///< "int_sum"
  gdrkit_shmem_reduction reduction;
  int (*reduce)(gdrkit_shmem_team_t, T*, const T*, std::size_t);
  int (*reduce_on_stream)(gdrkit_shmem_team_t, T*, const T*, std::size_t, void*);
  int (*scatter)(gdrkit_shmem_team_t, T*, const T*, std::size_t);
  int (*scatter_on_stream)(gdrkit_shmem_team_t, T*, const T*, std::size_t, void*);
};

struct Buffers {
  explicit Buffers(Checker& checker)
      : target(checker, most * sizeof(std::uint64_t)),
        source(checker, static_cast<std::size_t>(checker.n_pes()) * most * sizeof(std::uint64_t)) {}
  SymmetricMemory target;
  SymmetricMemory source;
};

template <class T>
void run_call(Checker& checker, Buffers& buffers, const Functions<T>& functions, std::size_t count, bool is_scattered,
              bool is_on_stream) {
  const auto n_pes = static_cast<std::size_t>(checker.n_pes());
  const std::string what = cli::format("%s_%s%s of %zu", functions.name, is_scattered ? "reducescatter" : "reduce",
                                       is_on_stream ? "_on_stream" : "", count);
  const auto mine = source_of<T>(checker.pe(), is_scattered ? n_pes * count : count, functions.reduction);
  checker.write(buffers.source.data(), mine.data(), mine.size());
  T* const target = buffers.target.as<T>();
  const T* const source = buffers.source.as<T>();
  int code = 0;
  if (is_on_stream) {
    code = (is_scattered ? functions.scatter_on_stream : functions.reduce_on_stream)(world, target, source, count,
                                                                                     nullptr);
  } else {
    code = (is_scattered ? functions.scatter : functions.reduce)(world, target, source, count);
  }
  (void)checker.succeeds(code, what);
  if (is_on_stream) (void)checker.succeeds(gdrkit_shmem_stream_synchronize(nullptr), what + ": stream_synchronize");
  std::vector<std::uint8_t> got(count * sizeof(T));
  checker.read(got.data(), target, got.size());
  const std::size_t first = is_scattered ? static_cast<std::size_t>(checker.pe()) * count : 0;
  checker.compare(&got, reduced<T>(checker.n_pes(), first, count, functions.reduction), what);
}

template <class T>
void run_functions(Checker& checker, Buffers& buffers, const Functions<T>& functions) {
  const bool is_bitwise = functions.reduction >= GDRKIT_SHMEM_AND;
  if (is_bitwise && !std::is_integral_v<T>) return;
  for (const std::size_t count : counts) {
    // All reductions of large data use the same code path.
    if (count * sizeof(T) > checker.options().largest_bytes || (count > 1000 && functions.reduction % 3 != 0)) continue;
    for (const bool is_scattered : {false, true}) {
      for (const bool is_on_stream : {false, true}) {
        run_call(checker, buffers, functions, count, is_scattered, is_on_stream);
      }
    }
  }
}

}  // namespace

void check_reductions(Checker& checker) {
  Buffers buffers(checker);
#define CHECK_REDUCTION(type_name, type, reduction_name, number)                                                     \
  run_functions<type>(checker, buffers,                                                                              \
                      {#type_name "_" #reduction_name, number, gdrkit_shmem_##type_name##_##reduction_name##_reduce, \
                       gdrkit_shmem_##type_name##_##reduction_name##_reduce_on_stream,                               \
                       gdrkit_shmem_##type_name##_##reduction_name##_reducescatter,                                  \
                       gdrkit_shmem_##type_name##_##reduction_name##_reducescatter_on_stream});
#define CHECK_TYPE(name, type) GDRKIT_SHMEM_FOR_EACH_REDUCTION(CHECK_REDUCTION, name, type)
  GDRKIT_SHMEM_FOR_EACH_TYPE(CHECK_TYPE)
#undef CHECK_TYPE
#undef CHECK_REDUCTION
  checker.barrier();
}

}  // namespace gdrkit::transfer::shmem
