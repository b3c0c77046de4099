// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/bench_report.hpp"

#include <gtest/gtest.h>

namespace gdrkit::tools::pgas {
namespace {

measure::Series series(const std::vector<std::pair<double, double>>& points) {
  measure::Series made;
  for (const auto& [x, value] : points) made.points.push_back(measure::make_point(x, std::vector<double>{value}, 1));
  return made;
}

CaseResult put() {
  CaseResult made;
  made.name = "put_host_quiet";
  made.title = "put from host memory, quiet";
  made.has_size = true;
  made.own = series({{8, 1.5}, {1024, 2}, {4096, 4}});
  return made;
}

TEST(ShmemBenchReport, ShowsThePeerAndTheRatioWhereBothWereMeasured) {
  CaseResult result = put();
  result.peer = series({{8, 6}, {4096, 2}});
  const std::string text = table_text(result, "nvshmem 3.4.5");
  EXPECT_EQ(text,
            "#shmem_put_host_quiet: put from host memory, quiet\n"
            "size(B)      scope        latency (us)          p99 nvshmem 3.4.5 (us)      ratio\n"
            "8            host             1.500000            -           6.000000      0.250\n"
            "1024         host             2.000000            -\n"
            "4096         host             4.000000            -           2.000000      2.000\n"
            "\n");
}

TEST(ShmemBenchReport, HasNoRatiosWithoutAPeerOrOfNothing) {
  CaseResult result = put();
  EXPECT_TRUE(result.ratios().empty());
  result.peer = series({{8, 0}});
  EXPECT_TRUE(result.ratios().empty());
}

TEST(ShmemBenchCase, SizesCoverTheRangeAndEndAtIt) {
  const SizeRange range{8, 100, std::size_t{16} << 20};
  for (const Case& one : all_cases()) {
    const std::vector<std::size_t> sizes = sizes_of(one, range);
    ASSERT_FALSE(sizes.empty()) << one.name;
    if (one.sizes == Sizes::sweep) {
      EXPECT_EQ(sizes, (std::vector<std::size_t>{8, 16, 32, 64})) << one.name;
    } else if (one.sizes == Sizes::few) {
      EXPECT_EQ(sizes, (std::vector<std::size_t>{8, 64})) << one.name;
    } else if (one.is_bandwidth()) {
      EXPECT_EQ(sizes, (std::vector<std::size_t>{1u << 20, 4u << 20, 16u << 20})) << one.name;
      EXPECT_TRUE(sizes_of(one, {8, 8, 0}).empty()) << one.name;
    }
  }
}

TEST(ShmemBenchCase, SizesEndWhereASizeCannotGrow) {
  const Case sweep{"", "", "", "", Who::one_sided, Sizes::sweep};
  const std::vector<std::size_t> sizes = sizes_of(sweep, {std::size_t{1} << 62, SIZE_MAX, 0});
  EXPECT_EQ(sizes, (std::vector<std::size_t>{std::size_t{1} << 62, std::size_t{1} << 63}));
}

}  // namespace
}  // namespace gdrkit::tools::pgas
