// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Lines of OSU's micro-benchmarks 7.4 and 7.5, formatted again from their numbers.
#include "transfer/osu/osu_report.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace gdrkit::transfer::osu {
namespace {

const OsuTest& osu_named(const std::string& name) {
  for (const OsuTest& test : all_osu_tests) {
    if (name == test.name) return test;
  }
  throw std::logic_error(name);
}

LineFormat line_of(const std::string& name, const std::string& places) {
  LineFormat line;
  line.test = &osu_named(name);
  line.engine = "ucx";
  line.places = places;
  return line;
}

/// Without the addition to the first line, which names gdrkit and the engine.
std::string head_of(const LineFormat& line) {
  std::string text = head_lines(line);
  const std::size_t begin = text.find(" (gdrkit ");
  return text.erase(begin, text.find('\n', begin) - begin);
}

TEST(OsuLines, HeadersMatchOsu) {
  EXPECT_EQ(head_of(line_of("bw", "HH")),
            "\n# OSU MPI Bandwidth Test v7.5\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n");
  EXPECT_EQ(head_of(line_of("latency", "DD")),
            "\n# OSU MPI-CUDA Latency Test v7.5\n# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)\n"
            "# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n");
  LineFormat validated = line_of("bw", "HM");
  validated.validates = true;
  EXPECT_EQ(head_of(validated),
            "\n# OSU MPI-CUDA Bandwidth Test v7.5\n# Send Buffer on HOST (H) and Receive Buffer on MANAGED (M)\n"
            "# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)        Validation\n");
  EXPECT_EQ(head_of(line_of("mbw_mr", "HH")),
            "\n# OSU MPI Multiple Bandwidth / Message Rate Test v7.5\n# [ pairs: 1 ] [ window size: 64 ]\n"
            "# Datatype: MPI_CHAR.\n# Size                  MB/s        Messages/s\n");
}

TEST(OsuLines, RowsMatchOsu) {
  OsuRow row;
  row.size_bytes = 8192;
  row.value = 16477.704;
  EXPECT_EQ(row_line(line_of("bibw", "DD"), row), "8192                16477.70\n");
  row.size_bytes = 1;
  row.value = 2.36;
  row.messages_per_second = 2356892.44;
  EXPECT_EQ(row_line(line_of("mbw_mr", "HH"), row), "1                       2.36        2356892.44\n");
  LineFormat validated = line_of("latency", "HH");
  validated.validates = true;
  EXPECT_EQ(row_line(validated, row), "1                       2.36              Pass\n");
  row.wrong_bytes = 3;
  EXPECT_EQ(row_line(validated, row), "1                       2.36              Fail\n");
}

TEST(OsuLines, AddsColumnsForPercentiles) {
  LineFormat line = line_of("latency", "HH");
  line.percentiles = {50, 99};
  OsuRow row;
  row.size_bytes = 4;
  row.value = 1.5;
  row.percentiles = {1.25, 20};
  EXPECT_EQ(head_of(line),
            "\n# OSU MPI Latency Test v7.5\n# Datatype: MPI_CHAR.\n"
            "# Size       Avg Latency(us)  P50 Tail Lat(us)  P99 Tail Lat(us)\n");
  EXPECT_EQ(row_line(line, row), "4                       1.50              1.25             20.00\n");
}

TEST(OsuLines, CollectivesHaveFullColumns) {
  LineFormat line = line_of("allreduce", "DD");
  line.is_full = true;
  line.validates = true;
  OsuRow row;
  row.size_bytes = 1;
  row.value = 53.34;
  row.least = 24.8;
  row.largest = 158.96;
  row.iterations = 1000;
  EXPECT_EQ(head_of(line),
            "\n# OSU MPI-CUDA Allreduce Latency Test v7.5\n# Datatype: MPI_CHAR.\n"
            "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations        Validation\n");
  EXPECT_EQ(row_line(line, row),
            "1                      53.34             24.80            158.96        1000              Pass\n");
  line.is_full = false;
  line.validates = false;
  EXPECT_EQ(row_line(line, row), "1                      53.34\n");
}

TEST(OsuLines, BarrierRowsHaveNoSize) {
  const LineFormat line = line_of("barrier", "HH");
  OsuRow row;
  row.value = 1.93;
  EXPECT_EQ(head_of(line), "\n# OSU MPI Barrier Latency Test v7.5\n# Avg Latency(us)\n");
  EXPECT_EQ(row_line(line, row), "             1.93\n");
}

TEST(OsuLines, WrongBytesAreCounted) {
  std::vector<OsuRow> rows(3);
  EXPECT_EQ(wrong_line(rows), "");
  rows[0].wrong_bytes = 4;
  rows[2].wrong_bytes = 3;
  EXPECT_EQ(wrong_line(rows), "# Wrong bytes: 7, in 2 of 3 sizes\n");
}

}  // namespace
}  // namespace gdrkit::transfer::osu
