// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Functions for GPU kernels that NVSHMEM's API requires in addition to gdrkit::shmem: strided copies, alltoalls, atomic
// addition of floating-point numbers, elements of 2 bytes without a C++ type, warp groups. Included by nvshmem.h. An
// ordinary C++ compiler also compiles this file.
#ifndef GDRKIT_COMPAT_NVSHMEM_GPU_CUH
#define GDRKIT_COMPAT_NVSHMEM_GPU_CUH

#include <gdrkit/shmem_collectives.cuh>
#include <gdrkit/shmem_device_words.cuh>

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace gdrkit::shmem::detail {

/// The integer type that has the same size as T, to copy values without conversion.
template <class T>
using CarrierOf = std::conditional_t<std::is_integral_v<T>, T,
                                     std::conditional_t<sizeof(T) == 8, unsigned long long,
                                                        std::conditional_t<sizeof(T) == 4, unsigned, std::uint16_t>>>;

/// The widest unsigned integer of at most `bytes` bytes, a power of two.
template <std::size_t bytes>
using WordOf = std::conditional_t<
    bytes == 1, unsigned char,
    std::conditional_t<bytes == 2, std::uint16_t, std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

/// Type that reductions compute with.
template <class T>
struct ElementOf {
  using Type = T;
};
#if defined(__CUDACC__)
template <>
struct ElementOf<__half> {
  using Type = Half;
};
template <>
struct ElementOf<__nv_bfloat16> {
  using Type = Bfloat16;
};
#endif

template <class T>
GDRKIT_SHMEM_FUNCTION void put_value(const State& state, T* target, T value, int pe) {
  using Carrier = CarrierOf<T>;
  p(state, reinterpret_cast<Carrier*>(target), same_bits<Carrier>(value), pe);
}
template <class T>
GDRKIT_SHMEM_FUNCTION T get_value(const State& state, const T* source, int pe) {
  using Carrier = CarrierOf<T>;
  return same_bits<T>(g(state, reinterpret_cast<const Carrier*>(source), pe));
}

/// Copies `count` elements of `bytes` bytes by the threads of the group. Strides are in elements.
template <Reads reads, std::size_t bytes, class Group>
GDRKIT_SHMEM_FUNCTION void copy_strided(char* target, const char* source, std::ptrdiff_t target_stride,
                                        std::ptrdiff_t source_stride, std::size_t count, Group group) {
  using Word = WordOf<bytes>;
  constexpr std::size_t words = bytes / sizeof(Word);
  GDRKIT_SHMEM_ROLLED
  for (std::size_t i = group.rank(); i < count; i += group.size()) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    auto* const to = reinterpret_cast<Word*>(target) + at * target_stride * static_cast<std::ptrdiff_t>(words);
    const auto* const from =
        reinterpret_cast<const Word*>(source) + at * source_stride * static_cast<std::ptrdiff_t>(words);
    for (std::size_t word = 0; word < words; ++word) to[word] = read<reads>(from + word);
  }
}
/// Puts elements of `bytes` bytes, which are naturally aligned up to 8 bytes. Strides are in elements.
template <std::size_t bytes, class Group>
GDRKIT_SHMEM_FUNCTION void put_strided(const State& state, void* target, const void* source,
                                       std::ptrdiff_t target_stride, std::ptrdiff_t source_stride, std::size_t count,
                                       int pe, Group group) {
  auto* const to = static_cast<char*>(target);
  const auto* const from = static_cast<const char*>(source);
  if (char* const there = ptr(state, to, pe); there != nullptr) {
    copy_strided<Reads::ordinary, bytes>(there, from, target_stride, source_stride, count, group);
  } else if (group.rank() == 0) {
    constexpr auto step = static_cast<std::ptrdiff_t>(bytes);
    GDRKIT_SHMEM_ROLLED
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(i) * step;
      put(state, to + at * target_stride, from + at * source_stride, bytes, pe, thread());
    }
  }
  group.sync();
}
template <std::size_t bytes, class Group>
GDRKIT_SHMEM_FUNCTION void get_strided(const State& state, void* target, const void* source,
                                       std::ptrdiff_t target_stride, std::ptrdiff_t source_stride, std::size_t count,
                                       int pe, Group group) {
  auto* const to = static_cast<char*>(target);
  const auto* const from = static_cast<const char*>(source);
  if (const char* const there = ptr(state, from, pe); there != nullptr) {
    copy_strided<Reads::fresh, bytes>(to, there, target_stride, source_stride, count, group);
  } else if (group.rank() == 0) {
    constexpr auto step = static_cast<std::ptrdiff_t>(bytes);
    GDRKIT_SHMEM_ROLLED
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(i) * step;
      get(state, to + at * target_stride, from + at * source_stride, bytes, pe, thread());
    }
  }
  group.sync();
}

/// Copies part i of PE j's source to part j of PE i's target. A part has `count` elements of `bytes` bytes. Returns
/// false if a wait exceeded the state's limit.
template <std::size_t bytes, class Group>
GDRKIT_SHMEM_FUNCTION bool alltoalls(const State& state, Team team, void* target, const void* source,
                                     std::ptrdiff_t target_stride, std::ptrdiff_t source_stride, std::size_t count,
                                     Group group) {
  const auto part_bytes = static_cast<std::ptrdiff_t>(count * bytes);
  const int n = team_n_pes(state, team);
  char* const own_part = static_cast<char*>(target) + team_my_pe(state, team) * part_bytes * target_stride;
  if (!team_sync(state, team, group)) return false;  // all targets may be written
  GDRKIT_SHMEM_ROLLED
  for (int member = 0; member < n; ++member) {
    put_strided<bytes>(state, own_part, static_cast<const char*>(source) + member * part_bytes * source_stride,
                       target_stride, source_stride, count,
                       team_translate_pe(state, team, member, GDRKIT_SHMEM_TEAM_WORLD), group);
  }
  return team_barrier(state, team, group);
}

/// Replaces the value at PE `pe` by change(value), and returns the previous value. Words of 2 bytes are updated as part
/// of the aligned 4 bytes that contain them.
template <class T, class Change>
GDRKIT_SHMEM_FUNCTION T change_value(const State& state, T* target, int pe, Change change) {
  using Carrier = CarrierOf<T>;
  using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
  const auto address = reinterpret_cast<std::uintptr_t>(target);
  auto* const word = reinterpret_cast<Word*>(address / sizeof(Word) * sizeof(Word));
  const unsigned shift = static_cast<unsigned>(address % sizeof(Word)) * 8;
  constexpr Word mask = static_cast<Word>(static_cast<Carrier>(~Carrier{0}));
  Word seen = g(state, word, pe);
  for (;;) {
    const T before = same_bits<T>(static_cast<Carrier>(seen >> shift & mask));
    const auto after = static_cast<Word>(same_bits<Carrier>(change(before)));
    const Word found = atomic_compare_swap(state, word, seen, (seen & ~(mask << shift)) | after << shift, pe);
    if (found == seen) return before;
    seen = found;
  }
}
template <class T>
GDRKIT_SHMEM_FUNCTION T swap_value(const State& state, T* target, T value, int pe) {
  if constexpr (sizeof(T) == 2) {
    return change_value(state, target, pe, [=](T) { return value; });
  } else {
    using Carrier = CarrierOf<T>;
    return same_bits<T>(atomic_swap(state, reinterpret_cast<Carrier*>(target), same_bits<Carrier>(value), pe));
  }
}
/// Adds `value` to a floating-point number of PE `pe` atomically, and returns the previous value.
template <class T>
GDRKIT_SHMEM_FUNCTION T fetch_add_value(const State& state, T* target, T value, int pe) {
#if defined(__CUDACC__)
  if constexpr (sizeof(T) != 2) {
    if (T* const there = ptr(state, target, pe); there != nullptr) return atomicAdd_system(there, value);
  }
#endif
  return change_value(state, target, pe, [=](T before) { return static_cast<T>(before + value); });
}

/// Returns the address of PE `pe`'s copy of `address`; nullptr if `address` is outside the heap, `pe` is outside the
/// job, or this GPU cannot access it.
GDRKIT_SHMEM_FUNCTION void* ptr_in_heap(const State& state, const void* address, int pe) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  if (place - state.heap_address >= state.heap_bytes || pe < 0 || pe >= state.n_pes) return nullptr;
  return ptr(state, static_cast<char*>(const_cast<void*>(address)), pe);
}
GDRKIT_SHMEM_FUNCTION int my_pe_of(const State& state, Team team) { return team < 0 ? -1 : team_my_pe(state, team); }
GDRKIT_SHMEM_FUNCTION int n_pes_of(const State& state, Team team) { return team < 0 ? -1 : team_n_pes(state, team); }
GDRKIT_SHMEM_FUNCTION int translate_pe(const State& state, Team team, int pe, Team other) {
  return team < 0 || other < 0 ? -1 : team_translate_pe(state, team, pe, other);
}

/// Reduces pairs of a value and its location to the pair with the greatest value, or with the smallest location if
/// values are equal.
struct MaximumWithLocation {
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION static constexpr unsigned element_bytes() { return 16; }
  GDRKIT_SHMEM_FUNCTION Words16 operator()(const Words16& left, const Words16& right) const {
    double first[2], second[2];
    memcpy(first, &left, sizeof first);
    memcpy(second, &right, sizeof second);
    const bool is_second = second[0] > first[0] || (second[0] == first[0] && second[1] < first[1]);
    return is_second ? right : left;
  }
};

/// Does not use scratch memory: its cells hold 8 bytes of data, but an element has 16 bytes. Fails for teams over
/// nodes.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool reduce_maximum_with_location(const State& state, Team team, void* target, const void* source,
                                                        std::size_t count, Group group) {
  const TeamState& of_team = team_state(state, team);
  if (of_team.spans_nodes != 0) return false;
  const Turn<OfAnyTeam<Group>> turn(state, team, of_team, OfAnyTeam<Group>(group));
  return turn.end(reduce_turn<false>(turn, static_cast<char*>(target), static_cast<const char*>(source), count * 16,
                                     false, MaximumWithLocation(), Route::large));
}

#if defined(__CUDACC__)
/// Four consecutive warps of a block.
struct WarpGroupOfFour {
  GDRKIT_SHMEM_FUNCTION unsigned rank() const { return block().rank() % 128; }
  GDRKIT_SHMEM_FUNCTION unsigned size() const { return 128; }
  /// Uses hardware barriers 8 to 15 of the block. __syncthreads uses barrier 0, and CUTLASS reserves 0 to 7 for itself.
  /// CUTLASS maps its user barriers 0 to 7 to 8 to 15, so a group's barrier must not be in use by the GPU kernel.
  GDRKIT_SHMEM_FUNCTION unsigned barrier() const { return 8 + block().rank() / 128; }
  GDRKIT_SHMEM_FUNCTION void sync() const { asm volatile("bar.sync %0, 128;" ::"r"(barrier()) : "memory"); }
  GDRKIT_SHMEM_FUNCTION bool all(bool is_so) const {
    int are_all;
    asm volatile(
        "{ .reg .pred in, out; setp.ne.s32 in, %2, 0; bar.red.and.pred out, %1, 128, in; selp.s32 %0, 1, 0, out; }"
        : "=r"(are_all)
        : "r"(barrier()), "r"(static_cast<int>(is_so))
        : "memory");
    return are_all != 0;
  }
};
GDRKIT_SHMEM_FUNCTION WarpGroupOfFour warpgroup() { return {}; }
#endif

}  // namespace gdrkit::shmem::detail

#endif
