// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collectives that are rejected, and those that do not complete.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "collective_side.hpp"
#include "platform/gpu_code/collective_params.hpp"

namespace gdrkit::shmem_impl::collective {
namespace {

using namespace std::chrono_literals;
using tests::CollectiveSide;
using tests::failed;
using tests::little_scratch;
using tests::run_shmem_job;
using tests::succeeded;
using tests::Way;
using tests::world;

CollectiveCall sum_of_floats(void* target, const void* source, std::uint64_t size_bytes) {
  return {CollectiveOperation::reduce, world, target, source, size_bytes, 0, GDRKIT_SHMEM_TYPE_FLOAT, GDRKIT_SHMEM_SUM};
}

TEST(ShmemRefusal, InvalidArgumentsWriteNothing) {
  run_shmem_job({}, [](core::Pe& pe) {
    CollectiveSide side(pe, 4096);
    const std::vector<std::uint8_t> before(4096, 0x5a);
    side.write(side.target, before);
    std::uint8_t* const end = side.target + 4096;
    std::uint8_t foreign[64];
    std::vector<CollectiveCall> wrong = {
        {CollectiveOperation::broadcast, world, side.target, side.source, 8, -1},
        {CollectiveOperation::broadcast, world, side.target, side.source, 8, 2},
        {CollectiveOperation::broadcast, world, end - 4, side.source, 8},
        {CollectiveOperation::broadcast, world, side.target, side.source, 4097},
        {CollectiveOperation::fcollect, world, side.target, side.source, 2049},
        {CollectiveOperation::fcollect, world, foreign, side.source, 8},
        {CollectiveOperation::fcollect, world, side.target, foreign, 8},
        {CollectiveOperation::fcollect, world, nullptr, side.source, 8},
        {CollectiveOperation::fcollect, world, side.target, side.target + 4, 8},
        {CollectiveOperation::alltoall, world, side.target, side.target, 8},
        {CollectiveOperation::alltoall, world, side.target, side.source, SIZE_MAX / 2 + 1},
        {CollectiveOperation::reducescatter, world, side.target, side.target, 8, 0, GDRKIT_SHMEM_TYPE_INT32},
        sum_of_floats(side.target, side.target + 4, 8),
        sum_of_floats(side.target + 2, side.source, 8),
        sum_of_floats(side.target, side.source, SIZE_MAX / 8 * 8),
    };
    for (const int type : {0, 3, 16 + 3, 32 + 4, 128}) {
      wrong.push_back(sum_of_floats(side.target, side.source, 8));
      wrong.back().type = static_cast<gdrkit_shmem_type>(type);
    }
    wrong.push_back(sum_of_floats(side.target, side.source, 8));
    wrong.back().reduction = GDRKIT_SHMEM_AND;
    wrong.push_back(sum_of_floats(side.target, side.source, 8));
    wrong.back().reduction = static_cast<gdrkit_shmem_reduction>(7);
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      for (const Way way : {Way::host, Way::stream}) {
        EXPECT_TRUE(failed(side.call(wrong[i], way), EINVAL));
      }
    }
    EXPECT_EQ(side.read(side.target, 4096), before);
    for (const Way way : {Way::host, Way::stream}) {
      EXPECT_TRUE(succeeded(side.call({CollectiveOperation::broadcast, world, nullptr, nullptr, 0}, way)));
    }
  });
}

TEST(ShmemRefusal, ReportsThePeWithDifferentArguments) {
  run_shmem_job({.n_pes = 3}, [](core::Pe& pe) {
    CollectiveSide side(pe, 100'000);
    const bool is_other = pe.pe() == 2;
    const std::vector<std::uint8_t> before(4096, 0x5a);
    side.write(side.target, before);
    const auto expect_refused = [&](const CollectiveCall& call, const char* text) {
      EXPECT_TRUE(failed(side.call(call, Way::host), EPROTO, testing::HasSubstr(text)));
      EXPECT_EQ(side.read(side.target, 4096), before);
    };
    for (const std::uint64_t size : {16U, 30'000U}) {
      expect_refused(sum_of_floats(side.target, side.source, is_other ? size + 4 : size), "the size in bytes is");
      expect_refused(sum_of_floats(side.target, side.source, is_other ? 0 : size), "the size in bytes is");
      expect_refused(sum_of_floats(side.target + (is_other ? 16 : 0), side.source, size), "the target's offset");
      auto call = sum_of_floats(side.target, side.source, size);
      if (is_other) call.reduction = GDRKIT_SHMEM_MAX;
      expect_refused(call, "root, type or reduction");
      call = {CollectiveOperation::broadcast, world, side.target, side.source, size, is_other ? 0 : 1};
      expect_refused(call, "root, type or reduction");
      call.operation = is_other ? CollectiveOperation::fcollect : CollectiveOperation::broadcast;
      expect_refused(call, "PE 0 and PE 2 called different collective functions");
    }
    EXPECT_TRUE(succeeded(side.call(sum_of_floats(side.target, side.source, 64), Way::host)));
    EXPECT_TRUE(succeeded(side.call(sum_of_floats(side.target, side.source, 64), Way::stream)));
  });
}

TEST(ShmemRefusal, ComparesStreamCallsOnRequest) {
  auto options = little_scratch(2);
  options.compares_stream_collectives = true;
  run_shmem_job(options, [](core::Pe& pe) {
    CollectiveSide side(pe, 4096);
    EXPECT_TRUE(failed(side.call(sum_of_floats(side.target, side.source, pe.pe() == 1 ? 8 : 16), Way::stream), EPROTO));
    // The CPU's call and the stream's are two things.
    const Way other = pe.pe() == 1 ? Way::stream : Way::host;
    EXPECT_TRUE(failed(side.call(sum_of_floats(side.target, side.source, 16), other), EPROTO));
    EXPECT_TRUE(succeeded(side.call(sum_of_floats(side.target, side.source, 16), Way::stream)));
  });
}

/// PE 1 does not take part: the other PE's GPU kernel ends at the limit, the next calls report it, and another team
/// works.
TEST(ShmemRefusal, ReportsAStreamThatTimedOut) {
  for (const std::uint64_t size : {16U, 20'000U}) {
    for (const bool is_broadcast : {false, true}) {
      auto options = little_scratch(2);
      options.limit = 10s;
      run_shmem_job(options, [&](core::Pe& pe) {
        CollectiveSide side(pe, 40'000);
        auto team = pe.collectives().split_strided(world, 0, 1, 2);
        ASSERT_TRUE(team);
        auto call = sum_of_floats(side.target, side.source, size);
        if (is_broadcast) call = {CollectiveOperation::broadcast, *team, side.target, side.source, size, 1};
        call.team = *team;
        if (pe.pe() == 0) {
          pe.set_limit(100ms);
          EXPECT_TRUE(succeeded(side.call(call, Way::stream)));
          EXPECT_TRUE(failed(pe.quiet(), ETIMEDOUT, testing::HasSubstr("PE 1 did not take part")));
          EXPECT_TRUE(succeeded(pe.quiet())) << "reported once";
          for (const Way way : {Way::host, Way::stream}) {
            EXPECT_TRUE(failed(side.call(call, way), ETIMEDOUT));
          }
          pe.set_limit(10s);
        }
        ASSERT_TRUE(succeeded(pe.collectives().destroy(*team)));
        call.team = world;
        for (const Way way : {Way::host, Way::stream}) EXPECT_TRUE(succeeded(side.call(call, way)));
        EXPECT_TRUE(succeeded(pe.barrier_all()));
      });
    }
  }
}

/// The barrier of one member reports it; the others do not time out.
TEST(ShmemRefusal, BarrierCompletesAfterAStreamTimedOut) {
  run_shmem_job({}, [](core::Pe& pe) {
    CollectiveSide side(pe, 64);
    const parts::Word word{side.source, 8, false};
    pe.set_limit(50ms);
    if (pe.pe() == 0) {
      void* const stream = reinterpret_cast<void*>(side.stream().handle);
      ASSERT_TRUE(succeeded(pe.streams().wait(word, GDRKIT_SHMEM_EQ, UINT64_MAX, stream)));
      const platform::DeviceScope scope(pe.device());
      ASSERT_TRUE(succeeded(pe.device().synchronize(side.stream())));
    }
    pe.set_limit(30s);
    const auto came = pe.collectives().run({CollectiveOperation::barrier, world});
    if (pe.pe() == 0) {
      EXPECT_TRUE(failed(came, ETIMEDOUT, testing::HasSubstr("timed out while waiting for the word at 0x")));
    } else {
      EXPECT_TRUE(succeeded(came));
    }
    EXPECT_TRUE(succeeded(pe.collectives().run({CollectiveOperation::barrier, world}))) << "reported twice";
  });
}

/// The CPUs compare the calls, so the CPU's limit applies.
TEST(ShmemRefusal, HostCallTimesOutIfOtherPesAreMissing) {
  run_shmem_job({}, [](core::Pe& pe) {
    CollectiveSide side(pe, 4096);
    auto team = pe.collectives().split_strided(world, 0, 1, 2);
    ASSERT_TRUE(team);
    if (pe.pe() == 0) {
      pe.set_limit(100ms);
      auto call = sum_of_floats(side.target, side.source, 64);
      call.team = *team;
      auto ended = side.call(call, Way::host);
      ASSERT_TRUE(failed(ended, ETIMEDOUT, testing::HasSubstr("PE 0 waits for PE 1")));
      EXPECT_THAT(ended.error().text(), ::testing::Not(::testing::HasSubstr("PE -1")));
      pe.set_limit(30s);
    }
  });
}

}  // namespace
}  // namespace gdrkit::shmem_impl::collective
