// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/wrapped_text.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "cli/interface/shell_word.hpp"

namespace gdrkit::cli {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(WrappedText, AShortTextIsOneLine) {
  EXPECT_EQ(wrapped("a ", "  ", "some words"), "a some words\n");
  EXPECT_EQ(wrapped("# ", "# ", "  indented"), "#   indented\n");
  EXPECT_EQ(wrapped("", "", ""), "\n");
}

TEST(WrappedText, BreaksLinesAtBlanksWithoutLosingWords) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += (i == 0 ? "" : " ") + std::string(static_cast<std::size_t>(i % 13 + 1), 'x');
  const auto lines = lines_of(wrapped("one: ", "     ", text));
  std::string joined;
  for (const std::string& line : lines) {
    EXPECT_LE(line.size(), output_columns);
    EXPECT_EQ(line.substr(0, 5), &line == &lines.front() ? "one: " : "     ");
    joined += (joined.empty() ? "" : " ") + line.substr(5);
  }
  EXPECT_EQ(joined, text);
  EXPECT_EQ(lines.size(), text.size() / (output_columns - 5) + 1) << "lines are full";
}

TEST(WrappedText, AWordThatFitsExactlyStaysOnItsLine) {
  const std::string word(output_columns - 2, 'x');
  EXPECT_EQ(lines_of(wrapped("  ", "  ", word + " y")), (std::vector<std::string>{"  " + word, "  y"}));
}

TEST(WrappedText, AWordThatIsTooLongStaysWhole) {
  const std::string word(output_columns * 2, 'x');
  EXPECT_EQ(lines_of(wrapped("", "", "a " + word + " b")), (std::vector<std::string>{"a", word, "b"}));
}

TEST(WrappedText, BreaksOnlyLinesThatAreTooLong) {
  EXPECT_EQ(fitted("short", 7), "short");
  EXPECT_EQ(fitted("", 7), "");
  EXPECT_EQ(fitted("a  b\n  c\n", 7), "a  b\n  c\n") << "blanks and line ends stay";
  const std::string word(output_columns - 3, 'x');
  EXPECT_EQ(fitted("  first\n  y " + word, 2), "  first\n  y\n  " + word);
}

TEST(WrappedText, UsesThePluralExceptForOne) {
  EXPECT_EQ(counted(0, "check"), "0 checks");
  EXPECT_EQ(counted(1, "check"), "1 check");
  EXPECT_EQ(counted(2, "check"), "2 checks");
}

TEST(ShellWord, OnlyWordsThatAShellExpandsAreQuoted) {
  for (const char* plain : {"mlx5_0:1,mlx5_1:1", "rc,cuda,sm,self", "NAME=value", "/usr/lib/x.so", "a@b"})
    EXPECT_EQ(shell_word(plain), plain);
  EXPECT_EQ(shell_word("=mlx5_0:1"), "'=mlx5_0:1'") << "zsh replaces it by the path of a command";
  EXPECT_EQ(shell_word("NCCL_IB_HCA==mlx5_0"), "'NCCL_IB_HCA==mlx5_0'");
  EXPECT_EQ(shell_word("^mlx5_0"), "'^mlx5_0'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace gdrkit::cli
