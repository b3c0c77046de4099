// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bandwidth/plan.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::measure::bandwidth {
namespace {

using Names = std::vector<std::string>;

/// The list of nvbandwidth 0.8.
const Names nvbandwidth_names = {"host_to_device_memcpy_ce",
                                 "device_to_host_memcpy_ce",
                                 "host_to_device_bidirectional_memcpy_ce",
                                 "device_to_host_bidirectional_memcpy_ce",
                                 "device_to_device_memcpy_read_ce",
                                 "device_to_device_memcpy_write_ce",
                                 "device_to_device_bidirectional_memcpy_read_ce",
                                 "device_to_device_bidirectional_memcpy_write_ce",
                                 "all_to_host_memcpy_ce",
                                 "all_to_host_bidirectional_memcpy_ce",
                                 "host_to_all_memcpy_ce",
                                 "host_to_all_bidirectional_memcpy_ce",
                                 "all_to_one_write_ce",
                                 "all_to_one_read_ce",
                                 "one_to_all_write_ce",
                                 "one_to_all_read_ce",
                                 "host_to_device_memcpy_sm",
                                 "device_to_host_memcpy_sm",
                                 "host_to_device_bidirectional_memcpy_sm",
                                 "device_to_host_bidirectional_memcpy_sm",
                                 "device_to_device_memcpy_read_sm",
                                 "device_to_device_memcpy_write_sm",
                                 "device_to_device_bidirectional_memcpy_read_sm",
                                 "device_to_device_bidirectional_memcpy_write_sm",
                                 "all_to_host_memcpy_sm",
                                 "all_to_host_bidirectional_memcpy_sm",
                                 "host_to_all_memcpy_sm",
                                 "host_to_all_bidirectional_memcpy_sm",
                                 "all_to_one_write_sm",
                                 "all_to_one_read_sm",
                                 "one_to_all_write_sm",
                                 "one_to_all_read_sm",
                                 "host_device_latency_sm",
                                 "device_to_device_latency_sm",
                                 "device_local_copy"};

const TestCase& test_named(const std::string& name) { return *select_tests({name}, {}).front(); }

/// "h>0@0x1": from the host to GPU 0, by GPU 0, the whole buffer.
std::string text(const CellPlan& cell) {
  const auto place = [](int number) { return number == host ? std::string("h") : std::to_string(number); };
  std::string all;
  for (const JobPlan& job : cell.jobs) {
    all += (all.empty() ? "" : " ") + place(job.source) + ">" + place(job.target) + "@" + std::to_string(job.runner) +
           "x" + cli::format("%g", job.size_share);
  }
  return all;
}

TEST(BandwidthTests, MatchNvbandwidthsListAndOrder) {
  Names names;
  for (const TestCase& test : test_cases()) names.emplace_back(test.name);
  EXPECT_EQ(names, nvbandwidth_names);
}

TEST(BandwidthTests, AreChosenByNameIndexAndPrefix) {
  EXPECT_EQ(select_tests({}, {}).size(), test_cases().size());
  const auto chosen = select_tests({"34", "host_to_device_memcpy_sm", "0"}, {});
  ASSERT_EQ(chosen.size(), 3u);
  EXPECT_STREQ(chosen[0]->name, "device_local_copy");
  EXPECT_STREQ(chosen[1]->name, "host_to_device_memcpy_sm");
  EXPECT_STREQ(chosen[2]->name, "host_to_device_memcpy_ce");
  EXPECT_EQ(select_tests({}, {"all_to_one", "one_to_all"}).size(), 8u);
  EXPECT_EQ(select_tests({"0", "host_to_device_memcpy_ce", "0"}, {}).size(), 1u);
}

TEST(BandwidthTests, RejectsUnknownTestsAndMentionsTheList) {
  const std::pair<Names, Names> wrong[] = {
      {{"35"}, {}}, {{"-1"}, {}}, {{"nothing"}, {}}, {{""}, {}}, {{"host_to_device"}, {}}, {{}, {"nothing"}}};
  for (const auto& [names, prefixes] : wrong) {
    try {
      (void)select_tests(names, prefixes);
      FAIL() << "taken";
    } catch (const cli::Failure& failure) {
      EXPECT_EQ(failure.code(), cli::ExitCode::usage);
      EXPECT_NE(std::string(failure.what()).find("--list"), std::string::npos) << failure.what();
    }
  }
  EXPECT_THROW((void)select_tests({"0"}, {"host"}), cli::Failure);
}

struct Expected {
  const char* name;
  const char* first_cell;  ///< of three GPUs
  Count count;
  std::size_t cells;
};

class BandwidthPlan : public testing::TestWithParam<Expected> {};

TEST_P(BandwidthPlan, CopiesWhatNvbandwidthCopies) {
  const Expected& expected = GetParam();
  const auto cells = plan_all_cells(test_named(expected.name), 3);
  ASSERT_EQ(cells.size(), expected.cells);
  EXPECT_EQ(text(cells.front()), expected.first_cell);
  EXPECT_EQ(cells.front().count, expected.count);
}

INSTANTIATE_TEST_SUITE_P(
    Tests, BandwidthPlan,
    testing::Values(Expected{"host_to_device_memcpy_ce", "h>0@0x1", Count::first, 3},
                    Expected{"device_to_host_memcpy_sm", "0>h@0x1", Count::first, 3},
                    Expected{"host_to_device_bidirectional_memcpy_ce", "h>0@0x1 0>h@0x2", Count::first, 3},
                    Expected{"device_to_host_bidirectional_memcpy_ce", "0>h@0x1 h>0@0x2", Count::first, 3},
                    Expected{"host_to_device_bidirectional_memcpy_sm", "h>0@0x0.5 0>h@0x0.5", Count::first, 3},
                    Expected{"device_to_device_memcpy_read_ce", "1>0@0x1", Count::first, 6},
                    Expected{"device_to_device_memcpy_write_sm", "0>1@0x1", Count::first, 6},
                    Expected{"device_to_device_bidirectional_memcpy_read_ce", "1>0@0x1 0>1@1x1", Count::each, 6},
                    Expected{"device_to_device_bidirectional_memcpy_write_ce", "1>0@1x1 0>1@0x1", Count::each, 6},
                    Expected{"all_to_host_memcpy_ce", "0>h@0x1 1>h@1x2 2>h@2x2", Count::first, 3},
                    Expected{"host_to_all_memcpy_sm", "h>0@0x1 h>1@1x2 h>2@2x2", Count::first, 3},
                    Expected{"all_to_host_bidirectional_memcpy_ce", "0>h@0x1 h>0@0x2 1>h@1x2 h>1@1x2 2>h@2x2 h>2@2x2",
                             Count::first, 3},
                    Expected{"host_to_all_bidirectional_memcpy_sm",
                             "h>0@0x0.5 0>h@0x0.5 h>1@1x0.5 1>h@1x0.5 h>2@2x0.5 2>h@2x0.5", Count::first, 3},
                    Expected{"all_to_one_write_ce", "1>0@1x1 2>0@2x1", Count::total, 3},
                    Expected{"all_to_one_read_ce", "0>1@1x1 0>2@2x1", Count::total, 3},
                    Expected{"one_to_all_write_sm", "0>1@0x1 0>2@0x1", Count::total, 3},
                    Expected{"one_to_all_read_ce", "1>0@0x1 2>0@0x1", Count::total, 3},
                    Expected{"host_device_latency_sm", "h>0@0x1", Count::first, 3},
                    Expected{"device_to_device_latency_sm", "1>0@0x1", Count::first, 6},
                    Expected{"device_local_copy", "0>0@0x1", Count::first, 3}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(BandwidthPlan, SourceOrTargetRunsEachCopy) {
  for (const TestCase& test : test_cases()) {
    for (const int devices : {1, 2, 8}) {
      for (const CellPlan& cell : plan_all_cells(test, devices)) {
        double share = 0;
        for (const JobPlan& job : cell.jobs) {
          EXPECT_TRUE(job.runner == job.source || job.runner == job.target) << test.name;
          EXPECT_TRUE(job.source != job.target || test.family == Family::local) << test.name;
          const int expected = test.flow == Flow::read    ? job.target
                               : test.flow == Flow::write ? job.source
                                                          : job.runner;
          EXPECT_EQ(job.runner, expected) << test.name;
          if (job.runner == 0) share += job.gpu_share;
        }
        // GPU kernels that request more than available would run one after the other.
        EXPECT_LE(test.mover == Mover::gpu_kernel ? share : 0, 1 + 1e-9) << test.name;
      }
    }
  }
}

TEST(BandwidthPlan, LeavesOutPairsWithoutPeerAccess) {
  const auto one_way = [](int runner, int other) { return runner == 0 || other == 0; };
  EXPECT_EQ(plan_cells(test_named("device_to_device_memcpy_read_ce"), 3, one_way).size(), 4u);
  const auto totals = plan_cells(test_named("all_to_one_write_ce"), 3, one_way);
  ASSERT_EQ(totals.size(), 3u);
  EXPECT_EQ(text(totals[1]), "0>1@0x1") << "GPU 2 cannot write to GPU 1: the total lacks it";
  const auto nobody = [](int, int) { return false; };
  EXPECT_TRUE(plan_cells(test_named("one_to_all_read_ce"), 3, nobody).empty());
  EXPECT_EQ(plan_cells(test_named("host_to_all_memcpy_ce"), 3, nobody).size(), 3u) << "hosts need no peer access";
  EXPECT_EQ(plan_cells(test_named("device_local_copy"), 3, nobody).size(), 3u);
  const auto only_read_by_0 = [](int runner, int) { return runner == 0; };
  EXPECT_TRUE(plan_cells(test_named("device_to_device_bidirectional_memcpy_read_ce"), 2, only_read_by_0).empty())
      << "half of a bidirectional copy is none";
}

TEST(BandwidthPlan, TitlesShowTheCopyDirection) {
  EXPECT_EQ(test_named("host_to_device_memcpy_ce").title(), "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)");
  EXPECT_EQ(test_named("device_to_host_memcpy_sm").title(), "memcpy SM CPU(row) <- GPU(column) bandwidth (GB/s)");
  EXPECT_EQ(test_named("device_to_device_memcpy_read_ce").title(),
            "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)");
  EXPECT_EQ(test_named("all_to_one_read_ce").title(), "memcpy CE GPU(column) -> all others bandwidth (GB/s)");
  EXPECT_EQ(test_named("all_to_host_bidirectional_memcpy_ce").title(),
            "memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)");
}

}  // namespace
}  // namespace gdrkit::measure::bandwidth
