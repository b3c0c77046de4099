// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/throws_failure.hpp"

namespace gdrkit::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Values {
  bool flag = false;
  int number = 7;
  std::size_t size = 9;
  std::string word = "first";
  std::vector<std::string> names;
  bool own = false;
  DocumentOption json;
  DocumentOption csv;
  std::vector<std::string> operands;
};

class CommandLineTest : public testing::Test {
 protected:
  std::optional<ExitCode> parse_as(Front front, const std::vector<std::string>& words) {
    CommandLine line;
    line.name = "tool";
    if (has_operands_) line.operands = {&values_.operands, "WORD...", "words"};
    line.summary = "A tool.";
    line.example = "gdrkit tool -n 1";
    line.options = {{'f', "flag", "", &values_.flag, "a flag"},
                    {'n', "number", "N", &values_.number, "a number"},
                    {'s', "size", "BYTES", &values_.size, "a size"},
                    {'w', "word", "WORD", Choice{{"first", "second"}, &values_.word, "what is '{}'?"}, "a word"},
                    {'t', "test", "NAME", &values_.names, "names"},
                    {'\0', "json", "[FILE]", &values_.json, "a document"},
                    {'\0', "csv", "[FILE]", &values_.csv, "another", false},
                    {'\0', "own", "", &values_.own, "not of GDRCopy", false}};
    Option hidden{'\0', "secret", "", &values_.own, "for tests", false};
    hidden.is_hidden = true;
    line.options.push_back(hidden);
    line.refused = {{'q', "zero", "zeros do not exist; use -n"},
                    {'\0', "long-only", "it is long; leave it out", "0"},
                    {'y', "", "it is short; leave it out"}};
    std::vector<std::string> copies(words.begin(), words.end());
    copies.insert(copies.begin(), "tool");
    std::vector<char*> argv;
    for (std::string& word : copies) argv.push_back(word.data());
    argv.push_back(nullptr);
    return parse(line, front, static_cast<int>(copies.size()), argv.data());
  }
  /// The error message of parsing `words`, which must end with exit code `code`.
  std::string error_of(Front front, const std::vector<std::string>& words, ExitCode code) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(parse_as(front, words), code);
    return testing::internal::GetCapturedStderr();
  }
  Values values_;
  bool has_operands_ = false;
};

class BothFronts : public CommandLineTest, public testing::WithParamInterface<Front> {};

TEST_P(BothFronts, ShortOptionsSetTheirValues) {
  EXPECT_EQ(parse_as(GetParam(), {"-f", "-n", "12", "-s", "0x40", "-w", "second", "-t", "a", "-t", "b"}), std::nullopt);
  EXPECT_TRUE(values_.flag);
  EXPECT_EQ(values_.number, 12);
  EXPECT_EQ(values_.size, 0x40u);
  EXPECT_EQ(values_.word, "second");
  EXPECT_EQ(values_.names, (std::vector<std::string>{"a", "b"}));
}

TEST_P(BothFronts, KeepsDefaultsWithoutOptions) {
  EXPECT_EQ(parse_as(GetParam(), {}), std::nullopt);
  EXPECT_EQ(values_.number, 7);
  EXPECT_EQ(values_.word, "first");
}

TEST_P(BothFronts, HelpExitsWithCode0) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(parse_as(GetParam(), {"-h"}), ExitCode::ok);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("-n"));
}

INSTANTIATE_TEST_SUITE_P(Fronts, BothFronts, testing::Values(Front::gdrkit, Front::gdrcopy));

TEST_F(CommandLineTest, GdrcopyParsesNumbersLikeStrtolWithBase0) {
  EXPECT_EQ(parse_as(Front::gdrcopy, {"-n", " -12", "-s", "010"}), std::nullopt);
  EXPECT_EQ(values_.number, -12);
  EXPECT_EQ(values_.size, 8u);
}

TEST_F(CommandLineTest, GdrcopyRejectsInputThatStrtolIgnores) {
  for (const char* text : {"1M", "64K", "12abc", "1 ", "", "many", "0x", "1.5"}) {
    const std::string error = error_of(Front::gdrcopy, {"-s", text}, ExitCode::failed);
    EXPECT_THAT(error, HasSubstr(std::string("ERROR: -s ") + text + ": "));
    EXPECT_THAT(error, HasSubstr("1048576")) << "an example";
    EXPECT_NE(error_of(Front::gdrcopy, {"-n", text}, ExitCode::failed), "");
  }
  EXPECT_EQ(values_.size, 9u);
  EXPECT_EQ(values_.number, 7);
}

TEST_F(CommandLineTest, GdrcopyRejectsNumbersOutOfRange) {
  for (const char* text : {"2147483648", "-2147483649", "99999999999999999999", "-99999999999999999999"}) {
    EXPECT_THAT(error_of(Front::gdrcopy, {"-n", text}, ExitCode::failed), HasSubstr("out of range")) << text;
  }
  EXPECT_THAT(error_of(Front::gdrcopy, {"-s", "99999999999999999999"}, ExitCode::failed), HasSubstr("out of range"));
  EXPECT_THAT(error_of(Front::gdrcopy, {"-s", "-1"}, ExitCode::failed), HasSubstr("negative"));
}

TEST_F(CommandLineTest, GdrcopyExitsWithCode1ForUnknownOptions) {
  EXPECT_THAT(error_of(Front::gdrcopy, {"-z"}, ExitCode::failed), HasSubstr("ERROR: invalid option"));
}

TEST_F(CommandLineTest, GdrcopyErrorsContainTheArgument) {
  EXPECT_EQ(error_of(Front::gdrcopy, {"-w", "third"}, ExitCode::failed), "what is 'third'?\n");
}

TEST_F(CommandLineTest, GdrcopyRejectsLongOptionsOfGdrkit) {
  (void)error_of(Front::gdrcopy, {"--own"}, ExitCode::failed);
  (void)error_of(Front::gdrcopy, {"--flag"}, ExitCode::failed);
  EXPECT_FALSE(values_.own);
}

TEST_F(CommandLineTest, GdrkitAcceptsLongOptions) {
  EXPECT_EQ(parse_as(Front::gdrkit, {"--flag", "--number", "3", "--size=4096", "--word", "second", "--own"}),
            std::nullopt);
  EXPECT_TRUE(values_.flag && values_.own);
  EXPECT_EQ(values_.number, 3);
  EXPECT_EQ(values_.size, 4096u);
}

TEST_F(CommandLineTest, GdrkitReadsSizesWithUnits) {
  EXPECT_EQ(parse_as(Front::gdrkit, {"--size", "64K"}), std::nullopt);
  EXPECT_EQ(values_.size, 65536u);
  EXPECT_EQ(parse_as(Front::gdrkit, {"-s", "1MiB"}), std::nullopt);
  EXPECT_EQ(values_.size, 1048576u);
}

TEST_F(CommandLineTest, ReportsAnInvalidSizeWithOptionAndExample) {
  for (const char* text : {"many", "1MB", "-1", "1_000", "99999999999999999999"}) {
    const std::string error = error_of(Front::gdrkit, {std::string("--size=") + text}, ExitCode::usage);
    EXPECT_THAT(error, HasSubstr(std::string("gdrkit tool: --size: '") + text + "' is not a size; "));
    EXPECT_THAT(error, HasSubstr("for example 64K"));
  }
}

TEST_F(CommandLineTest, SuggestsAWordForATypo) {
  const auto error = [&](const std::vector<std::string>& words) {
    return error_of(Front::gdrkit, words, ExitCode::usage);
  };
  EXPECT_THAT(error({"--sise", "4"}), HasSubstr("'--sise'; did you mean '--size'?"));
  EXPECT_THAT(error({"--sise=4"}), HasSubstr("did you mean '--size'?"));
  EXPECT_THAT(error({"--word", "secnod"}), HasSubstr("did you mean 'second'?"));
  EXPECT_THAT(error({"--versoin"}), HasSubstr("did you mean '--version'?"));
  EXPECT_THAT(error({"--nothing"}), Not(HasSubstr("did you mean")));
  EXPECT_THAT(error({"--secre"}), Not(HasSubstr("secret'")));
}

TEST_F(CommandLineTest, WritesADocumentToStandardOutputOrAFile) {
  const std::string file = testing::TempDir() + "command_line_test.json";
  struct Case {
    std::vector<std::string> words;
    std::string path;
  };
  for (const Case& one : {Case{{"--json"}, ""}, Case{{"--json", "-f"}, ""}, Case{{"--json", "-"}, ""},
                          Case{{"--json=-", "-f"}, ""}, Case{{"--json", file}, file}, Case{{"--json=" + file}, file}}) {
    values_ = {};
    EXPECT_EQ(parse_as(Front::gdrkit, one.words), std::nullopt);
    EXPECT_TRUE(values_.json.is_given);
    EXPECT_EQ(values_.json.path, one.path);
    EXPECT_EQ(values_.json.is_on_stdout(), one.path.empty());
    EXPECT_EQ(values_.json.is_in_file(), !one.path.empty());
  }
  values_ = {};
  EXPECT_EQ(parse_as(Front::gdrkit, {}), std::nullopt);
  EXPECT_FALSE(values_.json.is_given || values_.json.is_on_stdout() || values_.json.is_in_file());
  EXPECT_EQ(parse_as(Front::gdrcopy, {"--json=" + file, "-f"}), std::nullopt);
  EXPECT_EQ(values_.json.path, file);
  values_ = {};
  EXPECT_EQ(parse_as(Front::gdrcopy, {"--json", "-f"}), std::nullopt);
  EXPECT_TRUE(values_.json.is_on_stdout() && values_.flag);
}

TEST_F(CommandLineTest, FileOfADocumentRequiresAnEqualsSignWithOperands) {
  const std::string file = testing::TempDir() + "command_line_test.json";
  has_operands_ = true;
  EXPECT_EQ(parse_as(Front::gdrkit, {"--json", "one", "two"}), std::nullopt);
  EXPECT_TRUE(values_.json.is_on_stdout());
  EXPECT_EQ(values_.operands, (std::vector<std::string>{"one", "two"}));
  values_ = {};
  EXPECT_EQ(parse_as(Front::gdrkit, {"one", "--json=" + file, "two"}), std::nullopt);
  EXPECT_EQ(values_.json.path, file);
  EXPECT_EQ(values_.operands, (std::vector<std::string>{"one", "two"}));
  values_ = {};
  EXPECT_EQ(parse_as(Front::gdrkit, {"one", "--", "--json"}), std::nullopt);
  EXPECT_FALSE(values_.json.is_given);
  EXPECT_EQ(values_.operands, (std::vector<std::string>{"one", "--json"}));
}

TEST_F(CommandLineTest, RejectsUnwritableDocumentsBeforeRunning) {
  const std::string file = testing::TempDir() + "command_line_test";
  const struct {
    std::vector<std::string> words;
    std::string message;
  } rejected[] = {{{"--json", "--csv"}, "cannot write both"},
                  {{"--json", file, "--csv", file}, "same file"},
                  {{"--json", testing::TempDir()}, "cannot write"},
                  {{"--json=/nothing/at/all"}, "/nothing/at/all"}};
  for (const auto& one : rejected) {
    const auto parse_words = [&] { (void)parse_as(Front::gdrkit, one.words); };
    EXPECT_THAT(parse_words, tests::throws_failure(ExitCode::usage, HasSubstr(one.message)));
  }
  EXPECT_EQ(parse_as(Front::gdrkit, {"--json", "--csv", file}), std::nullopt);
  EXPECT_EQ(parse_as(Front::gdrkit, {"--json", "/dev/null", "--csv", "/dev/null"}), std::nullopt);
}

TEST_F(CommandLineTest, ThrowsTheOptionTableOnRequest) {
  try {
    (void)parse_as(Front::table, {"--flag"});
    FAIL() << "nothing was thrown";
  } catch (const CommandLine& line) {
    EXPECT_STREQ(line.name, "tool");
    ASSERT_EQ(line.options.size(), 10u);
    EXPECT_STREQ(line.options.back().long_name, "emulated");
  }
  EXPECT_FALSE(values_.flag);
}

TEST_P(BothFronts, PrintsTheVersionOnOneLine) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(parse_as(GetParam(), {"--version"}), ExitCode::ok);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, StartsWith("gdrkit "));
  EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
}

TEST_F(CommandLineTest, GdrkitRejectsWrongUsageWithAMessage) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"-z"},
                                                {"--nothing"},
                                                {"-n", "12abc"},
                                                {"-n", "-3"},
                                                {"-n"},
                                                {"--size", ""},
                                                {"-t", ""},
                                                {"-n", "99999999999"},
                                                {"--json="},
                                                {"--word", "third"},
                                                {"extra"}}) {
    EXPECT_THAT(error_of(Front::gdrkit, words, ExitCode::usage), HasSubstr("gdrkit tool: "))
        << testing::PrintToString(words);
  }
}

TEST_F(CommandLineTest, RejectsOptionsOfGdrcopyWithTheReason) {
  has_operands_ = true;
  const auto refusal = [&](const std::vector<std::string>& words) {
    return error_of(Front::gdrkit, words, ExitCode::usage);
  };
  const std::string zero = "gdrkit tool: -q, --zero is not supported: zeros do not exist; use -n\n";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"-q"}, {"--zero"}, {"--zero=7"}, {"-q", "7", "word"}, {"word", "-f", "-q"}}) {
    EXPECT_THAT(refusal(words), StartsWith(zero)) << words.front();
  }
  EXPECT_THAT(refusal({"--long-only", "1"}), HasSubstr("tool: --long-only is not supported: it is long"));
  EXPECT_THAT(refusal({"-y"}), HasSubstr("tool: -y is not supported: it is short"));
  EXPECT_FALSE(parse_as(Front::gdrkit, {"--long-only", "0", "word"}).has_value());
  EXPECT_EQ(values_.operands, std::vector<std::string>{"word"});
}

}  // namespace
}  // namespace gdrkit::cli
