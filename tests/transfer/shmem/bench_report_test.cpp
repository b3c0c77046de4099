// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/bench_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "platform/gpu_code/shmem_params.hpp"
#include "transfer/shmem/bench/device_batch.hpp"

namespace gdrkit::transfer::shmem {
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
  made.scope = "host";
  made.has_size = true;
  made.own = series({{8, 1.5}, {1024, 2}, {4096, 4}});
  return made;
}

TEST(ShmemBenchReport, ShowsPeerAndRatioIfBothWereMeasured) {
  CaseResult result = put();
  result.peers = {series({{8, 6}, {4096, 2}})};
  result.peers[0].method = "nvshmem";
  const std::string text = table_text(result, {{"nvshmem", "nvshmem 3.4.5"}});
  EXPECT_EQ(text,
            "#shmem_put_host_quiet: put from host memory, quiet\n"
            "size(B)      scope        latency (us)          p99 nvshmem 3.4.5 (us)      ratio\n"
            "8            host             1.500000            -           6.000000      0.250\n"
            "1024         host             2.000000            -                  -          -\n"
            "4096         host             4.000000            -           2.000000      2.000\n"
            "\n");
}

TEST(ShmemBenchReport, OmitsRatiosWithoutAReference) {
  EXPECT_TRUE(put().ratios(series({{8, 0}})).empty());
  EXPECT_TRUE(put().ratios(series({{16, 1}})).empty());
}

TEST(ShmemBenchReport, HasAColumnForEachPeer) {
  CaseResult result = put();
  result.quantity = Quantity::rate;
  result.scope = "grid";
  result.own = series({{8, 3}});
  result.peers = {series({{8, 6}}), series({{8, 1}})};
  result.peers[0].method = "one";
  result.peers[1].method = "two";
  EXPECT_EQ(table_text(result, {{"one", "one 1"}, {"two", "two 2"}}),
            "#shmem_put_host_quiet: put from host memory, quiet\n"
            "size(B)      scope          rate (M/s)          p99        one 1 (M/s)      ratio        two 2 (M/s)      "
            "ratio\n"
            "8            grid             3.000000            -           6.000000      0.500           1.000000      "
            "3.000\n"
            "\n");
}

const Case& case_of(const char* name) {
  for (const Case& one : all_cases()) {
    if (std::strcmp(one.name, name) == 0) return one;
  }
  ADD_FAILURE() << "there is no case " << name;
  return all_cases().front();
}

TEST(ShmemBenchSeries, ValuesAreInTheUnitOfTheCase) {
  measure::Measured measured;
  measured.round_ns = {2000};
  EXPECT_EQ(case_point(case_of("put_host"), 4096, measured, {}).value, 2);
  EXPECT_EQ(case_point(case_of("device_put_bandwidth"), 4096, measured, {}).value, 2.048);
  // 32768 threads, an operation each.
  EXPECT_EQ(case_point(case_of("device_p_rate"), 8, measured, {}).value, 32768 / 2.0);
  EXPECT_EQ(case_series(case_of("device_p_rate"), "gdrkit", 2).unit, "M/s");
}

TEST(ShmemBenchDevice, GridDividesTheBytes) {
  Station station;
  for (const std::size_t size : {std::size_t{65536}, std::size_t{256} << 20, std::size_t{64}}) {
    station.size_bytes = size;
    const DeviceBatch batch = device_batch(*case_of("device_get_bandwidth").device, 5, 0, &station);
    EXPECT_EQ(batch.parameters.size_bytes * batch.shape.blocks, size);
    EXPECT_EQ(batch.parameters.size_bytes % 16, 0U);
    EXPECT_EQ(batch.parameters.rounds, 5U);
  }
}

TEST(ShmemBenchDevice, EachRoundUsesAnotherOffset) {
  Station station;
  station.object_bytes = std::size_t{4} << 20;
  const auto path = [&](const char* name, std::size_t size) {
    station.size_bytes = size;
    const platform::ShmemParameters made = device_batch(*case_of(name).device, 5, 0, &station).parameters;
    return std::pair(made.step_bytes, made.path_bytes);
  };
  EXPECT_EQ(path("device_g", 8), std::pair(std::uint64_t{128}, std::uint64_t{4} << 20)) << "a line each";
  EXPECT_EQ(path("device_get_warp", 4096), std::pair(std::uint64_t{4096}, std::uint64_t{4} << 20));
  EXPECT_EQ(path("device_get_bandwidth", 65536), std::pair(std::uint64_t{65536}, std::uint64_t{4} << 20)) << "of all";
  EXPECT_EQ(path("device_put_rate", 64), std::pair(std::uint64_t{2} << 20, std::uint64_t{4} << 20)) << "32768 threads";
  EXPECT_EQ(path("device_get_bandwidth", std::size_t{4} << 20), std::pair(std::uint64_t{0}, std::uint64_t{0}));
  EXPECT_EQ(path("device_ping_pong_warp", 8), std::pair(std::uint64_t{0}, std::uint64_t{0}));
  station.object_bytes = std::size_t{256} << 20;
  EXPECT_EQ(path("device_put_bandwidth", std::size_t{16} << 20),
            std::pair(std::uint64_t{16} << 20, std::uint64_t{64} << 20));
}

TEST(ShmemBenchDevice, BatchesRotateOverLines) {
  Station station;
  const DeviceWork& work = *case_of("device_atomic_fetch_add").device;
  const std::uint64_t first = device_batch(work, 1, 0, &station).parameters.target;
  EXPECT_EQ(device_batch(work, 1, 0, &station).parameters.target, first + 128);
  for (int batch = 2; batch < 64; ++batch) (void)device_batch(work, 1, 0, &station);
  EXPECT_EQ(device_batch(work, 1, 0, &station).parameters.target, first);
}

TEST(ShmemBenchDevice, CountsRoundsOverAllBatches) {
  Station station;
  station.pe = 1;
  const DeviceWork& work = *case_of("device_signal_ping_pong").device;
  EXPECT_EQ(device_batch(work, 10, 0, &station).parameters.rounds_before, 0U);
  EXPECT_EQ(device_batch(work, 1, 0, &station).parameters.rounds_before, 11U);  // with the one that is not timed
  EXPECT_EQ(station.device_turn, 13U);
  EXPECT_EQ(device_batch(work, 1, 0, &station).parameters.peer, 0U);
}

TEST(ShmemBenchCase, SizesCoverTheRangeAndEndAtIt) {
  const SizeRange range{8, 100, std::size_t{16} << 20};
  for (const Case& one : all_cases()) {
    const std::vector<std::size_t> sizes = sizes_of(one, range);
    ASSERT_FALSE(sizes.empty()) << one.name;
    if (one.is_collective()) {
      EXPECT_EQ(sizes.back(), std::size_t{8} << 20) << one.name;
    } else if (one.sizes == Sizes::sweep) {
      EXPECT_EQ(sizes, (std::vector<std::size_t>{8, 16, 32, 64})) << one.name;
    } else if (one.sizes == Sizes::few) {
      EXPECT_EQ(sizes, (std::vector<std::size_t>{8, 64})) << one.name;
    } else if (one.sizes == Sizes::bulk || one.sizes == Sizes::wide) {
      const std::vector<std::size_t> bulk = {1u << 20, 4u << 20, 16u << 20};
      EXPECT_TRUE(std::includes(sizes.begin(), sizes.end(), bulk.begin(), bulk.end())) << one.name;
      EXPECT_EQ(sizes.size(), one.sizes == Sizes::bulk ? 3U : 5U) << one.name;
      EXPECT_TRUE(sizes_of(one, {8, 8, 0}).empty()) << one.name;
    }
  }
}

TEST(ShmemBenchCase, CollectiveSizesFitAllPartsIntoOneObject) {
  const Case& reduce = case_of("stream_reduce");
  EXPECT_EQ(sizes_of(reduce, {8, 1000, 0, 3}), (std::vector<std::size_t>{8, 64, 328}));
  EXPECT_EQ(sizes_of(reduce, {1, 1, 512, 1}), (std::vector<std::size_t>{8, 64, 512}));
  EXPECT_EQ(sizes_of(reduce, SizeRange()).back(), std::size_t{64} << 20);
  EXPECT_TRUE(sizes_of(reduce, {8, 8, 0, 2}).empty());
  EXPECT_EQ(sizes_of(case_of("device_reduce_block"), {8, 64, 4096, 2}), (std::vector<std::size_t>{8, 64}));
}

TEST(ShmemBenchCase, SizesStopBeforeOverflow) {
  const Case sweep{"", "", "", "", "", "", Who::one_sided, Sizes::sweep};
  const std::vector<std::size_t> sizes = sizes_of(sweep, {std::size_t{1} << 62, SIZE_MAX, 0});
  EXPECT_EQ(sizes, (std::vector<std::size_t>{std::size_t{1} << 62, std::size_t{1} << 63}));
}

TEST(ShmemBenchCase, HalfOfNvshmemsScratchHoldsThePartsOfAllPes) {
  for (const Case& one : all_cases()) {
    SizeRange range;
    const bool needs_it = std::strcmp(one.name, "device_reducescatter_block") == 0;
    EXPECT_EQ(nvshmem_scratch_bytes(one, range), needs_it ? std::size_t{4} << 20 : 0) << one.name;
    range.n_pes = 8;
    EXPECT_EQ(nvshmem_scratch_bytes(one, range), needs_it ? std::size_t{16} << 20 : 0) << one.name;
    range.n_pes = 2;
    range.largest_bytes = 128 << 10;  // what its own choice has room for
    EXPECT_EQ(nvshmem_scratch_bytes(one, range), 0U) << one.name;
  }
}

}  // namespace
}  // namespace gdrkit::transfer::shmem
