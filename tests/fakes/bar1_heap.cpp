// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/bar1_heap.hpp"

#include <algorithm>

#include "fakes/wire.hpp"

namespace gdrkit::fakes {

std::vector<Bar1Heap::Piece> Bar1Heap::holes() const {
  std::vector<Piece> found;
  std::uint64_t at = 0;
  for (const auto& [offset, bytes] : used_) {
    if (offset > at) found.push_back({at, offset - at});
    at = offset + bytes;
  }
  if (bytes_ > at) found.push_back({at, bytes_ - at});
  return found;
}

std::uint64_t Bar1Heap::available() const {
  std::uint64_t sum = 0;
  for (const Piece& hole : holes()) sum += hole.bytes;
  return sum;
}

std::uint64_t Bar1Heap::largest() const {
  std::uint64_t most = 0;
  for (const Piece& hole : holes()) most = std::max(most, hole.bytes);
  return most;
}

std::optional<std::vector<Bar1Heap::Piece>> Bar1Heap::take(std::uint64_t bytes, std::uint64_t unit, bool may_split) {
  std::vector<Piece> taken;
  std::uint64_t chunk = bytes;
  std::uint64_t left = bytes;
  while (left > 0) {
    chunk = std::min(chunk, left);
    const auto all = holes();
    const auto hole = std::find_if(all.begin(), all.end(), [&](const Piece& free) {
      const std::uint64_t first = round_up(free.first, unit);
      return first + chunk <= free.first + free.bytes;
    });
    if (hole != all.end()) {
      const std::uint64_t first = round_up(hole->first, unit);
      used_[first] = chunk;
      taken.push_back({base_ + first, chunk});
      left -= chunk;
    } else if (may_split && chunk > unit) {
      chunk = round_up(chunk / 2, unit);
    } else {
      release(taken);
      return std::nullopt;
    }
  }
  return taken;
}

void Bar1Heap::release(const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) used_.erase(piece.first - base_);
}

}  // namespace gdrkit::fakes
