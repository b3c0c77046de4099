// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/parts/waits.hpp"

#include <gdrkit/detail/shmem_access.cuh>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

#include "shmem/parts/waiter.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

std::int64_t as_signed(std::uint64_t value, std::size_t size_bytes) noexcept {
  if (size_bytes == 2) return static_cast<std::int16_t>(value);
  return size_bytes == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

/// `seen`: what the word holds, its bytes above its size 0.
bool compares(const Word& word, std::uint64_t seen, gdrkit_shmem_comparison comparison, std::uint64_t value) noexcept {
  if (word.is_signed) {
    return shmem::detail::compares(as_signed(seen, word.size_bytes), comparison, as_signed(value, word.size_bytes));
  }
  return shmem::detail::compares(seen, comparison, value & UINT64_MAX >> (64 - 8 * word.size_bytes));
}

base::Status check(const Words& words, const heap::SymmetricHeap& heap) noexcept {
  const std::size_t size = words.first.size_bytes;
  if (reinterpret_cast<std::uint64_t>(words.first.address) % size != 0) {
    return base::fail(
        EINVAL, "cannot compare the words at %p: the address is not a multiple of %zu bytes; pass an aligned address",
        words.first.address, size);
  }
  if (words.count > SIZE_MAX / size)
    return base::fail(EINVAL, "cannot compare %zu words: the array of words exceeds the address space", words.count);
  if (words.count == 0) return {};
  if (auto own = heap.find(words.first.address, words.count * size); !own) return base::pass(own);
  if (words.values == nullptr) return base::fail(EINVAL, "cannot compare the words: the pointer to the values is NULL");
  if (words.value_count == 1 || words.value_count == words.count) return {};
  return base::fail(EINVAL, "cannot compare %zu values with %zu words: pass 1 value, or 1 value per word",
                    words.value_count, words.count);
}

/// Values of the words, and which words are still waited for.
class PendingWords {
 public:
  explicit PendingWords(const Words& words)
      : words_(words), bytes_(words.count * words.first.size_bytes), is_open_(words.count, true) {
    for (std::size_t i = 0; words.skip != nullptr && i < words.count; ++i) is_open_[i] = words.skip[i] == 0;
  }

  [[nodiscard]] void* data() noexcept { return bytes_.data(); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_.size(); }
  [[nodiscard]] bool is_any_open() const noexcept {
    return std::find(is_open_.begin(), is_open_.end(), true) != is_open_.end();
  }
  [[nodiscard]] bool holds(std::size_t i) const noexcept {
    if (!is_open_[i]) return false;
    std::uint64_t seen = 0;
    std::memcpy(&seen, bytes_.data() + i * words_.first.size_bytes, words_.first.size_bytes);
    return compares(words_.first, seen, words_.comparison, words_.values[words_.value_count == 1 ? 0 : i]);
  }
  [[nodiscard]] std::vector<std::size_t> holding() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < is_open_.size(); ++i) {
      if (holds(i)) found.push_back(i);
    }
    return found;
  }
  void close_holding() noexcept {
    for (std::size_t i = 0; i < is_open_.size(); ++i) {
      if (holds(i)) is_open_[i] = false;
    }
  }

 private:
  const Words& words_;
  std::vector<unsigned char> bytes_;
  std::vector<bool> is_open_;
};

}  // namespace

base::Result<std::uint64_t> Waits::load(const Word& word) noexcept {
  if (reinterpret_cast<std::uint64_t>(word.address) % word.size_bytes != 0) {
    return base::fail(EINVAL,
                      "cannot read the word at %p: the address is not a multiple of %zu bytes; pass an aligned address",
                      word.address, word.size_bytes);
  }
  std::uint64_t seen = 0;
  if (auto loaded = read(&seen, word.address, word.size_bytes); !loaded) return base::pass(loaded);
  return seen;
}

base::Result<bool> Waits::test(const Word& word, gdrkit_shmem_comparison comparison, std::uint64_t value) noexcept {
  auto seen = load(word);
  if (!seen) return base::pass(seen);
  return compares(word, *seen, comparison, value);
}

base::Result<std::uint64_t> Waits::wait_until(const Word& word, gdrkit_shmem_comparison comparison,
                                              std::uint64_t value) noexcept {
  Waiter waiter(connections_.node(), connections_.limit(), "wait_until");
  for (;;) {
    auto seen = load(word);
    if (!seen || compares(word, *seen, comparison, value)) return seen;
    if (auto waited = waiter.pause(); !waited) return base::pass(waited);
  }
}

base::Status Waits::wait_until_all(const Words& words) noexcept try {
  if (auto known = check(words, connections_.heap()); !known) return known;
  PendingWords pending(words);
  Waiter waiter(connections_.node(), connections_.limit(), "wait_until_all");
  while (pending.is_any_open()) {
    if (auto seen = read(pending.data(), words.first.address, pending.size_bytes()); !seen) return seen;
    pending.close_holding();
    if (!pending.is_any_open()) break;
    if (auto waited = waiter.pause(); !waited) return waited;
  }
  return {};
} catch (const std::bad_alloc&) {
  return base::fail(ENOMEM, "out of memory while waiting for %zu words", words.count);
}

base::Result<std::vector<std::size_t>> Waits::wait_until_some(const Words& words) noexcept try {
  if (auto known = check(words, connections_.heap()); !known) return base::pass(known);
  PendingWords pending(words);
  Waiter waiter(connections_.node(), connections_.limit(), "wait_until_some");
  while (pending.is_any_open()) {
    if (auto seen = read(pending.data(), words.first.address, pending.size_bytes()); !seen) return base::pass(seen);
    if (auto found = pending.holding(); !found.empty()) return found;
    if (auto waited = waiter.pause(); !waited) return base::pass(waited);
  }
  return std::vector<std::size_t>();
} catch (const std::bad_alloc&) {
  return base::fail(ENOMEM, "out of memory while waiting for %zu words", words.count);
}

base::Result<std::vector<std::size_t>> Waits::test_some(const Words& words) noexcept try {
  if (auto known = check(words, connections_.heap()); !known) return base::pass(known);
  PendingWords pending(words);
  if (auto seen = read(pending.data(), words.first.address, pending.size_bytes()); !seen) return base::pass(seen);
  return pending.holding();
} catch (const std::bad_alloc&) {
  return base::fail(ENOMEM, "out of memory while testing %zu words", words.count);
}

}  // namespace gdrkit::shmem_impl::parts
