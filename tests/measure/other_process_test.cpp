// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/other_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/interface/exit_code.hpp"
#include "measure/result/result_file.hpp"

namespace gdrkit::measure {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string small_result() {
  measure::Result result;
  result.tool = "bench";
  measure::Series series;
  series.id = "copies/to_device/mapping";
  series.points.push_back(measure::make_point(8, {3, 1, 2}, 4));
  result.series.push_back(series);
  return to_json_text(result);
}

/// A shell runs the words "-c SCRIPT": the arguments are passed unchanged.
measure::Result of_script(const std::string& script, const std::string& word = "") {
  return bench::result_of_process("/bin/sh", {"-c", script, "sh", word});
}

TEST(OtherProcess, PrintsItsResult) {
  const measure::Result result = of_script("printf %s \"$1\"", small_result());
  ASSERT_NE(find_series(result, "copies/to_device/mapping"), nullptr);
  EXPECT_EQ(find_series(result, "copies/to_device/mapping")->points[0].rounds, (std::vector<double>{3, 1, 2}));
}

TEST(OtherProcess, ReturnsTheResultOfAFailedProcess) {
  EXPECT_EQ(of_script("printf %s \"$1\"; exit 1", small_result()).tool, "bench");
}

TEST(OtherProcess, ReportsTheExitStatusWithoutAResult) {
  EXPECT_THAT([] { (void)of_script("exit 77"); }, ThrowsMessage<cli::Failure>("exit code 77"));
  EXPECT_THAT([] { (void)of_script("kill -9 $$"); }, ThrowsMessage<cli::Failure>("ended by Killed"));
  EXPECT_THAT([] { (void)bench::result_of_process("/no/such/program", {}); },
              ThrowsMessage<cli::Failure>("could not be started"));
  EXPECT_THAT([] { (void)of_script("echo nonsense"); }, ThrowsMessage<cli::Failure>(HasSubstr("not a JSON document")));
}

}  // namespace
}  // namespace gdrkit::measure
