// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A job of one PE, which is its own neighbour; tests/shmem/device has two.
#include "gpu_kernels_conformance.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

GDRKIT_COVERS(shmem);

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
    ASSERT_TRUE(tests::succeeded(kernels_->launch(made, {1, 128}, stream_)));
    ASSERT_TRUE(tests::succeeded(device_->synchronize(stream_)));
    EXPECT_EQ(read<std::uint64_t>(made.target + 4088), 0x5c5c5c5c5c5c5c5cU);
    EXPECT_GT(read<ShmemResult>(made.result).elapsed_ns(), 0U);
  }
}

TEST_F(ShmemConformance, MeetsItself) {
  auto made = parameters(ShmemOperation::barrier);
  ASSERT_TRUE(tests::succeeded(kernels_->launch(made, {1, 64}, stream_)));
  ASSERT_TRUE(tests::succeeded(device_->synchronize(stream_)));
  EXPECT_EQ(read<ShmemResult>(made.result).wrong, 0U);
  EXPECT_EQ(read<std::uint64_t>(made.state.sync_address), 3U);
}

TEST_F(ShmemConformance, RefusesWhatItCannotDo) {
  auto made = parameters(ShmemOperation::ping_pong);
  EXPECT_FALSE(kernels_->launch(made, {2, 64}, stream_));
  made.has_every_group = 1;
  EXPECT_FALSE(kernels_->launch(made, {1, 64}, stream_));
  made.has_every_group = 0;
  made.scope = ShmemScope::warp;
  EXPECT_FALSE(kernels_->launch(made, {1, 16}, stream_));
  made = parameters(ShmemOperation::reduce);
  made.scope = ShmemScope::thread;
  EXPECT_FALSE(kernels_->launch(made, {1, 64}, stream_));
  made = parameters(ShmemOperation::put);
  made.peer = 1;
  EXPECT_FALSE(kernels_->launch(made, {1, 64}, stream_));
  made = parameters(ShmemOperation::put);
  made.target += 4;
  EXPECT_FALSE(kernels_->launch(made, {1, 64}, stream_));
  made = parameters(static_cast<ShmemOperation>(99));
  EXPECT_FALSE(kernels_->launch(made, {1, 64}, stream_));
}

}  // namespace
}  // namespace gdrkit::platform
