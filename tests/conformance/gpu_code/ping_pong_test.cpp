// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <vector>

#include "gpu_kernels_conformance.hpp"
#include "platform/gpu_code/ping_pong_params.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

GDRKIT_COVERS(ping_pong, PingPongParameters);

class PingPongConformance : public GpuKernelConformance {
 protected:
  void SetUp() override {
    GpuKernelConformance::SetUp();
    if (!kernels_ || IsSkipped()) return;
    ping_ = host_word();
    pong_ = host_word();
    end_ = host_word();
    parameters_.ping = to_device(ping_);
    parameters_.pong = to_device(pong_);
    parameters_.end = to_device(end_);
    parameters_.state = device_memory(sizeof(PingPongState));
    parameters_.limit_ns = long_ns;
    parameters_.first = 100;
    parameters_.rounds = 50;
  }
  std::uint32_t* add_data(std::size_t words) {
    auto* data = static_cast<std::uint32_t*>(host_memory(words * 4));
    parameters_.data = to_device(data);
    parameters_.data_bytes = words * 4;
    return data;
  }
  void launch(LaunchShape shape = {1, 1}) {
    ASSERT_TRUE(tests::succeeded(kernels_->launch(parameters_, shape, stream_)));
  }
  PingPongState finish(KernelEnd expected) {
    EXPECT_TRUE(tests::succeeded(device_->synchronize(stream_)));
    EXPECT_EQ(end_at(end_), expected);
    return read<PingPongState>(parameters_.state);
  }

  PingPongParameters parameters_{};
  std::uint32_t* ping_ = nullptr;
  std::uint32_t* pong_ = nullptr;
  std::uint32_t* end_ = nullptr;
};

TEST_F(PingPongConformance, SendsOnePongPerPingAndNoneBeforeIt) {
  launch();
  for (std::uint32_t value = 100; value < 150; ++value) {
    EXPECT_EQ(load(pong_), value == 100 ? 0 : value - 1);
    store(ping_, value);
    ASSERT_TRUE(comes(pong_, value)) << "round " << value - 100;
  }
  const auto state = finish(KernelEnd::finished);
  EXPECT_EQ(state.mismatches, 0U);
  EXPECT_GT(state.elapsed_ns, 0U);
}

TEST_F(PingPongConformance, APingOfAnotherRoundIsIgnored) {
  parameters_.rounds = 1;
  parameters_.limit_ns = short_ns;
  launch();
  store(ping_, 101);
  (void)finish(KernelEnd::expired);
  EXPECT_EQ(load(pong_), 0U);
}

TEST_F(PingPongConformance, FlagsWithoutDataUseOneThreadOfAnyShape) {
  const unsigned blocks = kernels_->resident_blocks() > 1 ? 2 : 1;
  launch({blocks, 96});
  for (std::uint32_t value = 100; value < 150; ++value) {
    store(ping_, value);
    ASSERT_TRUE(comes(pong_, value)) << "round " << value - 100;
  }
  EXPECT_EQ(finish(KernelEnd::finished).arrivals, 0U) << "blocks synchronised, although no data had to be ordered";
}

TEST_F(PingPongConformance, FlagsWithoutDataAlsoWorkInTheOtherDirection) {
  parameters_.is_gpu_first = 1;
  launch();
  for (std::uint32_t value = 100; value < 150; ++value) {
    ASSERT_TRUE(comes(pong_, value)) << "round " << value - 100;
    store(ping_, value);
  }
  (void)finish(KernelEnd::finished);
}

TEST_F(PingPongConformance, AlsoStopsWithData) {
  (void)add_data(1000);
  launch({1, 64});
  store(ping_, stop_word);
  (void)finish(KernelEnd::stopped);
  EXPECT_EQ(load(pong_), 0U);
}

TEST_F(PingPongConformance, AlsoExpiresWithData) {
  (void)add_data(1000);
  parameters_.limit_ns = short_ns;
  launch({1, 64});
  EXPECT_GE(finish(KernelEnd::expired).elapsed_ns, short_ns);
}

TEST_F(PingPongConformance, AllBlocksReadAllDataBeforeThePong) {
  constexpr std::size_t words = 5000;
  auto* data = add_data(words);
  const unsigned blocks = kernels_->resident_blocks() > 1 ? 2 : 1;
  launch({blocks, 96});
  for (std::uint32_t value = 100; value < 150; ++value) {
    for (std::size_t at = 0; at < words; ++at) data[at] = value;
    // Three wrong words in one round, including the last one: detects a reader that skips words.
    if (value == 120) data[0] = data[777] = data[words - 1] = 1;
    store(ping_, value);
    ASSERT_TRUE(comes(pong_, value)) << "round " << value - 100;
  }
  EXPECT_EQ(finish(KernelEnd::finished).mismatches, 3U);
}

TEST_F(PingPongConformance, AlsoWorksInTheOtherDirection) {
  constexpr std::size_t words = 1000;
  const auto* data = add_data(words);
  parameters_.is_gpu_first = 1;
  launch({1, 64});
  for (std::uint32_t value = 100; value < 150; ++value) {
    ASSERT_TRUE(comes(pong_, value)) << "round " << value - 100;
    EXPECT_EQ(std::vector<std::uint32_t>(data, data + words), std::vector<std::uint32_t>(words, value));
    store(ping_, value);
  }
  EXPECT_EQ(finish(KernelEnd::finished).mismatches, 0U);
}

TEST_F(PingPongConformance, StopsAtTheStopValue) {
  launch();
  store(ping_, 100);
  ASSERT_TRUE(comes(pong_, 100));
  store(ping_, stop_word);
  (void)finish(KernelEnd::stopped);
  EXPECT_EQ(load(pong_), 100U);
}

TEST_F(PingPongConformance, ExpiresWithoutAPing) {
  parameters_.limit_ns = short_ns;
  launch();
  const auto state = finish(KernelEnd::expired);
  EXPECT_GE(state.elapsed_ns, short_ns);
  EXPECT_EQ(load(pong_), 0U);
}

TEST_F(PingPongConformance, ExpiresBetweenRounds) {
  parameters_.limit_ns = short_ns;
  parameters_.is_gpu_first = 1;
  launch();
  ASSERT_TRUE(comes(pong_, 100));
  (void)finish(KernelEnd::expired);
}

TEST_F(PingPongConformance, RejectsInvalidParameters) {
  EXPECT_TRUE(rejects(parameters_, {kernels_->resident_blocks() + 1, 1}));
  EXPECT_TRUE(rejects(parameters_, {1, 1}, [](auto& odd) { odd.data_bytes = 4; })) << "data without an address";
  EXPECT_TRUE(rejects(parameters_, {1, 1}, [](auto& odd) { odd.first = stop_word - odd.rounds + 1; }))
      << "the last round would equal the stop value";
  parameters_.data = parameters_.state;
  EXPECT_TRUE(rejects(parameters_, {1, 1}, [](auto& odd) { odd.data_bytes = 3; }));
}

}  // namespace
}  // namespace gdrkit::platform
