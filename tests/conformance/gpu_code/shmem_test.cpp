// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A job of one PE, which is its own neighbour; tests/shmem/device has two.
#include <cstring>
#include <vector>

#include "gpu_kernels_conformance.hpp"
#include "platform/gpu_code/shmem_params.hpp"
#include "support/device_access.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

GDRKIT_COVERS(shmem, ShmemParameters);

class ShmemConformance : public GpuKernelConformance {
 protected:
  ShmemParameters parameters(ShmemOperation operation) {
    ShmemParameters made{};
    made.state.n_pes = 1;
    made.state.limit_ns = long_ns;
    made.state.heap_address = device_memory(65536);
    made.state.sync_address = made.state.heap_address;
    made.target = device_memory(4096);
    made.source = device_memory(4096);
    made.signal = device_memory(64);
    made.result = device_memory(64);
    made.size_bytes = 4096;
    made.operation = operation;
    made.scope = ShmemScope::block;
    made.rounds = 3;
    return made;
  }
};

TEST_F(ShmemConformance, CopiesToItself) {
  for (const ShmemOperation operation : {ShmemOperation::put, ShmemOperation::get}) {
    auto made = parameters(operation);
    ASSERT_TRUE(device_->fill(made.source, 0x5c, 4096));
    run(made, {1, 128});
    EXPECT_EQ(read<std::uint64_t>(made.target + 4088), 0x5c5c5c5c5c5c5c5cU);
    EXPECT_GT(read<ShmemResult>(made.result).elapsed_ns(), 0U);
  }
}

/// Of every alignment, and so by words of every width.
TEST_F(ShmemConformance, CopiesExactlyTheRange) {
  constexpr std::size_t room = 4096;
  const auto pattern = tests::make_pattern(room, 3);
  auto made = parameters(ShmemOperation::put);
  made.rounds = 1;
  ASSERT_TRUE(tests::succeeded(device_->copy_to_device(made.source, pattern.data(), room)));
  const std::uint64_t target = made.target;
  const std::uint64_t source = made.source;
  for (const ShmemOperation operation : {ShmemOperation::put, ShmemOperation::get}) {
    for (const ShmemScope scope : {ShmemScope::thread, ShmemScope::warp, ShmemScope::block}) {
      for (const std::size_t size : {1U, 2U, 3U, 4U, 7U, 8U, 9U, 15U, 16U, 24U, 31U, 1000U, 4000U}) {
        for (const std::size_t at : {0U, 1U, 2U, 4U, 8U, 16U}) {
          ASSERT_TRUE(device_->fill(target, 0xee, room));
          made.operation = operation;
          made.scope = scope;
          made.target = target + at;
          made.source = source + at;
          made.size_bytes = size;
          run(made, {1, 64});
          std::vector<std::uint8_t> expected(room, 0xee);
          std::memcpy(expected.data() + at, pattern.data() + at, size);
          EXPECT_EQ(tests::first_difference(read_bytes(target, room), expected), room)
              << size << " bytes at " << at << ", scope " << static_cast<unsigned>(scope);
        }
      }
    }
  }
}

TEST_F(ShmemConformance, EachRoundHasItsOwnSlot) {
  auto made = parameters(ShmemOperation::put_value);
  made.rounds = 5;
  made.step_bytes = 64;
  made.path_bytes = 192;  // three slots: rounds 3 and 4 reuse the first two
  run(made, {1, 1});
  EXPECT_EQ(read<std::uint64_t>(made.target), 4U);
  EXPECT_EQ(read<std::uint64_t>(made.target + 64), 5U);
  EXPECT_EQ(read<std::uint64_t>(made.target + 128), 3U);
  EXPECT_EQ(read<std::uint64_t>(made.target + 192), 0U);
  made.path_bytes = 100;
  EXPECT_TRUE(rejects(made, {1, 1})) << "it would never return";
}

TEST_F(ShmemConformance, SynchronisesWithItself) {
  auto made = parameters(ShmemOperation::barrier);
  run(made, {1, 64});
  EXPECT_EQ(read<ShmemResult>(made.result).wrong, 0U);
  EXPECT_EQ(read<std::uint64_t>(made.state.sync_address), 3U);
}

TEST_F(ShmemConformance, RejectsInvalidParameters) {
  const auto ping_pong = parameters(ShmemOperation::ping_pong);
  EXPECT_TRUE(rejects(ping_pong, {2, 64}));
  EXPECT_TRUE(rejects(ping_pong, {1, 64}, [](auto& made) { made.has_every_group = 1; }));
  EXPECT_TRUE(rejects(ping_pong, {1, 16}, [](auto& made) { made.scope = ShmemScope::warp; }));
  const auto reduce = parameters(ShmemOperation::reduce);
  EXPECT_TRUE(rejects(reduce, {1, 64}, [](auto& made) { made.scope = ShmemScope::thread; }));
  EXPECT_TRUE(rejects(parameters(ShmemOperation::put), {1, 64}, [](auto& made) { made.peer = 1; }));
  EXPECT_TRUE(rejects(parameters(ShmemOperation::put_value), {1, 64}, [](auto& made) { made.target += 4; }));
  EXPECT_TRUE(rejects(parameters(static_cast<ShmemOperation>(99)), {1, 64}));
}

}  // namespace
}  // namespace gdrkit::platform
