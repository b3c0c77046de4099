// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/run/output_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gdrkit::transfer::run {
namespace {

std::string take_all(OutputLines* lines) {
  std::string all;
  while (!lines->ready().empty()) {
    const std::string_view some = lines->ready().substr(0, 3);
    all += some;
    lines->take(some.size());
  }
  return all;
}

TEST(OutputLines, PrefixesEachWholeLineWithThePe) {
  OutputLines lines(12);
  lines.add(3, "one\ntw");
  lines.add(11, "other\n");
  lines.add(3, "o\n\nthree");
  EXPECT_EQ(take_all(&lines), "[ 3] one\n[11] other\n[ 3] two\n[ 3] \n");
  lines.end(3);
  lines.end(11);
  EXPECT_EQ(take_all(&lines), "[ 3] three\n");
}

TEST(OutputLines, SplitsLinesAboveTheSizeLimit) {
  OutputLines lines(1);
  const std::string part(50'000, 'x');
  for (int i = 0; i < 3; ++i) lines.add(0, part);
  lines.add(0, "\n");
  EXPECT_EQ(take_all(&lines), "[0] " + std::string(65536, 'x') + "\n[0] " + std::string(65536, 'x') + "\n[0] " +
                                  std::string(150'000 - 2 * 65536, 'x') + "\n");
}

TEST(OutputLines, ReportsThatTooMuchIsBuffered) {
  OutputLines lines(1);
  const std::string line = std::string(999, 'x') + "\n";
  std::size_t added = 0;
  while (!lines.is_full()) {
    lines.add(0, line);
    ++added;
  }
  EXPECT_GT(added, 1000u);
  EXPECT_LT(added, 1100u);
  std::size_t taken = 0;
  while (!lines.ready().empty()) {
    const std::size_t some = std::min<std::size_t>(lines.ready().size(), 4096);
    taken += some;
    lines.take(some);
  }
  EXPECT_EQ(taken, added * (line.size() + 4));
  EXPECT_FALSE(lines.is_full());
}

}  // namespace
}  // namespace gdrkit::transfer::run
