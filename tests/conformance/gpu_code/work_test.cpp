// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <numeric>
#include <vector>

#include "gpu_kernels_conformance.hpp"
#include "platform/gpu_code/chase_params.hpp"
#include "platform/gpu_code/copy_params.hpp"
#include "support/device_access.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

GDRKIT_COVERS(copy, CopyParameters);
GDRKIT_COVERS(chase, ChaseParameters);

class CopyConformance : public GpuKernelConformance {};

TEST_F(CopyConformance, CopiesExactlyTheRange) {
  constexpr std::size_t room = 1 << 20;
  const std::uint64_t source = device_memory(room);
  const std::uint64_t target = device_memory(room);
  const auto pattern = tests::make_pattern(room, 1);
  ASSERT_TRUE(device_->copy_to_device(source, pattern.data(), room));
  for (const std::size_t size : {0U, 1U, 15U, 16U, 17U, 64U, 1000U, 4096U, 100'003U, 1'000'001U}) {
    for (const LaunchShape shape : {LaunchShape{1, 32}, {4, 256}}) {
      SCOPED_TRACE(std::to_string(size) + " bytes by " + std::to_string(shape.blocks) + " blocks");
      ASSERT_TRUE(device_->fill(target, 0xee, room));
      CopyParameters parameters{};
      parameters.target = target;
      parameters.source = source;
      parameters.size_bytes = size;
      parameters.loops = 2;
      run(parameters, shape);
      auto expected = std::vector<std::uint8_t>(room, 0xee);
      std::copy_n(pattern.begin(), size, expected.begin());
      EXPECT_EQ(tests::first_difference(read_bytes(target, room), expected), room);
    }
  }
}

TEST_F(CopyConformance, AccessesMappedHostMemoryInBothDirections) {
  constexpr std::size_t size = 65'537;
  auto* host = static_cast<std::uint8_t*>(host_memory(size));
  auto* back = static_cast<std::uint8_t*>(host_memory(size));
  const std::uint64_t middle = device_memory(size);
  const auto pattern = tests::make_pattern(size, 2);
  std::copy(pattern.begin(), pattern.end(), host);
  CopyParameters parameters{};
  parameters.size_bytes = size;
  parameters.loops = 1;
  parameters.source = to_device(host);
  parameters.target = middle;
  ASSERT_TRUE(tests::succeeded(kernels_->launch(parameters, {2, 128}, stream_)));
  parameters.source = middle;
  parameters.target = to_device(back);
  run(parameters, {2, 128});
  EXPECT_EQ(tests::first_difference(std::vector<std::uint8_t>(back, back + size), pattern), size);
}

TEST_F(CopyConformance, RejectsAddressesThatWouldFault) {
  const std::uint64_t memory = device_memory(4096);
  CopyParameters parameters{};
  parameters.target = memory + 8;
  parameters.source = memory;
  EXPECT_TRUE(rejects(parameters, {1, 1}));
  std::swap(parameters.target, parameters.source);
  EXPECT_TRUE(rejects(parameters, {1, 1}));
}

class ChaseConformance : public GpuKernelConformance {};

TEST_F(ChaseConformance, EndsAtTheSameNodeAsTheCpu) {
  constexpr std::size_t nodes = 1000;
  constexpr std::size_t stride_words = 8;
  const std::uint64_t memory = device_memory(nodes * stride_words * 8);
  // One ring through all nodes, in a permuted order: 387 and 1000 have no common divisor.
  std::vector<std::uint64_t> words(nodes * stride_words);
  for (std::size_t i = 0; i < nodes; ++i) words[i * stride_words] = memory + (i + 387) % nodes * stride_words * 8;
  ASSERT_TRUE(device_->copy_to_device(memory, words.data(), words.size() * 8));
  ChaseParameters parameters{};
  parameters.start = memory;
  parameters.state = device_memory(sizeof(ChaseState));
  for (const std::uint64_t steps : {0ULL, 1ULL, 999ULL, 1000ULL, 12'345ULL}) {
    parameters.steps = steps;
    run(parameters, {1, 1});
    EXPECT_EQ(read<ChaseState>(parameters.state).last, memory + steps * 387 % nodes * stride_words * 8) << steps;
  }
  EXPECT_GT(read<ChaseState>(parameters.state).elapsed_ns, 0U);
}

}  // namespace
}  // namespace gdrkit::platform
