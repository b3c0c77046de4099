// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit shmem for GPU kernels: waits for, and looks at, many words of the caller's own.
#ifndef GDRKIT_SHMEM_DEVICE_WORDS_CUH
#define GDRKIT_SHMEM_DEVICE_WORDS_CUH

#include <gdrkit/shmem_device.cuh>

namespace gdrkit::shmem {

/// Words that follow each other. Values is Word (to compare all with) or const Word* (one value for each).
template <class Word, class Values>
struct Words {
  const Word* address;
  std::size_t count;
  const int* left_out;  ///< nullptr, or one for each word: where it is not 0, nothing is asked of that word
  gdrkit_shmem_comparison comparison;
  Values values;

  GDRKIT_SHMEM_FUNCTION bool is_asked_for(std::size_t i) const { return left_out == nullptr || left_out[i] == 0; }
  GDRKIT_SHMEM_FUNCTION Word value(std::size_t i) const {
    if constexpr (std::is_same_v<Values, Word>) {
      return values;
    } else {
      return values[i];
    }
  }
  GDRKIT_SHMEM_FUNCTION bool holds(std::size_t i) const {
    return is_asked_for(i) && test(address + i, comparison, value(i));
  }
};

/// What a search that found nothing answers.
inline constexpr std::size_t no_word = ~std::size_t{0};

/// Whether each word that is asked for holds.
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION bool test_all(const Words<Word, Values>& words) {
  GDRKIT_SHMEM_ROLLED
  for (std::size_t i = 0; i < words.count; ++i) {
    if (words.is_asked_for(i) && !words.holds(i)) return false;
  }
  return true;
}

/// The first word that holds, else no_word.
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION std::size_t test_any(const Words<Word, Values>& words) {
  GDRKIT_SHMEM_ROLLED
  for (std::size_t i = 0; i < words.count; ++i) {
    if (words.holds(i)) return i;
  }
  return no_word;
}

/// Writes the indices of the words that hold, in rising order, and returns how many do.
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION std::size_t test_some(const Words<Word, Values>& words, std::size_t* indices) {
  std::size_t found = 0;
  GDRKIT_SHMEM_ROLLED
  for (std::size_t i = 0; i < words.count; ++i) {
    if (words.holds(i)) indices[found++] = i;
  }
  return found;
}

/// Waits for each in turn. false: the state's limit went by, or a PE has ended.
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION bool wait_until_all(const State& state, const Words<Word, Values>& words) {
  GDRKIT_SHMEM_ROLLED
  for (std::size_t i = 0; i < words.count; ++i) {
    if (words.is_asked_for(i) && !wait_until(state, words.address + i, words.comparison, words.value(i))) return false;
  }
  return true;
}

namespace detail {
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION bool asks_for_any(const Words<Word, Values>& words) {
  GDRKIT_SHMEM_ROLLED
  for (std::size_t i = 0; i < words.count; ++i) {
    if (words.is_asked_for(i)) return true;
  }
  return false;
}
}  // namespace detail

/// The index of a word that holds; no_word where none is asked for, or the wait gave up.
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION std::size_t wait_until_any(const State& state, const Words<Word, Values>& words) {
  std::size_t found = no_word;
  if (!detail::asks_for_any(words)) return found;
  (void)detail::wait_for(state, words.address, [&] {
    found = test_any(words);
    return found != no_word;
  });
  return found;
}

/// As test_some, but at least one; 0 where none is asked for, or the wait gave up.
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION std::size_t wait_until_some(const State& state, const Words<Word, Values>& words,
                                                  std::size_t* indices) {
  std::size_t found = 0;
  if (!detail::asks_for_any(words)) return found;
  (void)detail::wait_for(state, words.address, [&] {
    found = test_some(words, indices);
    return found != 0;
  });
  return found;
}

}  // namespace gdrkit::shmem

#endif
