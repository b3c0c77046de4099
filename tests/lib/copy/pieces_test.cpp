// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The cut of a range into accesses, exhaustively for every alignment and every size a head or tail can have.
#include "copy/pieces.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gdrkit::copy {
namespace {

using Pieces = std::vector<std::pair<std::size_t, std::size_t>>;  // offset, width

Pieces pieces_of(std::uintptr_t address, std::size_t size) {
  Pieces pieces;
  for_each_piece(address, size, [&](std::size_t offset, auto width) { pieces.emplace_back(offset, width.bytes); });
  return pieces;
}

TEST(ForEachPiece, CoversEachByteOnceInOrderAndNaturallyAligned) {
  for (std::uintptr_t address = 4096; address < 4096 + 64; ++address) {
    for (std::size_t size = 0; size <= 300; ++size) {
      std::size_t next = 0;
      for (const auto& [offset, width] : pieces_of(address, size)) {
        ASSERT_EQ(offset, next) << "address " << address << " size " << size;
        ASSERT_TRUE(width == 1 || width == 2 || width == 4 || width == 8);
        ASSERT_EQ((address + offset) % width, 0u) << "address " << address << " size " << size;
        next = offset + width;
      }
      ASSERT_EQ(next, size) << "address " << address;
    }
  }
}

TEST(ForEachPiece, UsesTheWidestAccessThatAlignmentAndRestAllow) {
  for (std::uintptr_t address = 4096; address < 4096 + 64; ++address) {
    for (std::size_t size = 0; size <= 300; ++size) {
      for (const auto& [offset, width] : pieces_of(address, size)) {
        if (width == 8) continue;
        const bool wider_is_aligned = (address + offset) % (2 * width) == 0;
        const bool wider_fits = size - offset >= 2 * width;
        ASSERT_FALSE(wider_is_aligned && wider_fits) << "address " << address << " size " << size;
      }
    }
  }
}

TEST(ForEachPiece, ReturnsAnAlignedWordInOnePiece) {
  for (const std::size_t width : {1u, 2u, 4u, 8u}) {
    for (std::uintptr_t address = 4096; address < 4096 + 64; address += width) {
      EXPECT_EQ(pieces_of(address, width), (Pieces{{0, width}}));
    }
  }
}

TEST(ForEachPiece, CanBeEvaluatedByTheCompiler) {
  constexpr std::size_t count = [] {
    std::size_t pieces = 0;
    for_each_piece(1, 15, [&](std::size_t, auto) { ++pieces; });
    return pieces;
  }();
  static_assert(count == 4);  // 1 + 2 + 4 + 8
}

TEST(SplitAtLines, CutsAtTheBoundariesOfLines) {
  for (std::uintptr_t address = 4096; address < 4096 + 128; ++address) {
    for (std::size_t size = 0; size <= 600; ++size) {
      const LineSplit split = split_at_lines(address, size);
      ASSERT_EQ(split.head_bytes + split.line_count * 64 + split.tail_bytes, size);
      ASSERT_LT(split.tail_bytes, 64u);
      ASSERT_LT(split.head_bytes, 64u);
      const bool reaches_boundary = split.head_bytes < size;
      if (reaches_boundary) {
        ASSERT_EQ((address + split.head_bytes) % 64, 0u);
      }
      // A head never crosses a boundary, so it is one line's.
      if (split.head_bytes != 0) {
        ASSERT_EQ(address / 64, (address + split.head_bytes - 1) / 64);
      }
    }
  }
}

}  // namespace
}  // namespace gdrkit::copy
