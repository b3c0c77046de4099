// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The C API's waits for many words.
#include <algorithm>
#include <atomic>
#include <vector>

#include "shmem/capi/calls.hpp"

using gdrkit::shmem_impl::capi::refuse_null;
using gdrkit::shmem_impl::capi::with_pe;
using gdrkit::shmem_impl::capi::word_of;
using gdrkit::shmem_impl::core::Pe;
using gdrkit::shmem_impl::parts::Words;

namespace base = gdrkit::base;

namespace {

using Indices = std::vector<size_t>;

base::Result<Words> words_of(const gdrkit_shmem_words* words) {
  if (words == nullptr) return base::pass(refuse_null("the words"));
  auto first = word_of(words->address, words->word, words->comparison);
  if (!first) return base::pass(first);
  return Words{*first, words->count, words->comparison, words->values, words->n_values, words->skip};
}

/// Calls `find(pe, words)`, and `use(indices)` with what it found.
template <class Find, class Use>
int with_words(const gdrkit_shmem_words* words, Find find, Use use) noexcept {
  return with_pe([=](Pe& self) -> base::Result<int> {
    auto known = words_of(words);
    if (!known) return base::pass(known);
    base::Result<Indices> found = find(self, *known);
    if (!found) return base::pass(found);
    return use(*found);
  });
}

base::Result<Indices> wait_for_some(Pe& self, const Words& words) { return self.waits().wait_until_some(words); }
base::Result<Indices> test_for_some(Pe& self, const Words& words) { return self.waits().test_some(words); }

/// Selects one index. Successive calls select different ones, so that a word that stays satisfied does not hide the
/// others. A plain round-robin would fail for callers that search several arrays in turn.
size_t one_of(const Indices& found) noexcept {
  static std::atomic<uint64_t> calls{0};
  constexpr uint64_t golden = 0x9e3779b97f4a7c15U;  // 2^64 divided by the golden ratio
  const uint64_t scattered = calls.fetch_add(1, std::memory_order_relaxed) * golden;
  return found[(scattered >> 32) * found.size() >> 32];
}

size_t count_selected(const gdrkit_shmem_words& words) noexcept {
  if (words.skip == nullptr) return words.count;
  return static_cast<size_t>(std::count(words.skip, words.skip + words.count, 0));
}

/// Stores the indices that `find` returns. Checks the outputs first, so that a wait without outputs fails at once.
template <class Find>
int find_some(const gdrkit_shmem_words* words, Find find, size_t* indices, size_t* n_found) noexcept {
  const auto checked = [=](Pe& self, const Words& known) -> base::Result<Indices> {
    if (indices == nullptr || n_found == nullptr) return base::pass(refuse_null("indices or n_found"));
    return find(self, known);
  };
  return with_words(words, checked, [=](const Indices& found) -> base::Result<int> {
    std::copy(found.begin(), found.end(), indices);
    *n_found = found.size();
    return 0;
  });
}

}  // namespace

int gdrkit_shmem_wait_until_all(const gdrkit_shmem_words* words) {
  return with_pe([=](Pe& self) -> base::Status {
    auto known = words_of(words);
    if (!known) return base::pass(known);
    return self.waits().wait_until_all(*known);
  });
}

int gdrkit_shmem_wait_until_any(const gdrkit_shmem_words* words, size_t* index) {
  return with_words(words, wait_for_some, [=](const Indices& found) -> base::Result<int> {
    if (found.empty()) {
      return base::fail_literal(
          ENODATA, words->count == 0
                       ? "cannot wait for a word: the array of words is empty"
                       : "cannot wait for a word: the array skip excludes all words; set an entry of skip to 0");
    }
    if (index != nullptr) *index = one_of(found);
    return 0;
  });
}

int gdrkit_shmem_wait_until_some(const gdrkit_shmem_words* words, size_t* indices, size_t* n_found) {
  return find_some(words, wait_for_some, indices, n_found);
}

int gdrkit_shmem_test_all(const gdrkit_shmem_words* words) {
  return with_words(words, test_for_some, [=](const Indices& found) -> base::Result<int> {
    return found.size() == count_selected(*words) ? 1 : 0;
  });
}

int gdrkit_shmem_test_any(const gdrkit_shmem_words* words, size_t* index) {
  return with_words(words, test_for_some, [=](const Indices& found) -> base::Result<int> {
    if (!found.empty() && index != nullptr) *index = one_of(found);
    return found.empty() ? 0 : 1;
  });
}

int gdrkit_shmem_test_some(const gdrkit_shmem_words* words, size_t* indices, size_t* n_found) {
  return find_some(words, test_for_some, indices, n_found);
}
