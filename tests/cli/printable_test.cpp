// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::cli {
namespace {

TEST(ForkErrorText, ListsTheLimits) {
  EXPECT_NE(fork_error_text(EAGAIN).find("ulimit -u"), std::string::npos);
  EXPECT_EQ(fork_error_text(ENOMEM), "Cannot allocate memory");
}

TEST(Printable, KeepsTextInAnyLanguage) {
  for (const char* text : {"", "a\tb\n", "caf\xc3\xa9", "\xd0\x9b", "\xe2\x86\x92", "\xf0\x9f\x90\xa7"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, RemovesTerminalControls) {
  EXPECT_EQ(printable("\x1b[2J\x07\x7f\r"), "?[2J???");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "?31m");
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b\xe2\x81\xa6"),
            "a?b?")
      << "what turns the direction of a line";
}

TEST(Printable, ReplacesInvalidUtf8WithQuestionMarks) {
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "?31m");
  EXPECT_EQ(printable("\xff\xc3"), "??");
  EXPECT_EQ(printable("\xe2\x82"), "??") << "cut off";
  EXPECT_EQ(printable("\xc0\xaf"), "??") << "longer than need be";
  EXPECT_EQ(printable("\xed\xa0\x80"), "???") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????") << "beyond the last character";
  EXPECT_EQ(printable("\xef\xbf\xbf"), "?") << "XML forbids it";
}

}  // namespace
}  // namespace gdrkit::cli
