// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What the drop-in library prints, and mostly does not, on stderr: read from a client of its own for each environment,
// since the log's settings are read once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace gdrkit::tests {
namespace {

using testing::ContainsRegex;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct Output {
  std::vector<std::string> lines;  ///< of stderr
  int exit_code = -1;
};

/// Runs log_probe with nothing in its environment but `variables`.
Output run(const std::string& variables, const std::string& what) {
  const std::string command = "env -i " + variables + " " GDRKIT_LOG_PROBE " " + what + " 2>&1 1>/dev/null";
  Output output;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::string text;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
  const int status = ::pclose(pipe);
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) output.lines.push_back(line);
  return output;
}

const std::string emulated = "GDRKIT_BACKEND=emulated ";
const std::string with_log = "GDRCOPY_ENABLE_LOGGING=1 ";

TEST(GdrapiLog, IsSilentUnlessEnabled) {
  for (const char* level : {"", "GDRCOPY_LOG_LEVEL=1"}) {
    EXPECT_THAT(run(emulated + level, "calls").lines, IsEmpty());
    EXPECT_THAT(run(std::string("GDRKIT_BACKEND=abacus ") + level, "open").lines, IsEmpty());
    EXPECT_THAT(run(std::string("GDRCOPY_USE_DMABUF_MMAP=1 ") + level, "open").lines, IsEmpty());
    EXPECT_THAT(run(level, "close-null").lines, IsEmpty());
  }
}

TEST(GdrapiLog, FailedOpenReportsTheReason) {
  const Output output = run(with_log + "GDRKIT_BACKEND=abacus", "open");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_THAT(output.lines, ElementsAre("ERR:  error opening driver (errno=22/Invalid argument): unknown backend "
                                        "\"abacus\"; set option backend or variable GDRKIT_BACKEND to one of: "
                                        "gdrdrv, dmabuf, rm, emulated"));
}

TEST(GdrapiLog, FailedOpenListsEveryBackend) {
  const Output output = run(with_log, "open");
  if (output.exit_code == 0) GTEST_SKIP() << "a backend can run on this machine, so that opening does not fail";
  ASSERT_EQ(output.lines.size(), 1u);
  EXPECT_THAT(output.lines[0], StartsWith("ERR:  error opening driver (errno=19/No such device): "));
  EXPECT_THAT(output.lines[0],
              ContainsRegex("\\[rm\\] .+; \\[emulated\\] used only on request \\(GDRKIT_BACKEND=emulated\\)$"));
}

TEST(GdrapiLog, ReportsWhichVariableForcedAnUnusableDmabuf) {
  const Output output = run(with_log + "GDRCOPY_USE_DMABUF_MMAP=1", "open");
  if (output.exit_code == 0) GTEST_SKIP() << "dma-buf mappings work on this machine";
  ASSERT_EQ(output.lines.size(), 1u);
  EXPECT_THAT(output.lines[0], StartsWith("ERR:  error opening driver (errno="));
  EXPECT_THAT(output.lines[0], HasSubstr("GDRCOPY_USE_DMABUF_MMAP=1 forces dma-buf: "));
}

TEST(GdrapiLog, IsEnabledByAnyValue) {
  for (const char* value : {"GDRCOPY_ENABLE_LOGGING=0", "GDRCOPY_ENABLE_LOGGING="}) {
    EXPECT_EQ(run(std::string("GDRKIT_BACKEND=abacus ") + value, "open").lines.size(), 1u) << value;
  }
}

TEST(GdrapiLog, PrintsOnlyErrorsByDefault) {
  const Output output = run(emulated + with_log, "calls");
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_THAT(
      output.lines,
      ElementsAre("ERR:  gdr_pin_buffer: cannot pin memory: the device address is NULL (errno=22/Invalid argument)",
                  "ERR:  gdr_unmap: mh is not mapped yet (errno=22/Invalid argument)",
                  "ERR:  gdr_map: mh is mapped already (errno=11/Resource temporarily unavailable)"));
}

TEST(GdrapiLog, LevelsArePrefixedAndFiltered) {
  const Output debug = run(emulated + with_log + "GDRCOPY_LOG_LEVEL=1", "open");
  ASSERT_EQ(debug.lines.size(), 3u);
  EXPECT_EQ(debug.lines[0], "INFO: Using emulated backend");
  EXPECT_TRUE(
      std::regex_match(debug.lines[1], std::regex("DBG:  using [A-Z0-9_]+ implementation of gdr_copy_to_mapping")));
  EXPECT_TRUE(
      std::regex_match(debug.lines[2], std::regex("DBG:  using [A-Z0-9_]+ implementation of gdr_copy_from_mapping")));
  EXPECT_THAT(run(emulated + with_log + "GDRCOPY_LOG_LEVEL=2", "open").lines,
              ElementsAre("INFO: Using emulated backend"));
  for (const char* level : {"3", "4"}) {
    EXPECT_THAT(run(emulated + with_log + "GDRCOPY_LOG_LEVEL=" + level, "open").lines, IsEmpty());
  }
  EXPECT_EQ(run(emulated + with_log + "GDRCOPY_LOG_LEVEL=abc", "open").lines.size(), 3u);  // atoi: 0
  EXPECT_THAT(run(with_log + "GDRCOPY_LOG_LEVEL=5", "close-null").lines, IsEmpty());
}

TEST(GdrapiLog, CopiesPrintNothingAtAnyLevel) {
  const Output output = run(emulated + with_log + "GDRCOPY_LOG_LEVEL=1", "calls");
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_EQ(output.lines.size(), 6u);
  EXPECT_THAT(output.lines, Each(Not(HasSubstr("gdr_copy_to_mapping:"))));
}

TEST(GdrapiLog, LogsARejectedHandle) {
  EXPECT_THAT(run(with_log, "close-null").lines,
              ElementsAre("ERR:  gdr_close: invalid context handle: it is NULL (errno=22/Invalid argument)"));
}

}  // namespace
}  // namespace gdrkit::tests
