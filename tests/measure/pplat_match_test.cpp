// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PingPongMatch if the other side does not reply, or sends other data; and the histogram.
#include "measure/pplat/match.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "measure/pplat/pplat.hpp"
#include "measure/tool_parts/histogram.hpp"

namespace gdrkit::measure::pplat {
namespace {

class PplatMatch : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("GDRKIT_BACKEND", "emulated", 1);
    auto opened = platform::open_emulated_device(0);
    ASSERT_TRUE(opened) << opened.error().text();
    device_ = std::move(*opened);
    auto loaded = platform::GpuKernels::load<platform::GpuKernel::ping_pong>(*device_);
    ASSERT_TRUE(loaded) << loaded.error().text();
    kernels_ = std::make_unique<platform::GpuKernels>(std::move(*loaded));
    request_.limit_ns = 20'000'000'000;
    request_.data_bytes = 128;
    memory_ = std::make_unique<AlignedAllocation>(device_.get(), platform::AllocationKind::cuda_malloc,
                                                  request_.device_bytes());
    buffer_ = std::make_unique<MappedBuffer>(*memory_, GDR_MAP_FLAG_DEFAULT);
  }
  [[nodiscard]] std::unique_ptr<PingPongMatch> match() {
    return std::make_unique<PingPongMatch>(device_.get(), kernels_.get(), *memory_, *buffer_, request_);
  }

  std::unique_ptr<platform::Device> device_;
  std::unique_ptr<platform::GpuKernels> kernels_;
  std::unique_ptr<AlignedAllocation> memory_;
  std::unique_ptr<MappedBuffer> buffer_;
  MatchRequest request_;
  const Clock clock_;
};

TEST_F(PplatMatch, CountsEveryRoundExceptTheWarmUp) {
  const auto played = match();
  for (const Way way : {Way::mapping, Way::raw, Way::mapping}) {
    std::vector<double> singles = {1, 2};
    const double middle = played->play(way, 7, 31, clock_, &singles);
    ASSERT_EQ(singles.size(), 33U) << way_name(way);
    EXPECT_GT(middle, 2);
    EXPECT_EQ(singles[1], 2) << "what was there stays";
    EXPECT_GT(played->play(way, 7, 31, clock_, nullptr), 2) << "in batches only";
  }
}

TEST_F(PplatMatch, TimesOutIfTheGpuMissesItsTurn) {
  request_.limit_ns = 20'000'000;
  auto played = match();
  const auto stall = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(1000)); };
  ASSERT_TRUE(device_->launch_host_function(played->stream(), stall, nullptr));
  std::vector<double> singles;
  try {
    (void)played->play(Way::mapping, 0, 5, clock_, &singles);
    FAIL() << "it replied";
  } catch (const NoReply& failure) {
    EXPECT_TRUE(failure.is_gpu_kernel_there());
    EXPECT_EQ(failure.code(), cli::ExitCode::failed);
    EXPECT_EQ(std::string(failure.what()),
              "the GPU did not reply in round 1 within 0.02 s: the GPU kernel is still running");
  }
  EXPECT_TRUE(singles.empty());
  // The stopped GPU kernel has left the stream, and the next match works like the first.
  request_.limit_ns = 20'000'000'000;
  played = match();
  (void)played->play(Way::mapping, 0, 5, clock_, &singles);
  EXPECT_EQ(singles.size(), 5U);
}

TEST_F(PplatMatch, ReportsDataThatDidNotArrive) {
  // Flags in host memory arrive; the data goes to another buffer than the one that the GPU kernel reads.
  request_.is_gpu_flag_in_host = true;
  const AlignedAllocation other(device_.get(), platform::AllocationKind::cuda_malloc, request_.device_bytes());
  for (const bool is_gpu_first : {false, true}) {
    request_.is_gpu_first = is_gpu_first;
    PingPongMatch played(device_.get(), kernels_.get(), other, *buffer_, request_);
    std::vector<double> singles;
    const std::string wrong = is_gpu_first ? "160 of 160 words" : "320 of 320 words";
    EXPECT_THAT([&] { (void)played.play(Way::mapping, 0, 5, clock_, &singles); },
                testing::ThrowsMessage<cli::Failure>(testing::StartsWith("the data are wrong: " + wrong)));
  }
}

TEST_F(PplatMatch, DestructionDuringAMatchEndsTheGpuKernel) {
  request_.is_gpu_first = true;
  request_.data_bytes = 0;
  auto played = match();
  const platform::Stream stream = played->stream();
  request_.limit_ns = 1;
  played.reset();
  EXPECT_FALSE(device_->is_finished(stream)) << "the stream was destroyed with it";
}

TEST_F(PplatMatch, AlternatesRoundsAndRecordsEveryIteration) {
  const auto played = play_rounds(match().get(), {Way::mapping, Way::raw}, 47, 0, true, clock_);
  ASSERT_EQ(played.ways.size(), 2U);
  EXPECT_FALSE(played.is_cut_short);
  for (const Measured& way : played.ways) {
    EXPECT_EQ(way.single_ns.size(), 47U) << way.name;
    EXPECT_EQ(way.round_ns.size(), most_match_rounds);
    EXPECT_EQ(way.operations_per_round, 2U);
  }
  EXPECT_EQ(played.ways[1].name, "raw");
}

TEST_F(PplatMatch, AnExhaustedBudgetKeepsTheMinimumRounds) {
  const auto played = play_rounds(match().get(), {Way::mapping}, 200, 1, true, clock_);
  EXPECT_TRUE(played.is_cut_short);
  EXPECT_EQ(played.ways[0].round_ns.size(), fewest_match_rounds);
  EXPECT_EQ(played.ways[0].single_ns.size(), 30U);
  EXPECT_FALSE(play_rounds(match().get(), {Way::mapping}, 2, 1, true, clock_).is_cut_short) << "nothing was left out";
}

TEST(PplatReport, CountsOnlyRatiosAboveTheLimit) {
  PplatReport report;
  EXPECT_TRUE(report.is_within_limit()) << "nothing to compare";
  report.ways.resize(2);
  report.ways[0].round_ns = {104, 105, 106};
  report.ways[1].round_ns = {99, 100, 101};
  EXPECT_DOUBLE_EQ(report.ratio_to_raw(), 1.05);
  EXPECT_TRUE(report.is_within_limit());
  report.ways[0].round_ns = {104, 105.1, 106};
  EXPECT_FALSE(report.is_within_limit());
}

TEST(PplatReport, ReportsATimeoutLikeGdrcopy) {
  for (const bool is_there : {true, false}) {
    ::testing::internal::CaptureStderr();
    print_gdrcopy_timeout(NoReply("the GPU did not reply", is_there));
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), std::string("ERROR: TIMEOUT!!!\ncuStreamQuery(0) returned ") +
                                                            (is_there ? "CUDA_ERROR_NOT_READY\n" : "CUDA_SUCCESS\n"));
  }
}

TEST(Histogram, CountsEachValueInRangeOnce) {
  const auto bins = make_histogram({1, 1.5, 2, 10.9, 11, 12, 0.5}, 1, 11, 10);
  ASSERT_EQ(bins.size(), 10U);
  EXPECT_EQ(bins[0].count, 2U) << "1 and 1.5";
  EXPECT_EQ(bins[1].count, 1U) << "2 begins the second bin";
  EXPECT_EQ(bins[9].count, 2U) << "10.9, and the largest, which no bin follows";
  EXPECT_EQ(bins[0].from, 1);
  EXPECT_EQ(bins[9].to, 11);
  EXPECT_EQ(bins[4].to, bins[5].from);
}

TEST(Histogram, SupportsIdenticalValues) {
  const auto bins = make_histogram({3, 3, 3}, 3, 3, 10);
  EXPECT_EQ(bins[0].count, 3U);
  EXPECT_TRUE(make_histogram({}, 0, 0, 0).empty());
}

}  // namespace
}  // namespace gdrkit::measure::pplat
