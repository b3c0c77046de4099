// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Loads and stores of the words of a tile, for transform(): of one PE or of all members of a team. Included by
// nvshmem_tile.cuh. An ordinary C++ compiler also compiles this file.
#ifndef GDRKIT_COMPAT_NVSHMEM_TILE_WORDS_CUH
#define GDRKIT_COMPAT_NVSHMEM_TILE_WORDS_CUH

#include <limits.h>

#include "nvshmem_gpu.cuh"

namespace gdrkit::shmem::detail {

template <Reads reads, class T>
struct LoadWords {
  /// So many threads have enough loads of this GPU's own memory in flight with one word each. Loads from peers take
  /// longer.
  static constexpr unsigned enough_threads = reads == Reads::ordinary ? 512 : UINT_MAX;
  const T* from;

  template <class Word, unsigned n>
  GDRKIT_SHMEM_FUNCTION void operator()(Word (&words)[n], const std::int64_t (&at)[n]) const {
    GDRKIT_SHMEM_UNROLLED
    for (unsigned i = 0; i < n; ++i) words[i] = read<reads>(reinterpret_cast<const Word*>(from + at[i]));
  }
};
/// Stores 16 bytes in one instruction: the compiler would store some words of an array by four.
template <class Word>
GDRKIT_SHMEM_FUNCTION void store(Word* address, const Word& word) {
#if defined(__CUDACC__)
  if constexpr (sizeof(Word) == 16) {
    asm volatile("st.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(word.words[0]), "r"(word.words[1]),
                 "r"(word.words[2]), "r"(word.words[3])
                 : "memory");
    return;
  }
#endif
  *address = word;
}
template <class T>
struct StoreWords {
  T* to;

  template <class Word, unsigned n>
  GDRKIT_SHMEM_FUNCTION void operator()(const Word (&words)[n], const std::int64_t (&at)[n]) const {
    GDRKIT_SHMEM_UNROLLED
    for (unsigned i = 0; i < n; ++i) store(reinterpret_cast<Word*>(to + at[i]), words[i]);
  }
};
/// Stores the words to every member of the team.
template <class T>
struct SpreadWords {
  EvenMembers members;
  T* to;

  template <class Word, unsigned n>
  GDRKIT_SHMEM_FUNCTION void operator()(const Word (&words)[n], const std::int64_t (&at)[n]) const {
    GDRKIT_SHMEM_ROLLED
    for (unsigned distance = 1; distance <= members.n; ++distance) {
      StoreWords<T>{members.at(to, members.next(distance))}(words, at);
    }
  }
};
/// Loads from all members and reduces in the order of their numbers, so that all PEs get the same bits.
template <gdrkit_shmem_reduction reduction, class T>
struct ReduceWords {
  static constexpr unsigned enough_threads = UINT_MAX;
  EvenMembers members;
  const T* from;

  template <class Word, unsigned n>
  GDRKIT_SHMEM_FUNCTION void operator()(Word (&words)[n], const std::int64_t (&at)[n]) const {
    LoadWords<Reads::fresh, T>{members.at(from, 0)}(words, at);
    GDRKIT_SHMEM_ROLLED
    for (unsigned member = 1; member < members.n; ++member) {
      Word others[n];
      LoadWords<Reads::fresh, T>{members.at(from, member)}(others, at);
      GDRKIT_SHMEM_UNROLLED
      for (unsigned i = 0; i < n; ++i) words[i] = combine_elements<reduction, T>(words[i], others[i]);
    }
  }
};

}  // namespace gdrkit::shmem::detail

#endif
