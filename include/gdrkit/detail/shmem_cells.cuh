// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Cells of scratch memory, and the values of 8 bytes that a thread sends and receives through them. Included by
// shmem_collectives_small.cuh.
#ifndef GDRKIT_SHMEM_CELLS_CUH
#define GDRKIT_SHMEM_CELLS_CUH

#include <gdrkit/shmem_device.cuh>

namespace gdrkit::shmem::detail {

// A cell of scratch memory: 16 bytes with 8 bytes of data, each half followed by the turn. Hardware does not split
// aligned accesses of 8 bytes. The low 32 bits of a turn repeat after 4 billion turns.

#if defined(__CUDACC__)
GDRKIT_SHMEM_FUNCTION void store_cell(Words16* cell, std::uint64_t data, std::uint32_t turn) {
  asm volatile("st.volatile.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(cell), "r"(static_cast<std::uint32_t>(data)),
               "r"(turn), "r"(static_cast<std::uint32_t>(data >> 32))
               : "memory");
}
#else
inline void store_cell(Words16* cell, std::uint64_t data, std::uint32_t turn) {
  auto* const halves = reinterpret_cast<std::uint64_t*>(cell);
  store_relaxed(halves, std::uint64_t{turn} << 32 | (data & 0xffffffffU));
  store_relaxed(halves + 1, std::uint64_t{turn} << 32 | data >> 32);
}
inline bool load_cell(const Words16* cell, std::uint32_t turn, std::uint64_t* data) {
  const auto* const halves = reinterpret_cast<const std::uint64_t*>(cell);
  const std::uint64_t low = load_relaxed(halves), high = load_relaxed(halves + 1);
  *data = high << 32 | (low & 0xffffffffU);
  return low >> 32 == turn && high >> 32 == turn;
}
#endif

/// Number of values that a thread loads before it uses the first of them: a load takes longer than all else that a
/// value needs.
constexpr unsigned small_unrolled = 4;

/// Values of 8 bytes that a thread has in registers: those of the group's threads alternate in memory.
template <unsigned count>
struct Values {
  std::uint64_t of[count];
};

/// Loads `count` cells before it checks the first, so that the loads overlap. Returns false if data is missing.
template <unsigned count>
GDRKIT_SHMEM_FUNCTION bool load_cells(const Words16* cells, std::size_t step, std::uint32_t turn,
                                      Values<count>* values) {
#if defined(__CUDACC__)
  Words16 seen[count];
  GDRKIT_SHMEM_UNROLLED
  for (unsigned i = 0; i < count; ++i) seen[i] = read<Reads::fresh>(cells + i * step);
  bool are_there = true;
  GDRKIT_SHMEM_UNROLLED
  for (unsigned i = 0; i < count; ++i) {
    values->of[i] = std::uint64_t{seen[i].words[2]} << 32 | seen[i].words[0];
    are_there = are_there && seen[i].words[1] == turn && seen[i].words[3] == turn;
  }
  return are_there;
#else
  for (unsigned i = 0; i < count; ++i) {
    if (!load_cell(cells + i * step, turn, &values->of[i])) return false;
  }
  return true;
#endif
}

/// Value `index` of `size_bytes` of memory that is not aligned to 8 bytes, or whose last value has fewer.
GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION std::uint64_t load_bytes(const char* memory, std::size_t index,
                                                                     std::size_t size_bytes) {
  const char* const at = memory + 8 * index;
  const std::size_t left = size_bytes - 8 * index;
  std::uint64_t value = 0;
  GDRKIT_SHMEM_ROLLED
  for (unsigned byte = 0; byte < 8 && byte < left; ++byte) {
    value |= std::uint64_t{static_cast<unsigned char>(at[byte])} << (8 * byte);
  }
  return value;
}
GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION void store_bytes(char* memory, std::size_t index, std::size_t size_bytes,
                                                             std::uint64_t value) {
  char* const at = memory + 8 * index;
  const std::size_t left = size_bytes - 8 * index;
  GDRKIT_SHMEM_ROLLED
  for (unsigned byte = 0; byte < 8 && byte < left; ++byte) at[byte] = static_cast<char>(value >> (8 * byte));
}

/// Whether the value `last` of `size_bytes` of memory, and those before it, are aligned words.
GDRKIT_SHMEM_FUNCTION bool are_words(const char* memory, std::size_t last, std::size_t size_bytes) {
  return 8 * last + 8 <= size_bytes && reinterpret_cast<std::uintptr_t>(memory) % 8 == 0;
}
/// Values `index`, `index` + `step` and so on of `size_bytes` of memory.
template <unsigned count>
GDRKIT_SHMEM_FUNCTION Values<count> load_values(const char* memory, std::size_t index, std::size_t step,
                                                std::size_t size_bytes) {
  Values<count> values;
  if (are_words(memory, index + (count - 1) * step, size_bytes)) {
    GDRKIT_SHMEM_UNROLLED
    for (unsigned i = 0; i < count; ++i) {
      values.of[i] = reinterpret_cast<const std::uint64_t*>(memory)[index + i * step];
    }
    return values;
  }
  GDRKIT_SHMEM_UNROLLED
  for (unsigned i = 0; i < count; ++i) values.of[i] = load_bytes(memory, index + i * step, size_bytes);
  return values;
}
template <unsigned count>
GDRKIT_SHMEM_FUNCTION void store_values(char* memory, std::size_t index, std::size_t step, std::size_t size_bytes,
                                        const Values<count>& values) {
  if (are_words(memory, index + (count - 1) * step, size_bytes)) {
    GDRKIT_SHMEM_UNROLLED
    for (unsigned i = 0; i < count; ++i) {
      reinterpret_cast<std::uint64_t*>(memory)[index + i * step] = values.of[i];
    }
    return;
  }
  GDRKIT_SHMEM_UNROLLED
  for (unsigned i = 0; i < count; ++i) store_bytes(memory, index + i * step, size_bytes, values.of[i]);
}

template <unsigned count, class Reduce>
GDRKIT_SHMEM_FUNCTION void combine_values(Reduce reduce, Values<count>* left, const Values<count>& right) {
  GDRKIT_SHMEM_UNROLLED
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t own = left->of[i], other = right.of[i];
    const Words16 lefts = {{static_cast<std::uint32_t>(own), static_cast<std::uint32_t>(own >> 32), 0, 0}};
    const Words16 rights = {{static_cast<std::uint32_t>(other), static_cast<std::uint32_t>(other >> 32), 0, 0}};
    const Words16 combined = reduce(lefts, rights);
    left->of[i] = std::uint64_t{combined.words[1]} << 32 | combined.words[0];
  }
}

}  // namespace gdrkit::shmem::detail

#endif
