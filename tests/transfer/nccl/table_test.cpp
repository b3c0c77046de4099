// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Lines of nccl-tests 2.18, formatted again from their numbers.
#include "transfer/nccl/nccl_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gdrkit::transfer::nccl {
namespace {

Row recorded_row() {
  Row row;
  row.size_bytes = 33554432;
  row.count = 8388608;
  row.type = "float";
  row.reduction = "sum";
  row.out_of_place = Timing{14977.1, 2.241, 2.2404, 0};
  row.in_place = Timing{9663.194, 239.714, 2.287, 7};
  return row;
}

TEST(Table, RowsHaveTheColumnsOfNcclTests) {
  EXPECT_EQ(
      row_text(recorded_row()),
      "    33554432       8388608     float     sum      -1  14977.1    2.24    2.24       0  9663.19  239.71    2.29"
      "       7\n");
  Row unchecked = recorded_row();
  unchecked.out_of_place->wrong.reset();
  unchecked.in_place = Timing{0.5, 1234.5, 12345.6, std::nullopt};
  EXPECT_EQ(
      row_text(unchecked),
      "    33554432       8388608     float     sum      -1  14977.1    2.24    2.24     N/A     0.50  1234.5   12346"
      "     N/A\n");
}

TEST(Table, UnsupportedInPlaceResultsAreNotAvailable) {
  Row row = recorded_row();
  row.in_place.reset();
  EXPECT_EQ(
      row_text(row),
      "    33554432       8388608     float     sum      -1  14977.1    2.24    2.24       0      N/A     N/A     N/A"
      "     N/A\n");
  EXPECT_DOUBLE_EQ(average_bus_gbps({row}), 2.2404);
}

TEST(Table, NumbersHaveAsManyDecimalsAsFit) {
  EXPECT_EQ(fitted_number(4370.57, 7, 2), "4370.57");
  EXPECT_EQ(fitted_number(14977.1, 7, 2), "14977.1");
  EXPECT_EQ(fitted_number(180860.4, 7, 2), "180860");   // 180860.4 has 8 columns
  EXPECT_EQ(fitted_number(9999.999, 7, 2), "10000.0");  // rounding adds a column
  EXPECT_EQ(fitted_number(123456789, 7, 2), "1.2e+08");
}

TEST(Table, HeaderMatchesNcclTests) {
  Options options;
  options.smallest_bytes = 1048576;
  options.largest_bytes = 134217728;
  options.factor = 2;
  options.iterations = 50;
  options.warmup = 10;
  const std::string text = head_text(options, "all_reduce", "nccl-library=22907",
                                     {device_line(0, 2994447, "lab", 0, "0000:02:00.0", "NVIDIA GeForce RTX 5090")});
  EXPECT_EQ(
      text.substr(text.find("# Collective")),
      "# Collective test starting: all_reduce_perf\n"
      "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 134217728 step: 2(factor) warmup iters: 10 iters: 50 agg iters: "
      "1 validation: 1 graph: 0\n"
      "#\n"
      "# Using devices\n"
      "#  Rank  0 Group  0 Pid 2994447 on        lab device  0 [0000:02:00] NVIDIA GeForce RTX 5090\n"
      "#\n"
      "#                                                              out-of-place                       in-place     "
      "     \n"
      "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw "
      " #wrong \n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  "
      "(GB/s)         \n");
}

TEST(Table, FooterCountsWrongElementsAndAveragesBothPlaces) {
  const std::string text = foot_text("all_reduce", {recorded_row(), recorded_row()});
  EXPECT_EQ(text,
            "# Out of bounds values : 14 FAILED\n# Avg bus bandwidth    : 2.2637 \n#\n# Collective test concluded: "
            "all_reduce_perf\n#\n");
  Row right = recorded_row();
  right.in_place->wrong = 0;
  EXPECT_THAT(foot_text("reduce", {right}), testing::HasSubstr("# Out of bounds values : 0 OK\n"));
}

}  // namespace
}  // namespace gdrkit::transfer::nccl
