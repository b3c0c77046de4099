// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include "gpu_kernels_conformance.hpp"
#include "platform/gpu_code/burn_params.hpp"
#include "platform/gpu_code/gate_params.hpp"
#include "platform/host/stopwatch.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

GDRKIT_COVERS(gate, GateParameters);
GDRKIT_COVERS(burn, BurnParameters);

class GateConformance : public GpuKernelConformance {};

TEST_F(GateConformance, HoldsTheStreamUntilItIsOpened) {
  auto* flag = host_word();
  auto* end = host_word();
  auto* word = host_word();
  const std::uint64_t source = device_memory(4);
  ASSERT_TRUE(device_->fill(source, 0x11, 4));
  ASSERT_TRUE(
      tests::succeeded(kernels_->launch(GateParameters{to_device(flag), to_device(end), long_ns}, {1, 1}, stream_)));
  ASSERT_TRUE(device_->copy_to_host_async(word, source, 4, stream_));
  EXPECT_FALSE(device_->is_finished(stream_).value());
  EXPECT_EQ(load(word), 0U);
  EXPECT_EQ(end_at(end), KernelEnd::running);
  store(flag, 1);
  ASSERT_TRUE(device_->synchronize(stream_));
  EXPECT_EQ(end_at(end), KernelEnd::finished);
  EXPECT_EQ(load(word), 0x11111111U);
}

TEST_F(GateConformance, TimesOut) {
  auto* flag = host_word();
  auto* end = host_word();
  const std::int64_t begin = now_ns();
  run(GateParameters{to_device(flag), to_device(end), short_ns}, {1, 1});
  EXPECT_EQ(end_at(end), KernelEnd::expired);
  EXPECT_GE(now_ns() - begin, static_cast<std::int64_t>(short_ns));
}

class BurnConformance : public GpuKernelConformance {
 protected:
  static constexpr std::size_t scratch_bytes = 128 << 10;

  void SetUp() override {
    GpuKernelConformance::SetUp();
    if (!kernels_ || IsSkipped()) return;
    stop_ = host_word();
    end_ = host_word();
    parameters_ = {to_device(stop_), to_device(end_),  device_memory(scratch_bytes),
                   scratch_bytes,    device_memory(8), long_ns};
  }
  void launch() {
    ASSERT_TRUE(tests::succeeded(kernels_->launch(parameters_, {kernels_->resident_blocks(), 256}, stream_)));
  }

  BurnParameters parameters_{};
  std::uint32_t* stop_ = nullptr;
  std::uint32_t* end_ = nullptr;
};

TEST_F(BurnConformance, RunsUntilStopped) {
  launch();
  const std::int64_t begin = now_ns();
  while (now_ns() - begin < static_cast<std::int64_t>(short_ns)) EXPECT_FALSE(device_->is_finished(stream_).value());
  EXPECT_EQ(end_at(end_), KernelEnd::running);
  store(stop_, 1);
  ASSERT_TRUE(device_->synchronize(stream_));
  EXPECT_EQ(end_at(end_), KernelEnd::stopped);
  EXPECT_GT(read<float>(parameters_.scratch), 0.0F) << "it wrote nothing";
}

TEST_F(BurnConformance, UsesAllOfItsMemoryAndTimesOut) {
  parameters_.limit_ns = short_ns * 20;
  launch();
  ASSERT_TRUE(device_->synchronize(stream_));
  EXPECT_EQ(end_at(end_), KernelEnd::expired);
  EXPECT_GE(read<std::uint64_t>(parameters_.passes), 1U);
  std::vector<float> scratch(scratch_bytes / sizeof(float));
  ASSERT_TRUE(device_->copy_to_host(scratch.data(), parameters_.scratch, scratch_bytes));
  EXPECT_EQ(std::count(scratch.begin(), scratch.end(), 0.0F), 0) << "untouched words";
}

TEST_F(BurnConformance, RejectsInvalidScratchMemory) {
  EXPECT_TRUE(rejects(parameters_, {1, 1}, [](auto& odd) { odd.scratch_bytes = 0; }));
  EXPECT_TRUE(rejects(parameters_, {1, 1}, [](auto& odd) { odd.scratch_bytes = 8; }));
  EXPECT_TRUE(rejects(parameters_, {1, 1}, [](auto& odd) { odd.scratch += 4; }));
}

}  // namespace
}  // namespace gdrkit::platform
