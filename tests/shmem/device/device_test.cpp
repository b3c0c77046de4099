// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit/shmem_device.cuh in GPU kernels of two PEs that run at the same time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gdrkit/shmem_device.cuh"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "platform/gpu_code/shmem_params.hpp"
#include "support/device_access.hpp"
#include "support/place.hpp"
#include "support/results.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem {
namespace {

using platform::LaunchShape;
using platform::ShmemOperation;
using platform::ShmemParameters;
using platform::ShmemResult;
using platform::ShmemScope;
using tests::failed;
using tests::run_shmem_job;
using tests::succeeded;

constexpr std::size_t room = 1 << 20;
constexpr std::uint64_t expired = ~std::uint64_t{0};
const bool is_gpu = tests::is_gpu_place();

/// GPU kernels of one PE, and the symmetric objects that they work on.
class Side {
 public:
  explicit Side(shmem_impl::core::Pe& pe) : pe_(pe), device_(const_cast<platform::Device&>(pe.device())) {
    const platform::DeviceScope scope(device_);
    auto loaded = platform::GpuKernels::load<platform::GpuKernel::shmem>(device_);
    EXPECT_TRUE(loaded) << loaded.error().text();
    gpu_kernels_.emplace(std::move(*loaded));
    stream_ = *device_.create_stream();
    EXPECT_TRUE(succeeded(pe.gpu_code().watch()));
    target = tests::zeroed<char>(pe, room);
    source = tests::zeroed<char>(pe, room);
    words_ = tests::zeroed<char>(pe, 512);
  }
  ~Side() {
    const platform::DeviceScope scope(device_);
    EXPECT_TRUE(succeeded(device_.destroy_stream(stream_)));
    gpu_kernels_.reset();
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  [[nodiscard]] ShmemParameters parameters(ShmemOperation operation, ShmemScope scope, std::uint64_t size) const {
    ShmemParameters made{};
    made.state = pe_.gpu_code().state();
    made.target = reinterpret_cast<std::uint64_t>(target);
    made.source = reinterpret_cast<std::uint64_t>(source);
    made.size_bytes = size;
    made.signal = reinterpret_cast<std::uint64_t>(words_) + 64;
    made.result = reinterpret_cast<std::uint64_t>(words_);
    made.operation = operation;
    made.scope = scope;
    made.rounds = 1;
    made.peer = static_cast<std::uint32_t>(1 - pe_.pe());
    return made;
  }

  /// Collective: both PEs' GPU kernels run at the same time.
  ShmemResult run(const ShmemParameters& parameters, LaunchShape shape) {
    const platform::DeviceScope scope(device_);
    EXPECT_TRUE(succeeded(device_.fill(reinterpret_cast<std::uint64_t>(words_), 0, 256)));
    EXPECT_TRUE(succeeded(pe_.barrier_all()));
    EXPECT_TRUE(succeeded(gpu_kernels_->launch(parameters, shape, stream_)));
    EXPECT_TRUE(succeeded(device_.synchronize(stream_)));
    ShmemResult result{};
    EXPECT_TRUE(succeeded(device_.copy_to_host(&result, reinterpret_cast<std::uint64_t>(words_), sizeof result)));
    EXPECT_TRUE(succeeded(pe_.sync_all()));
    return result;
  }

  void* target = nullptr;
  void* source = nullptr;

 private:
  shmem_impl::core::Pe& pe_;
  platform::Device& device_;
  std::optional<platform::GpuKernels> gpu_kernels_;
  platform::Stream stream_;
  void* words_ = nullptr;  // the result, and a signal on a separate cache line
};

constexpr std::pair<ShmemScope, LaunchShape> scopes[] = {
    {ShmemScope::thread, {1, 1}}, {ShmemScope::warp, {1, 32}}, {ShmemScope::block, {1, 512}}};

/// put, then signal: a PE that observes the signal observes all data, in each of many rounds.
TEST(ShmemDevice, SignalsArriveAfterTheirData) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Side side(pe);
    for (const auto& [scope, shape] : scopes) {
      for (const std::uint64_t size : {0U, 8U, 24U, 1024U, 65536U}) {
        auto parameters = side.parameters(ShmemOperation::ping_pong, scope, size);
        const bool is_slow = scope == ShmemScope::thread && size > 1024;
        parameters.rounds = !is_gpu ? 20 : is_slow ? 20 : 5000;
        parameters.checks_data = 1;
        EXPECT_EQ(side.run(parameters, shape).wrong, 0U)
            << size << " bytes, scope " << static_cast<unsigned>(scope) << ", PE " << pe.pe();
      }
    }
  });
}

TEST(ShmemDevice, PutsAndGetsCopyExactlyTheRange) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Side side(pe);
    const int other = 1 - pe.pe();
    const auto mine = tests::make_pattern(room, static_cast<unsigned>(pe.pe()) + 1);
    const auto theirs = tests::make_pattern(room, static_cast<unsigned>(other) + 1);
    ASSERT_TRUE(succeeded(pe.transfers().put(side.source, mine.data(), room, pe.pe(), false)));
    for (const auto& [scope, shape] : scopes) {
      for (const std::uint64_t size : {1U, 7U, 8U, 100U, 4097U, 70001U}) {
        for (const unsigned blocks : {1U, 3U}) {
          if (blocks > 1 && size % 8 != 0) continue;  // each block's piece begins at a word
          for (const bool is_put : {true, false}) {
            const std::vector<std::uint8_t> blank(room, 0xee);
            ASSERT_TRUE(succeeded(pe.transfers().put(side.target, blank.data(), room, pe.pe(), false)));
            auto parameters = side.parameters(is_put ? ShmemOperation::put : ShmemOperation::get, scope, size);
            (void)side.run(parameters, {blocks, shape.threads});
            auto expected = blank;
            std::copy_n(theirs.begin(), size * blocks, expected.begin());
            EXPECT_EQ(tests::first_difference(tests::device_bytes(pe, side.target, room), expected), room)
                << (is_put ? "put of " : "get of ") << size << " bytes by " << blocks << " blocks, scope "
                << static_cast<unsigned>(scope);
            ASSERT_TRUE(succeeded(pe.sync_all()));
          }
        }
      }
    }
  });
}

TEST(ShmemDevice, PutWritesAValue) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Side side(pe);
    for (const std::uint32_t completes_each : {0U, 1U}) {
      auto parameters = side.parameters(ShmemOperation::put_value, ShmemScope::warp, 8);
      parameters.rounds = 77 + completes_each;
      parameters.completes_each = completes_each;
      (void)side.run(parameters, {1, 32});
      std::uint64_t seen = 0;
      ASSERT_TRUE(succeeded(pe.transfers().get(&seen, side.target, sizeof seen, pe.pe(), false)));
      EXPECT_EQ(seen, 77U + completes_each);
    }
  });
}

TEST(ShmemDevice, SignalWorksWithoutData) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Side side(pe);
    for (const ShmemOperation operation : {ShmemOperation::signal_set, ShmemOperation::put_signal}) {
      auto parameters = side.parameters(operation, ShmemScope::warp, 0);
      parameters.rounds = 5;
      const auto signal = reinterpret_cast<std::uint64_t*>(parameters.signal);
      (void)side.run(parameters, {1, 32});
      std::uint64_t seen = 0;
      ASSERT_TRUE(succeeded(pe.transfers().get(&seen, signal, sizeof seen, pe.pe(), false)));
      EXPECT_EQ(seen, 5U);
      ASSERT_TRUE(succeeded(pe.sync_all()));
    }
  });
}

/// Each group of a grid has a separate word, and no update is lost.
TEST(ShmemDevice, LosesNoUpdateOfManyGroups) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Side side(pe);
    constexpr LaunchShape shape{3, 64};
    constexpr std::uint32_t rounds = 7;
    const std::vector<std::uint64_t> zeros(3 * 64);
    for (const auto& [operation, scope, size] : {std::tuple{ShmemOperation::put_value, ShmemScope::thread, 8},
                                                 {ShmemOperation::atomic_add, ShmemScope::warp, 0},
                                                 {ShmemOperation::atomic_fetch_add, ShmemScope::thread, 0},
                                                 {ShmemOperation::atomic_compare_swap, ShmemScope::block, 8}}) {
      ASSERT_TRUE(succeeded(pe.transfers().put(side.target, zeros.data(), zeros.size() * 8, pe.pe(), false)));
      auto parameters = side.parameters(operation, scope, static_cast<std::uint64_t>(size));
      parameters.rounds = rounds;
      parameters.untimed_rounds = 0;
      parameters.has_every_group = 1;
      (void)side.run(parameters, shape);
      const auto bytes = tests::device_bytes(pe, side.target, zeros.size() * 8);
      std::vector<std::uint64_t> seen(zeros.size());
      std::memcpy(seen.data(), bytes.data(), bytes.size());
      const std::size_t groups = scope == ShmemScope::thread ? 3 * 64 : scope == ShmemScope::warp ? 3 * 2 : 3;
      // Of size 0 all groups update one word.
      std::vector<std::uint64_t> expected(zeros.size());
      if (size == 0)
        expected[0] = groups * rounds;
      else
        std::fill_n(expected.begin(), groups, rounds);
      EXPECT_EQ(seen, expected) << "operation " << static_cast<unsigned>(operation);
      ASSERT_TRUE(succeeded(pe.sync_all()));
    }
  });
}

TEST(ShmemDevice, GetReadsAValue) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Side side(pe);
    const std::uint64_t mine = 40 + static_cast<std::uint64_t>(pe.pe());
    ASSERT_TRUE(succeeded(pe.transfers().put(side.source, &mine, sizeof mine, pe.pe(), false)));
    auto parameters = side.parameters(ShmemOperation::get_value, ShmemScope::block, 8);
    parameters.rounds = 3;
    (void)side.run(parameters, {1, 64});
    std::uint64_t seen = 0;
    ASSERT_TRUE(succeeded(pe.transfers().get(&seen, side.target, sizeof seen, pe.pe(), false)));
    EXPECT_EQ(seen, 41U - static_cast<std::uint64_t>(pe.pe()));
  });
}

/// Later rounds of the same signal, as a benchmark's batches have them.
TEST(ShmemDevice, RoundNumbersContinueAcrossLaunches) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Side side(pe);
    auto parameters = side.parameters(ShmemOperation::ping_pong, ShmemScope::warp, 64);
    parameters.signal += 256;  // run() clears the words below
    parameters.rounds = 9;
    parameters.untimed_rounds = 1;
    parameters.checks_data = 1;
    for (parameters.rounds_before = 0; parameters.rounds_before < 30; parameters.rounds_before += 10) {
      EXPECT_EQ(side.run(parameters, {1, 32}).wrong, 0U);
    }
  });
}

/// The PE's thread accesses the other PEs; ptr() returns no address for them.
TEST(ShmemDevice, ReturnsAddressesOfLocalPesOnly) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    if (is_gpu) return;  // a host thread emulates a GPU thread
    const State state = pe.gpu_code().state();
    char* const own = reinterpret_cast<char*>(state.heap_address);
    EXPECT_EQ(ptr(state, own, pe.pe()), own);
    const bool is_proxied = pe.connections().node().index_of(1 - pe.pe()) < 0;
    EXPECT_EQ(ptr(state, own, 1 - pe.pe()) == nullptr, is_proxied);
    EXPECT_EQ(state.proxy_address != 0, is_proxied);
  });
}

/// Of floats: PE p's source holds p + 1 in its first part, p + 11 in its second.
TEST(ShmemDeviceTeams, BlockCollectivesDeliverEveryPart) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Side side(pe);
    constexpr std::size_t count = 300;
    const auto own = static_cast<float>(pe.pe());
    std::vector<float> mine(2 * count, own + 1);
    std::fill(mine.begin() + count, mine.end(), own + 11);
    ASSERT_TRUE(succeeded(pe.transfers().put(side.source, mine.data(), mine.size() * sizeof(float), pe.pe(), false)));
    const std::tuple<ShmemOperation, float, float> results[] = {
        {ShmemOperation::broadcast, 1.F, -1.F},
        {ShmemOperation::fcollect, 1.F, 2.F},
        {ShmemOperation::alltoall, own == 0 ? 1.F : 11.F, own == 0 ? 2.F : 12.F},
        {ShmemOperation::reduce, 3.F, -1.F},
        {ShmemOperation::reducescatter, own == 0 ? 3.F : 23.F, -1.F}};
    for (const auto& [operation, first, second] : results) {
      const std::vector<float> blank(2 * count, -1.F);
      ASSERT_TRUE(
          succeeded(pe.transfers().put(side.target, blank.data(), blank.size() * sizeof(float), pe.pe(), false)));
      auto parameters = side.parameters(operation, ShmemScope::block, count * sizeof(float));
      parameters.rounds = 5;
      EXPECT_EQ(side.run(parameters, {1, 128}).wrong, 0U);
      std::vector<float> seen(2 * count);
      ASSERT_TRUE(succeeded(pe.transfers().get(seen.data(), side.target, seen.size() * sizeof(float), pe.pe(), false)));
      std::vector<float> expected(2 * count, first);
      std::fill(expected.begin() + count, expected.end(), second);
      EXPECT_EQ(seen, expected) << "operation " << static_cast<unsigned>(operation) << ", PE " << pe.pe();
      ASSERT_TRUE(succeeded(pe.sync_all()));
    }
  });
}

TEST(ShmemDevice, RepeatsBarriers) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Side side(pe);
    for (const auto& [scope, shape] : scopes) {
      auto parameters = side.parameters(ShmemOperation::barrier, scope, 0);
      parameters.rounds = is_gpu ? 5000 : 50;
      EXPECT_EQ(side.run(parameters, shape).wrong, 0U) << "scope " << static_cast<unsigned>(scope);
    }
  });
}

TEST(ShmemDevice, BarrierTimesOutIfOtherPesAreMissing) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Side side(pe);
    auto parameters = side.parameters(ShmemOperation::barrier, ShmemScope::block, 0);
    parameters.state.limit_ns = 20'000'000;
    parameters.rounds = pe.pe() == 0 ? 1 : 0;
    const auto result = side.run(parameters, {1, 64});
    EXPECT_EQ(result.wrong, pe.pe() == 0 ? expired : 0U);
    auto reported = pe.quiet();
    ASSERT_EQ(reported.has_value(), pe.pe() != 0);
    if (!reported) {
      EXPECT_TRUE(failed(reported, ETIMEDOUT, testing::HasSubstr("GPU kernel of PE 0 timed out")));
    }
    EXPECT_TRUE(succeeded(pe.quiet())) << "reported once";
  });
}

}  // namespace
}  // namespace gdrkit::shmem
