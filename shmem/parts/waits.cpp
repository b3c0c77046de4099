// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/parts/waits.hpp"

#include "shmem/parts/comparison.hpp"
#include "shmem/parts/waiter.hpp"

namespace gdrkit::shmem_impl::parts {

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

}  // namespace gdrkit::shmem_impl::parts
