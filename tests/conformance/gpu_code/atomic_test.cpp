// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <vector>

#include "gpu_kernels_conformance.hpp"
#include "platform/gpu_code/atomic_params.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

GDRKIT_COVERS(atomic, AtomicParameters);

class AtomicConformance : public GpuKernelConformance {
 protected:
  /// Returns the word's previous value, as the GPU kernel reports it.
  std::uint64_t update(std::uint64_t target, std::uint32_t size_bytes, AtomicUpdate update, std::uint64_t operand,
                       std::uint64_t compare = 0) {
    auto* fetched = static_cast<std::uint64_t*>(host_memory(sizeof(std::uint64_t)));
    const AtomicParameters parameters{target, operand, compare, to_device(fetched), size_bytes, update};
    run(parameters, {1, 1});
    return *fetched;
  }
};

struct Step {
  AtomicUpdate update;
  std::uint64_t operand;
  std::uint64_t compare;
  std::uint64_t after;
};

TEST_F(AtomicConformance, UpdatesOneWordAndReturnsItsPreviousValue) {
  constexpr std::uint64_t all = 0xffff'ffff'ffff'ffff;
  const Step steps[] = {
      {AtomicUpdate::add, 7, 0, 7},
      {AtomicUpdate::add, all, 0, 6},
      {AtomicUpdate::swap, 0x1234'5678'9abc'def0, 0, 0x1234'5678'9abc'def0},
      {AtomicUpdate::compare_swap, 1, 2, 0x1234'5678'9abc'def0},
      {AtomicUpdate::compare_swap, 0xff, 0x1234'5678'9abc'def0, 0xff},
      {AtomicUpdate::bit_and, 0x3c, 0, 0x3c},
      {AtomicUpdate::bit_or, 0x8000'0001, 0, 0x8000'003d},
      {AtomicUpdate::bit_xor, all, 0, 0xffff'ffff'7fff'ffc2},
  };
  for (const std::uint32_t size : {4U, 8U}) {
    const std::uint64_t words = device_memory(32);
    const std::uint64_t target = words + 8;
    const std::uint64_t mask = size == 4 ? 0xffff'ffff : all;
    std::uint64_t before = 0;
    for (const Step& step : steps) {
      SCOPED_TRACE("update " + std::to_string(static_cast<int>(step.update)) + " of " + std::to_string(size) +
                   " bytes");
      EXPECT_EQ(update(target, size, step.update, step.operand, step.compare), before);
      before = step.after & mask;
      EXPECT_EQ(read<std::uint64_t>(target), before) << "wrong value, or its neighbour was written";
    }
    EXPECT_EQ(read<std::uint64_t>(words), 0U);
    EXPECT_EQ(read<std::uint64_t>(words + 16), 0U);
  }
}

TEST_F(AtomicConformance, LosesNoUpdateBetweenStreams) {
  const std::uint64_t target = device_memory(8);
  auto other = tests::value_or_throw(device_->create_stream());
  constexpr int rounds = 200;
  const AtomicParameters parameters{target, 1, 0, 0, 8, AtomicUpdate::add};
  for (int round = 0; round < rounds; ++round) {
    ASSERT_TRUE(tests::succeeded(kernels_->launch(parameters, {1, 1}, stream_)));
    ASSERT_TRUE(tests::succeeded(kernels_->launch(parameters, {1, 1}, other)));
  }
  ASSERT_TRUE(tests::succeeded(device_->synchronize_all()));
  EXPECT_EQ(read<std::uint64_t>(target), 2U * rounds);
  EXPECT_TRUE(tests::succeeded(device_->destroy_stream(other)));
}

TEST_F(AtomicConformance, RejectsInvalidWords) {
  const std::uint64_t target = device_memory(64);
  EXPECT_TRUE(rejects(AtomicParameters{target, 1, 0, 0, 8, AtomicUpdate::add}, {1, 2}));
  EXPECT_TRUE(rejects(AtomicParameters{target, 1, 0, 0, 2, AtomicUpdate::add}, {1, 1}));
  EXPECT_TRUE(rejects(AtomicParameters{target + 4, 1, 0, 0, 8, AtomicUpdate::add}, {1, 1}));
  EXPECT_TRUE(rejects(AtomicParameters{0, 1, 0, 0, 8, AtomicUpdate::add}, {1, 1}));
  EXPECT_TRUE(rejects(AtomicParameters{target, 1, 0, 0, 8, static_cast<AtomicUpdate>(6)}, {1, 1}));
}

}  // namespace
}  // namespace gdrkit::platform
