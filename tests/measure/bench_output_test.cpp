// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <regex>
#include <string>

#include "cli/interface/wrapped_text.hpp"
#include "measure/bench/measure/copy_pattern.hpp"
#include "measure/bench/options.hpp"
#include "measure/bench/output/csv.hpp"
#include "measure/bench/output/summary.hpp"
#include "measure/bench/section.hpp"
#include "measure/copylat/printer.hpp"

namespace gdrkit::measure::bench {
namespace {

TEST(Csv, FieldsWithSeparatorsAreQuoted) {
  Result result;
  Series series;
  series.id = "a,\"b\"";
  series.unit = "ns";
  series.points.push_back(make_point(8, {3, 1, 2}, 4));
  result.series = {series};
  const std::string text = to_csv_text(result);
  EXPECT_EQ(
      text.substr(text.find('\n') + 1),
      "\"a,\"\"b\"\"\",,,,,,8,,ns,lower,2," + cli::format("%.9g", result.series[0].points[0].noise) + ",1,3,4,,,,,,\n");
}

TEST(Summary, PrintsSignificantDigits) {
  EXPECT_EQ(digits(0.1388), "0.139");
  EXPECT_EQ(digits(42.19), "42.19");
  EXPECT_EQ(digits(123.45), "123.5");
  EXPECT_EQ(digits(28030.4), "28030");
}

TEST(Summary, ReportsWhereTheMappingStopsBeingFastest) {
  Result result;
  for (const char* method : {"mapping", "memcpy_pinned"}) {
    Series series;
    series.id = series.method = method;
    series.group = "copies/to_device";
    series.x_name = "size_bytes";
    series.unit = "ns";
    const bool is_mapping = series.method == "mapping";
    for (const double size : {8.0, 4096.0, 1048576.0}) {
      series.points.push_back(make_point(size, {is_mapping ? size : 10000.0}, 1));
    }
    result.series.push_back(series);
  }
  EXPECT_NE(summary_text(result).find("faster than every copy by the driver up to 4 KiB"), std::string::npos);
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    longest = std::max(longest, end - at);
    at = end + 1;
  }
  return longest;
}

/// The names of a recent CPU and a large GPU, and longer ones.
void set_long_names(platform::Machine* machine) {
  machine->gpu_name = "NVIDIA GH200 480GB Grace Hopper Superchip Engineering Sample MIG 3g.48gb";
  machine->gpu_pci_address = "00000009:01:00.0";
  machine->driver_version = "driver 580.159.04 (open flavour), CUDA 13.0 of the driver";
  machine->cpu_model = "Intel(R) Xeon(R) Platinum 8480CL with a long name, of two sockets with 56 cores each";
  machine->os_release = "Linux 6.8.0-1024-nvidia-64k-lowlatency-with-a-flavour";
}
constexpr const char* long_kernel = "avx512_movdir64b_of_the_future";

TEST(Summary, LongNamesOfTheMachineFitTheColumns) {
  Result result;
  set_long_names(&result.machine);
  result.backend = "emulated";
  result.settings = {{"mapping_type", "write-combining"}, {"store_kernel", long_kernel}, {"load_kernel", long_kernel}};
  const std::string text = summary_text(result);
  EXPECT_NE(text.find(long_kernel), std::string::npos);
  EXPECT_LE(longest_line(text), cli::output_columns) << text;
}

TEST(CopylatText, LongNamesOfTheMachineFitTheColumns) {
  copylat::CopylatOptions options;
  copylat::CopylatReport report;
  set_long_names(&report.machine);
  report.names = {"emulated", long_kernel, long_kernel};
  report.mapping_type = "write-combining";
  report.raw_kind = std::string(long_kernel) + " and " + long_kernel;
  report.place.emplace();
  report.place_line = "on CPU 1";
  testing::internal::CaptureStdout();
  copylat::make_table_printer(options)->raw_begins(report);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find(long_kernel), std::string::npos);
  EXPECT_LE(longest_line(text), cli::output_columns) << text;
}

TEST(Collector, MergesPointsOfSeveralProcesses) {
  Series series;
  series.id = "a";
  Collector collector;
  collector.add(series, make_point(8, {1, 2, 3}, 4));
  collector.add(series, make_point(16, {5}, 4));
  collector.add(series, make_point(8, {9, 10, 11, 12}, 7));
  ASSERT_EQ(collector.points(), 2u);
  const Point& point = collector.series()[0].points[0];
  EXPECT_EQ(point.rounds, (std::vector<double>{1, 2, 3, 9, 10, 11, 12}));
  EXPECT_EQ(point.value, 9);
  EXPECT_EQ(point.minimum, 1);
}

TEST(Effort, DividesTheRoundsAmongProcesses) {
  Effort effort;
  for (const int rounds : {3, 20, 51}) {
    effort.rounds = rounds;
    int all = 0;
    for (int number = 0; number < usual_processes; ++number) {
      all += effort.share_of(number, usual_processes).rounds;
    }
    EXPECT_EQ(all, rounds);
  }
  EXPECT_EQ(effort.share_of(0, 3).most_singles, effort.most_singles);
  EXPECT_EQ(effort.share_of(1, 3).most_singles, 0u);
}

TEST(Pattern, EveryByteIsCheckedUpTo16MiB) {
  std::vector<std::uint8_t> bytes(5000);
  const Stretch stretch{100, bytes.size()};
  write_pattern(bytes.data(), stretch, 1);
  EXPECT_NO_THROW(check_pattern(bytes.data(), stretch, 1, "x"));
  EXPECT_THROW(check_pattern(bytes.data(), stretch, 2, "x"), cli::Failure);
  bytes[4999] ^= 1;
  EXPECT_THROW(check_pattern(bytes.data(), stretch, 1, "x"), cli::Failure);
  EXPECT_EQ(stretches_of(std::size_t{16} << 20).size(), 1u);
  const auto ends = stretches_of(std::size_t{256} << 20);
  EXPECT_EQ(ends.back().offset + ends.back().size_bytes, std::size_t{256} << 20);
}

}  // namespace
}  // namespace gdrkit::measure::bench
