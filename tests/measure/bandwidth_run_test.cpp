// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Runs the tests of `gdrkit bandwidth` on devices that fail in every step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <tuple>

#include "measure/bandwidth/bandwidth_report.hpp"
#include "tests/measure/faulty_device.hpp"

namespace gdrkit::measure::bandwidth {
namespace {

using testing::HasSubstr;

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

class BandwidthRun : public testing::Test {
 protected:
  BandwidthRun() {
    ::setenv("GDRKIT_EMULATED_DEVICES", "3", 1);
    faults_.has_gpu_code = true;
    options_.buffer_bytes = buffer_bytes;
    options_.samples = 2;
    options_.loops = 4;
    options_.chase_steps = 1000;
    user_options_.loops = options_.loops;
  }
  ~BandwidthRun() override { ::unsetenv("GDRKIT_EMULATED_DEVICES"); }

  std::unique_ptr<Gpus> open(int count) {
    std::vector<std::unique_ptr<platform::Device>> devices;
    for (int number = 0; number < count; ++number) {
      auto device = platform::open_emulated_device(number);
      EXPECT_TRUE(device.has_value()) << device.error().text();
      devices.push_back(std::make_unique<FaultyDevice>(std::move(*device), &faults_));
    }
    return std::make_unique<Gpus>(std::move(devices), cli::NumaChoice{cli::NumaChoice::Kind::keep, {}});
  }

  /// GPUs and the parts that tests on them share.
  struct Bench {
    std::unique_ptr<Gpus> gpus;
    const RunOptions& options;
    BufferPool pool{gpus.get()};
    Pattern pattern{gpus.get(), &pool};
    CellRun cells{gpus.get(), &pool, &pattern, options};
  };

  TestReport run(Bench* bench, const TestCase& test) {
    return run_test(test, bench->gpus.get(), &bench->cells, user_options_);
  }
  TestReport run(const std::string& name, int count) {
    Bench bench{open(count), options_};
    return run(&bench, *select_tests({name}, {}).front());
  }

  Faults faults_;
  RunOptions options_;
  BandwidthOptions user_options_;
};

TEST_F(BandwidthRun, EveryTestPassesWithACompleteMatrix) {
  Bench bench{open(3), options_};
  for (const TestCase& test : test_cases()) {
    const TestReport report = run(&bench, test);
    EXPECT_EQ(report.status, Status::passed) << test.name << ": " << report.reason;
    const bool is_pairs = test.family == Family::pair || test.family == Family::pair_latency;
    ASSERT_EQ(report.matrices.size(), test.family == Family::pair && test.is_bidirectional ? 3u : 1u) << test.name;
    for (const measure::Series& matrix : report.matrices) {
      EXPECT_EQ(matrix.points.size(), is_pairs ? 6u : 3u) << test.name;
      for (const measure::Point& point : matrix.points) {
        EXPECT_GT(point.value, 0) << test.name;
        EXPECT_EQ(point.rounds.size(), 2u) << test.name;
      }
    }
  }
}

struct Counted {
  const char* name;
  double buffers;  ///< whose bytes count, of the last matrix's first cell
};

class BandwidthCount : public BandwidthRun, public testing::WithParamInterface<Counted> {};

TEST_P(BandwidthCount, CountsTheBytesThatNvbandwidthCounts) {
  faults_.elapsed_ms = 2;
  const TestReport report = run(GetParam().name, 3);
  ASSERT_EQ(report.status, Status::passed) << report.reason;
  const double bytes = GetParam().buffers * static_cast<double>(buffer_bytes) * options_.loops;
  EXPECT_DOUBLE_EQ(report.matrices.back().points.front().value, bytes / 2e-3 / 1e9);
}

INSTANTIATE_TEST_SUITE_P(Tests, BandwidthCount,
                         testing::Values(Counted{"host_to_device_memcpy_ce", 1},
                                         Counted{"host_to_device_bidirectional_memcpy_ce", 1},
                                         Counted{"device_to_host_bidirectional_memcpy_sm", 0.5},
                                         Counted{"device_to_device_bidirectional_memcpy_read_ce", 2},
                                         Counted{"device_to_device_bidirectional_memcpy_write_sm", 2},
                                         Counted{"all_to_host_bidirectional_memcpy_ce", 1},
                                         Counted{"host_to_all_memcpy_sm", 1}, Counted{"all_to_one_write_ce", 2},
                                         Counted{"one_to_all_read_sm", 2}, Counted{"device_local_copy", 1}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_F(BandwidthRun, ReportsCopyAndOffsetOfWrongData) {
  faults_.is_copy_wrong = true;
  const TestReport report = run("device_to_host_memcpy_ce", 1);
  EXPECT_EQ(report.status, Status::error);
  EXPECT_THAT(report.reason, HasSubstr("from GPU 0 to the host wrote wrong data at offset 1044480 of 1048576"));
  EXPECT_EQ(run("host_to_device_bidirectional_memcpy_ce", 1).status, Status::error)
      << "the copies that run at the same time are checked, too";
  options_.is_verified = false;
  EXPECT_EQ(run("device_to_host_memcpy_ce", 1).status, Status::passed);
}

class BandwidthFault : public BandwidthRun, public testing::WithParamInterface<std::pair<const char*, int>> {};

TEST_P(BandwidthFault, ReportsTheFailedStepWithoutHanging) {
  Bench bench{open(2), options_};
  std::tie(faults_.failing, faults_.calls_before_failure) = GetParam();
  const char* name = std::string(faults_.failing) == "copy_device_to_device_async"
                         ? "device_to_device_memcpy_read_ce"
                         : "all_to_host_bidirectional_memcpy_ce";
  const TestCase& test = *select_tests({name}, {}).front();
  const TestReport report = run(&bench, test);
  EXPECT_EQ(report.status, Status::error);
  EXPECT_GE(faults_.failures, 1);
  EXPECT_THAT(report.reason, HasSubstr("on purpose"));
  EXPECT_TRUE(report.matrices.empty());
  EXPECT_EQ(faults_.streams, 0) << "their remaining work would run in the buffers of later tests";
  faults_.failing = "";
  EXPECT_EQ(run(&bench, test).status, Status::passed) << "later tests must not be affected";
}

INSTANTIATE_TEST_SUITE_P(
    Steps, BandwidthFault,
    testing::Values(std::pair{"make_current", 0}, std::pair{"make_current", 25}, std::pair{"create_stream", 1},
                    std::pair{"create_event", 3}, std::pair{"copy_to_device", 0}, std::pair{"fill", 0},
                    std::pair{"copy_to_device_async", 9}, std::pair{"copy_to_host_async", 0},
                    std::pair{"copy_device_to_device_async", 5}, std::pair{"record", 2}, std::pair{"wait", 0},
                    std::pair{"launch", 1}, std::pair{"synchronize", 1}, std::pair{"elapsed_ms", 0},
                    std::pair{"copy_to_host", 0}, std::pair{"allocate", 2}),
    [](const auto& one) { return std::string(one.param.first) + "_after_" + std::to_string(one.param.second); });

/// The seconds that a cell's value represents.
double seconds(const measure::Point& point, double buffers, int loops) {
  return buffers * static_cast<double>(buffer_bytes) * loops / point.value / 1e9;
}

TEST_F(BandwidthRun, TotalTimeIncludesTheLastCopy) {
  for (const int slow : {1, 2}) {
    faults_.slow_copier = slow;
    const TestReport report = run("all_to_one_write_ce", 3);
    ASSERT_EQ(report.status, Status::passed) << report.reason;
    const measure::Point* point = measure::find_point(report.matrices[0], 0, 0);
    EXPECT_GE(seconds(*point, 2, options_.loops), 0.02 * options_.loops) << "GPU " << slow << " was not waited for";
  }
}

TEST_F(BandwidthRun, ExcludesTheTimeToEnqueue) {
  faults_.is_slow_to_take = true;
  const TestReport report = run("host_to_device_memcpy_ce", 1);
  ASSERT_EQ(report.status, Status::passed) << report.reason;
  EXPECT_LT(seconds(report.matrices[0].points[0], 1, options_.loops), 0.02 * options_.loops)
      << "the copies were measured while they were being enqueued";
}

TEST_F(BandwidthRun, FreesIdleBuffersIfMemoryIsShort) {
  const auto gpus = open(1);
  BufferPool pool(gpus.get());
  const std::size_t first = pool.take(0, 0, 4096);
  pool.release_all();
  faults_.failing = "allocate";
  faults_.is_failing_once = true;
  EXPECT_EQ(pool.take(0, 0, 8192), first) << "the idle buffer was kept";
  EXPECT_EQ(faults_.failures, 1);
  EXPECT_EQ(pool[first].size_bytes, 8192u);
}

TEST_F(BandwidthRun, GateTimeoutInvalidatesTheResult) {
  for (const bool has_gpu_code : {true, false}) {
    faults_.has_gpu_code = has_gpu_code;
    faults_.is_slow = false;
    options_.gate_limit_ns = 1'000'000;
    Bench bench{open(1), options_};
    EXPECT_EQ(bench.gpus->why_no_kernels().empty(), has_gpu_code);
    faults_.is_slow = true;
    const TestReport report = run(&bench, test_cases().front());
    EXPECT_EQ(report.status, Status::error);
    EXPECT_THAT(report.reason, HasSubstr("not enqueued in time"));
  }
}

TEST_F(BandwidthRun, RunsOnlyCopyEngineTestsWithoutGpuKernels) {
  faults_.has_gpu_code = false;
  EXPECT_EQ(run("all_to_host_bidirectional_memcpy_ce", 2).status, Status::passed);
  const TestReport report = run("host_to_device_memcpy_sm", 2);
  EXPECT_EQ(report.status, Status::waived);
  EXPECT_FALSE(report.reason.empty());
}

TEST_F(BandwidthRun, TestsOfPairsAreWaivedOnOneGpu) {
  for (const char* name : {"device_to_device_memcpy_read_ce", "all_to_one_write_sm", "device_to_device_latency_sm"}) {
    const TestReport report = run(name, 1);
    EXPECT_EQ(report.status, Status::waived);
    EXPECT_EQ(report.reason, "it requires two GPUs, but this machine has 1");
  }
}

TEST_F(BandwidthRun, WaivesTestsAndListsPairsWithoutPeerAccess) {
  faults_.reaches = [](int, int) { return false; };
  const TestReport report = run("one_to_all_write_ce", 2);
  EXPECT_EQ(report.status, Status::waived);
  EXPECT_THAT(report.reason, HasSubstr("GPU 0 -> GPU 1, GPU 1 -> GPU 0"));
  EXPECT_EQ(run("host_to_all_memcpy_ce", 2).status, Status::passed);
}

TEST_F(BandwidthRun, LeavesMatrixCellsWithoutPeerAccessEmpty) {
  faults_.reaches = [](int runner, int other) { return runner != 2 && other != 2; };
  const TestReport report = run("device_to_device_memcpy_write_ce", 3);
  EXPECT_EQ(report.status, Status::passed) << report.reason;
  EXPECT_NE(measure::find_point(report.matrices[0], 0, 1), nullptr);
  EXPECT_EQ(measure::find_point(report.matrices[0], 0, 2), nullptr);
  EXPECT_THAT(report.note, HasSubstr("GPU 2 -> GPU 0"));
  testing::internal::CaptureStdout();
  print_test_end(report, user_options_);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("N/A"));
}

TEST_F(BandwidthRun, TreatsDeniedPeerAccessAsMissing) {
  faults_.failing = "enable_peer_access";
  EXPECT_EQ(run("device_to_device_memcpy_write_ce", 2).status, Status::waived);
}

TEST_F(BandwidthRun, MeanAndMedianAreDistinguished) {
  const TestCase& test = test_cases().front();
  const std::vector<CellValues> cells = {{0, 0, {{1, 2, 9}}}};
  EXPECT_DOUBLE_EQ(make_matrices(test, cells, user_options_, 1).front().points.front().value, 2);
  user_options_.uses_mean = true;
  EXPECT_DOUBLE_EQ(make_matrices(test, cells, user_options_, 1).front().points.front().value, 4);
}

}  // namespace
}  // namespace gdrkit::measure::bandwidth
