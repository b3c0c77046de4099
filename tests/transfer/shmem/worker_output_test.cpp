// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/worker_output.hpp"

#include <gtest/gtest.h>

namespace gdrkit::tools::pgas {
namespace {

/// In pieces of `piece` bytes.
std::string joined(const std::string& text, std::size_t piece) {
  AlikeLines lines;
  std::string printed;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const std::string part = text.substr(at, piece);
    printed += lines.take(part.data(), part.size());
  }
  return printed + lines.end();
}

TEST(AlikeLines, AreLinesInARowThatDifferInNumbersOnly) {
  const std::string same = "a 1\na 20\na 300\n";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
    EXPECT_EQ(joined(same, piece), same);
    EXPECT_EQ(joined(same + "a 4\nb 5\n" + same, piece), same + "(and 1 lines like it)\nb 5\n" + same);
    EXPECT_EQ(joined(same + "a 4\na 5", piece), same + "(and 2 lines like it)\n");
    EXPECT_EQ(joined("a 1\nb 1\na 1\nb 1\na 1\nb 1\na 1\nb 1\n", piece), "a 1\nb 1\na 1\nb 1\na 1\nb 1\na 1\nb 1\n");
    EXPECT_EQ(joined("", piece), "");
    EXPECT_EQ(joined("no end", piece), "no end\n");
  }
}

}  // namespace
}  // namespace gdrkit::tools::pgas
