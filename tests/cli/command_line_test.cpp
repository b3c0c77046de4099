// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/common/command_line.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace gdrkit::tools {
namespace {

struct Values {
  bool flag = false;
  int number = 7;
  std::size_t size = 9;
  std::string word = "first";
  std::vector<std::string> names;
  bool own = false;
};

class CommandLineTest : public testing::Test {
 protected:
  std::optional<ExitCode> parse_as(Front front, std::initializer_list<const char*> words) {
    CommandLine line;
    line.name = "tool";
    line.summary = "A tool.";
    line.example = "gdrkit tool -n 1";
    line.options = {{'f', "flag", "", &values_.flag, "a flag"},
                    {'n', "number", "N", &values_.number, "a number"},
                    {'s', "size", "BYTES", &values_.size, "a size"},
                    {'w', "word", "WORD", Choice{{"first", "second"}, &values_.word, "what is '{}'?"}, "a word"},
                    {'t', "test", "NAME", &values_.names, "names"},
                    {'\0', "own", "", &values_.own, "not the predecessor's", false}};
    std::vector<std::string> copies(words.begin(), words.end());
    copies.insert(copies.begin(), "tool");
    std::vector<char*> argv;
    for (std::string& word : copies) argv.push_back(word.data());
    argv.push_back(nullptr);
    return parse(line, front, static_cast<int>(copies.size()), argv.data());
  }
  Values values_;
};

class BothFronts : public CommandLineTest, public testing::WithParamInterface<Front> {};

TEST_P(BothFronts, ShortOptionsFillTheirTargets) {
  EXPECT_EQ(parse_as(GetParam(), {"-f", "-n", "12", "-s", "0x40", "-w", "second", "-t", "a", "-t", "b"}), std::nullopt);
  EXPECT_TRUE(values_.flag);
  EXPECT_EQ(values_.number, 12);
  EXPECT_EQ(values_.size, 0x40u);
  EXPECT_EQ(values_.word, "second");
  EXPECT_EQ(values_.names, (std::vector<std::string>{"a", "b"}));
}

TEST_P(BothFronts, NoOptionsLeaveTheDefaults) {
  EXPECT_EQ(parse_as(GetParam(), {}), std::nullopt);
  EXPECT_EQ(values_.number, 7);
  EXPECT_EQ(values_.word, "first");
}

TEST_P(BothFronts, HelpEndsWithZero) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(parse_as(GetParam(), {"-h"}), ExitCode::ok);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("-n"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Fronts, BothFronts, testing::Values(Front::gdrkit, Front::gdrcopy));

TEST_F(CommandLineTest, GdrcopyTakesAnyNumberAsStrtolDoes) {
  EXPECT_EQ(parse_as(Front::gdrcopy, {"-n", "12abc", "-s", "010"}), std::nullopt);
  EXPECT_EQ(values_.number, 12);
  EXPECT_EQ(values_.size, 8u);
}

TEST_F(CommandLineTest, GdrcopyEndsUnknownOptionsWithOne) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(parse_as(Front::gdrcopy, {"-z"}), ExitCode::failed);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("ERROR: invalid option"), std::string::npos);
}

TEST_F(CommandLineTest, GdrcopyComplainsOfAWordWithTheWordInIt) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(parse_as(Front::gdrcopy, {"-w", "third"}), ExitCode::failed);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "what is 'third'?\n");
}

TEST_F(CommandLineTest, GdrcopyHasNoLongOptionsOfOurs) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(parse_as(Front::gdrcopy, {"--own"}), ExitCode::failed);
  EXPECT_EQ(parse_as(Front::gdrcopy, {"--flag"}), ExitCode::failed);
  (void)testing::internal::GetCapturedStderr();
  EXPECT_FALSE(values_.own);
}

TEST_F(CommandLineTest, GdrkitTakesLongOptions) {
  EXPECT_EQ(parse_as(Front::gdrkit, {"--flag", "--number", "3", "--size=4096", "--word", "second", "--own"}),
            std::nullopt);
  EXPECT_TRUE(values_.flag && values_.own);
  EXPECT_EQ(values_.number, 3);
  EXPECT_EQ(values_.size, 4096u);
}

class WrongForGdrkit : public CommandLineTest, public testing::WithParamInterface<std::vector<const char*>> {};

TEST_P(WrongForGdrkit, EndsWithUsageAndASentence) {
  testing::internal::CaptureStderr();
  const auto words = GetParam();
  std::optional<ExitCode> ended;
  if (words.size() == 1) ended = parse_as(Front::gdrkit, {words[0]});
  if (words.size() == 2) ended = parse_as(Front::gdrkit, {words[0], words[1]});
  EXPECT_EQ(ended, ExitCode::usage);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("gdrkit tool: "), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Lines, WrongForGdrkit,
                         testing::Values(std::vector<const char*>{"-z"}, std::vector<const char*>{"--nothing"},
                                         std::vector<const char*>{"-n", "12abc"}, std::vector<const char*>{"-n", "-3"},
                                         std::vector<const char*>{"-n"}, std::vector<const char*>{"--size", ""},
                                         std::vector<const char*>{"-t", ""},
                                         std::vector<const char*>{"-n", "99999999999"},
                                         std::vector<const char*>{"--word", "third"},
                                         std::vector<const char*>{"extra"}));

}  // namespace
}  // namespace gdrkit::tools
