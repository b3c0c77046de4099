// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
/// @file
/// @brief gdrkit shmem for GPU kernels: waits for, and tests of, many words of the caller's heap.
#ifndef GDRKIT_SHMEM_DEVICE_WORDS_CUH
#define GDRKIT_SHMEM_DEVICE_WORDS_CUH

#include <gdrkit/shmem_device.cuh>

namespace gdrkit::shmem {

/// @defgroup shmem_device_words Waits for many words
/// @ingroup shmem_device
/// @brief Waits for, and tests of, many words of the caller's heap.
///
/// @code{.cu}
/// #include <gdrkit/shmem_device_words.cuh>
///
/// // Returns the number of a sender whose word is 1, or no_word if no such word appeared within the limit.
/// __device__ size_t next_sender(const gdrkit_shmem_device_state& pe, const uint64_t* arrived, const int* done) {
///   const gdrkit::shmem::Words<uint64_t, uint64_t> words{arrived, 8, done, GDRKIT_SHMEM_EQ, 1};
///   return gdrkit::shmem::wait_until_any(pe, words);
/// }
/// @endcode
/// @{

namespace detail {
/// Reads a word of 2 bytes as part of the aligned 4 bytes that contain it: GPUs have no 2-byte acquire load.
template <class Word, class Load>
GDRKIT_SHMEM_FUNCTION Word load_short(const Word* address, Load load) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  const auto* const around = reinterpret_cast<const std::uint32_t*>(place / 4 * 4);
  return static_cast<Word>(load(around) >> (place % 4 * 8));
}
/// Like test(), also for words of 2 bytes.
template <class Word>
GDRKIT_SHMEM_FUNCTION bool test_word(const Word* address, gdrkit_shmem_comparison comparison, Word value) {
  if constexpr (sizeof(Word) == 2) {
    const auto load = [](const std::uint32_t* around) { return load_acquire(around); };
    return compares(load_short(address, load), comparison, value);
  } else {
    return test(address, comparison, value);
  }
}
/// Like wait_until(), also for words of 2 bytes.
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

/// @brief Adjacent words of the caller's heap, and the comparison of each.
/// @tparam Word Integer of 2, 4 or 8 bytes. For words of 2 bytes, the aligned 4 bytes around each are read.
/// @tparam Values `Word`: one value for all words. `const Word*`: one value per word.
template <class Word, class Values>
struct Words {
  const Word* address;                 ///< Address of the first word, naturally aligned.
  std::size_t count;                   ///< Number of words.
  const int* skip;                     ///< nullptr, or `count` entries: words whose entry is nonzero are ignored.
  gdrkit_shmem_comparison comparison;  ///< Comparison of each word with its value.
  Values values;                       ///< Right operands of the comparisons.

  /// @brief Returns whether a word is not skipped.
  /// @param[in] i Index of the word.
  /// @return true if it is not.
  GDRKIT_SHMEM_FUNCTION bool is_selected(std::size_t i) const { return skip == nullptr || skip[i] == 0; }
  /// @brief Returns the value that a word is compared with.
  /// @param[in] i Index of the word.
  /// @return The value.
  GDRKIT_SHMEM_FUNCTION Word value(std::size_t i) const {
    if constexpr (std::is_same_v<Values, Word>) {
      return values;
    } else {
      return values[i];
    }
  }
  /// @brief Returns whether a word satisfies its comparison now.
  /// @param[in] i Index of the word.
  /// @return true if it does and is not skipped.
  GDRKIT_SHMEM_FUNCTION bool is_satisfied(std::size_t i) const {
    return is_selected(i) && detail::test_word(address + i, comparison, value(i));
  }
};

/// @brief Index that a search without a result returns.
inline constexpr std::size_t no_word = ~std::size_t{0};

/// @brief Tests whether every word satisfies its comparison.
/// @param[in] words The words.
/// @return true if all words that are not skipped satisfy it.
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
/// Returns the first word from `at` on, cyclically, that satisfies its comparison, or no_word.
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

/// @brief Tests whether a word satisfies its comparison.
/// @param[in] words The words.
/// @return Index of any word that does, or no_word.
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION std::size_t test_any(const Words<Word, Values>& words) {
  return detail::find_from(words, detail::search_begin(words.count));
}

/// @brief Stores the indices of the words that satisfy their comparison.
/// @param[in] words The words.
/// @param[out] indices Indices, ascending. The array must have room for `words.count` entries.
/// @return Number of indices.
template <class Word, class Values>
GDRKIT_SHMEM_FUNCTION std::size_t test_some(const Words<Word, Values>& words, std::size_t* indices) {
  std::size_t found = 0;
  GDRKIT_SHMEM_ROLLED
  for (std::size_t i = 0; i < words.count; ++i) {
    if (words.is_satisfied(i)) indices[found++] = i;
  }
  return found;
}

/// @brief Waits until every word has satisfied its comparison at least once. Waits for the words one after the other.
/// @param[in] state State of the PE.
/// @param[in] words The words.
/// @return true on success. false if the wait exceeded the state's limit or a PE has ended.
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

/// @brief Waits until one word satisfies its comparison.
/// @param[in] state State of the PE.
/// @param[in] words The words.
/// @return Index of any word that does. no_word if all words are skipped, the wait exceeded the state's limit, or a PE
///   has ended.
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

/// @brief Waits until one word satisfies its comparison, and stores the indices of all words that do.
/// @param[in] state State of the PE.
/// @param[in] words The words.
/// @param[out] indices Indices, ascending. The array must have room for `words.count` entries.
/// @return Number of indices. 0 if all words are skipped, the wait exceeded the state's limit, or a PE has ended.
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

/// @}

}  // namespace gdrkit::shmem

#endif
