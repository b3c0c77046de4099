// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Waits: loads, tests and waits on words of this PE's heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "gdrkit/shmem.h"
#include "shmem/parts/connections.hpp"
#include "shmem/parts/transfers.hpp"

namespace gdrkit::shmem_impl::parts {

/// A word of 4 or 8 bytes in this PE's heap, and whether it is compared as a signed number.
struct Word {
  const void* address = nullptr;
  std::size_t size_bytes = 8;
  bool is_signed = false;
};

/// Adjacent words and the comparison that each has to satisfy.
struct Words {
  Word first;
  std::size_t count = 0;
  gdrkit_shmem_comparison comparison = GDRKIT_SHMEM_EQ;
  const std::uint64_t* values = nullptr;
  std::size_t value_count = 0;  ///< 1 for a common value, or `count`
  const int* skip = nullptr;
};

/// Thread-safe. Waits fail with ETIMEDOUT after the PE's limit, and with ECONNRESET if another PE has ended.
class Waits {
 public:
  /// The arguments must outlive the object.
  Waits(Connections& connections, Transfers& transfers) noexcept : connections_(connections), transfers_(transfers) {}

  [[nodiscard]] base::Result<std::uint64_t> load(const Word& word) noexcept;
  [[nodiscard]] base::Result<bool> test(const Word& word, gdrkit_shmem_comparison comparison,
                                        std::uint64_t value) noexcept;
  /// Waits until the word satisfies the comparison, and returns its value.
  [[nodiscard]] base::Result<std::uint64_t> wait_until(const Word& word, gdrkit_shmem_comparison comparison,
                                                       std::uint64_t value) noexcept;

  /// Waits until every word has satisfied the comparison at least once.
  base::Status wait_until_all(const Words& words) noexcept;
  /// Waits until a word satisfies the comparison. Returns the indices of all that do, in ascending order: at least
  /// one, unless all words are ignored.
  [[nodiscard]] base::Result<std::vector<std::size_t>> wait_until_some(const Words& words) noexcept;
  [[nodiscard]] base::Result<std::vector<std::size_t>> test_some(const Words& words) noexcept;

 private:
  /// Gets `size_bytes` from `address` in this PE's heap.
  base::Status read(void* target, const void* address, std::size_t size_bytes) noexcept {
    return transfers_.get(target, address, size_bytes, connections_.pe(), false);
  }

  Connections& connections_;
  Transfers& transfers_;
};

}  // namespace gdrkit::shmem_impl::parts
