// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit shmem for GPU kernels: waits for, and looks at, many words of the caller's own.
#ifndef GDRKIT_SHMEM_DEVICE_WORDS_CUH
#define GDRKIT_SHMEM_DEVICE_WORDS_CUH

#include <gdrkit/shmem_device.cuh>

namespace gdrkit::shmem {

namespace detail {
/// A word of 2 bytes is read as part of the aligned 4 bytes around it: GPUs have no such acquiring load.
template <class Word, class Load>
GDRKIT_SHMEM_FUNCTION Word load_short(const Word* address, Load load) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  const auto* const around = reinterpret_cast<const std::uint32_t*>(place / 4 * 4);
  return static_cast<Word>(load(around) >> (place % 4 * 8));
}
/// As test and wait_until, for words of 2 bytes too.
template <class Word>
GDRKIT_SHMEM_FUNCTION bool test_word(const Word* address, gdrkit_shmem_comparison comparison, Word value) {
  if constexpr (sizeof(Word) == 2) {
    const auto load = [](const std::uint32_t* around) { return load_acquire(around); };
    return compares(load_short(address, load), comparison, value);
  } else {
    return test(address, comparison, value);
  }
}
template <class Word>
GDRKIT_SHMEM_FUNCTION bool wait_until_word(const State& state, const Word* address, gdrkit_shmem_comparison comparison,
                                           Word value) {
  if constexpr (sizeof(Word) == 2) {
    return wait_for(state, address, [=] {
      const auto load = [](const std::uint32_t* around) { return load_polled(around); };
      return compares(load_short(address, load), comparison, value);
    });
  } else {
    return wait_until(state, address, comparison, value);
  }
}
}  // namespace detail

/// Words of 2, 4 or 8 bytes that follow each other. Values is Word (to compare all with) or const Word* (one value for
/// each). For words of 2 bytes, the aligned 4 bytes around each are read.
template <class Word, class Values>
struct Words {
  const Word* address;
  std::size_t count;
  const int* skip;  ///< nullptr, or one for each word: where it is not 0, nothing is asked of that word
  gdrkit_shmem_comparison comparison;
  Values values;

  GDRKIT_SHMEM_FUNCTION bool is_selected(std::size_t i) const { return skip == nullptr || skip[i] == 0; }
  GDRKIT_SHMEM_FUNCTION Word value(std::size_t i) const {
    if constexpr (std::is_same_v<Values, Word>) {
      return values;
    } else {
      return values[i];
    }
  }
  GDRKIT_SHMEM_FUNCTION bool is_satisfied(std::size_t i) const {
    return is_selected(i) && detail::test_word(address + i, comparison, value(i));
  }
};

/// What a search that found nothing answers.
inline constexpr std::size_t no_word = ~std::size_t{0};

/// Whether each word that is asked for holds.
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION bool test_all(const Words<Word, Values>& words) {
  GDRKIT_SHMEM_ROLLED
  for (std::size_t i = 0; i < words.count; ++i) {
    if (words.is_selected(i) && !words.is_satisfied(i)) return false;
  }
  return true;
}

namespace detail {
/// Returns the index at which a search of `count` words begins. It depends on the clock, so that a word that stays
/// satisfied does not hide the others.
GDRKIT_SHMEM_FUNCTION std::size_t search_begin(std::size_t count) {
  const std::uint64_t scattered = clock_ns() * 0x9e3779b97f4a7c15U;  // 2^64 divided by the golden ratio
  return static_cast<std::size_t>((scattered >> 32) * count >> 32);
}
/// The first word from `at` on that holds, round the end, else no_word.
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION std::size_t find_from(const Words<Word, Values>& words, std::size_t at) {
  GDRKIT_SHMEM_ROLLED
  for (std::size_t i = 0; i < words.count; ++i) {
    if (words.is_satisfied(at)) return at;
    at = at + 1 == words.count ? 0 : at + 1;
  }
  return no_word;
}
}  // namespace detail

/// A word that holds, else no_word.
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION std::size_t test_any(const Words<Word, Values>& words) {
  return detail::find_from(words, detail::search_begin(words.count));
}

/// Writes the indices of the words that hold, in rising order, and returns how many do.
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION std::size_t test_some(const Words<Word, Values>& words, std::size_t* indices) {
  std::size_t found = 0;
  GDRKIT_SHMEM_ROLLED
  for (std::size_t i = 0; i < words.count; ++i) {
    if (words.is_satisfied(i)) indices[found++] = i;
  }
  return found;
}

/// Waits for each in turn. false: the state's limit went by, or a PE has ended.
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION bool wait_until_all(const State& state, const Words<Word, Values>& words) {
  GDRKIT_SHMEM_ROLLED
  for (std::size_t i = 0; i < words.count; ++i) {
    if (!words.is_selected(i)) continue;
    if (!detail::wait_until_word(state, words.address + i, words.comparison, words.value(i))) return false;
  }
  return true;
}

namespace detail {
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION bool is_any_selected(const Words<Word, Values>& words) {
  GDRKIT_SHMEM_ROLLED
  for (std::size_t i = 0; i < words.count; ++i) {
    if (words.is_selected(i)) return true;
  }
  return false;
}
}  // namespace detail

/// The index of a word that holds; no_word where none is asked for, or the wait gave up.
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION std::size_t wait_until_any(const State& state, const Words<Word, Values>& words) {
  std::size_t found = no_word;
  if (!detail::is_any_selected(words)) return found;
  const std::size_t begin = detail::search_begin(words.count);
  (void)detail::wait_for(state, words.address, [&] {
    found = detail::find_from(words, begin);
    return found != no_word;
  });
  return found;
}

/// As test_some, but at least one; 0 where none is asked for, or the wait gave up.
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION std::size_t wait_until_some(const State& state, const Words<Word, Values>& words,
                                                  std::size_t* indices) {
  std::size_t found = 0;
  if (!detail::is_any_selected(words)) return found;
  (void)detail::wait_for(state, words.address, [&] {
    found = test_some(words, indices);
    return found != 0;
  });
  return found;
}

}  // namespace gdrkit::shmem

#endif
