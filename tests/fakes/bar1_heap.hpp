// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Bar1Heap: the address space of one GPU's BAR1, allocated in GPU pages, first fit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace gdrkit::fakes {

class Bar1Heap {
 public:
  struct Piece {
    std::uint64_t first;
    std::uint64_t bytes;
  };

  Bar1Heap(std::uint64_t base, std::uint64_t bytes) : base_(base), bytes_(bytes) {}

  /// Allocates `bytes` in one piece, or in several if `may_split` (halves the piece until it fits, as the driver does).
  [[nodiscard]] std::optional<std::vector<Piece>> take(std::uint64_t bytes, std::uint64_t unit, bool may_split);
  void release(const std::vector<Piece>& pieces);
  /// Allocates a given part, which must be free; for tests of fragmentation.
  void occupy(std::uint64_t offset, std::uint64_t bytes) { used_[offset] = bytes; }

  [[nodiscard]] std::uint64_t size() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t available() const;
  [[nodiscard]] std::uint64_t largest() const;

 private:
  [[nodiscard]] std::vector<Piece> holes() const;  ///< by offset

  std::uint64_t base_;
  std::uint64_t bytes_;
  std::map<std::uint64_t, std::uint64_t> used_;  ///< offset -> bytes
};

}  // namespace gdrkit::fakes
