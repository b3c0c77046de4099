// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The sanitizers of this build, with the options that CTest sets for all tests, end a program with a planted error.
// They report nothing for correct code. Otherwise a wrong option would make every test pass.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace gdrkit {
namespace {

struct End {
  int exit_code = -1;
  std::string output;
};

End run_misuse(const std::string& what) {
  End end;
  FILE* pipe = ::popen((std::string(GDRKIT_PLANTED_MISUSE) + " " + what + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return end;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) end.output += buffer.data();
  const int status = ::pclose(pipe);
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return end;
}

bool has_sanitizer(const std::string& name) { return std::string(GDRKIT_SANITIZE).find(name) != std::string::npos; }

void expect_report(const std::string& what, const std::string& words) {
  const End end = run_misuse(what);
  EXPECT_NE(end.exit_code, 0);
  EXPECT_NE(end.exit_code, 2) << "unknown argument '" << what << "'";
  EXPECT_NE(end.output.find(words), std::string::npos) << end.output;
  EXPECT_NE(end.output.find("planted_misuse.cpp"), std::string::npos)
      << "the report contains no line number: " << end.output;
}

TEST(Sanitizers, AreSupportedByThisTest) {
  EXPECT_TRUE(has_sanitizer("thread") || has_sanitizer("address") || has_sanitizer("undefined")) << GDRKIT_SANITIZE;
}

TEST(Sanitizers, ReportAPlantedRace) {
  if (!has_sanitizer("thread")) GTEST_SKIP() << "requires a build with the thread sanitizer";
  expect_report("race", "ThreadSanitizer: data race");
}

TEST(Sanitizers, ReportNothingForLockedThreads) {
  const End end = run_misuse("locked");
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.output, "");
}

TEST(Sanitizers, ReportAPlantedReadPastTheEnd) {
  if (!has_sanitizer("address")) GTEST_SKIP() << "requires a build with the address sanitizer";
  expect_report("overflow", "AddressSanitizer: heap-buffer-overflow");
}

TEST(Sanitizers, ReportPlantedUndefinedBehaviour) {
  if (!has_sanitizer("undefined")) GTEST_SKIP() << "requires a build with the undefined-behaviour sanitizer";
  expect_report("undefined", "signed integer overflow");
}

}  // namespace
}  // namespace gdrkit
