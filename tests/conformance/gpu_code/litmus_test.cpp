// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Two PEs on one device, each with its own stream; tests/shmem/device uses two devices.
#include "gpu_kernels_conformance.hpp"
#include "platform/gpu_code/litmus_params.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

GDRKIT_COVERS(litmus, LitmusParameters);

class LitmusConformance : public GpuKernelConformance {
 protected:
  static constexpr std::uint64_t stride_bytes = 65536;
  static constexpr std::uint64_t result_at = 61440;

  LitmusParameters parameters(LitmusShape shape, LitmusMistake mistake, std::uint64_t heaps, int pe) {
    LitmusParameters made{};
    made.state.pe = pe;
    made.state.n_pes = 2;
    made.state.limit_ns = long_ns;
    made.state.heap_address = heaps + stride_bytes * static_cast<unsigned>(pe);
    made.state.stride_bytes = stride_bytes;
    made.state.sync_address = made.state.heap_address;
    made.words = made.state.heap_address + 16384;
    made.target = made.state.heap_address + 32768;
    made.source = made.state.heap_address + 49152;
    made.size_bytes = 256;
    made.result = made.state.heap_address + result_at;
    made.shape = shape;
    made.mistake = mistake;
    // Rounds that synchronise the PEs are slow for threads on a busy CPU.
    made.rounds = shape == LitmusShape::store_buffering || mistake == LitmusMistake::no_order ? 20 : 500;
    made.reader = 1;
    made.instances = 1;
    return made;
  }
  LitmusResult play(LitmusShape shape, LitmusMistake mistake) {
    const std::uint64_t heaps = device_memory(2 * stride_bytes);
    const auto other = device_->create_stream();
    const unsigned threads = shape == LitmusShape::put_signal ? 32 : 1;
    for (const int pe : {0, 1}) {
      EXPECT_TRUE(tests::succeeded(
          kernels_->launch(parameters(shape, mistake, heaps, pe), {1, threads}, pe == 0 ? stream_ : *other)));
    }
    EXPECT_TRUE(tests::succeeded(device_->synchronize(stream_)));
    EXPECT_TRUE(tests::succeeded(device_->synchronize(*other)));
    EXPECT_TRUE(tests::succeeded(device_->destroy_stream(*other)));
    EXPECT_EQ(read<LitmusResult>(heaps + result_at).expired, 0U);
    return read<LitmusResult>(heaps + stride_bytes + result_at);
  }
};

TEST_F(LitmusConformance, DetectsTheWrongOrderOnly) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not support the fences that order these accesses";
#endif
  for (const LitmusShape shape : {LitmusShape::put_signal, LitmusShape::put_fence_put, LitmusShape::third_word,
                                  LitmusShape::atomics, LitmusShape::fresh_get, LitmusShape::store_buffering}) {
    const LitmusResult in_order = play(shape, LitmusMistake::none);
    EXPECT_EQ(in_order.broken + in_order.expired, 0U) << static_cast<unsigned>(shape);
    EXPECT_GT(in_order.reads, 0U);
    const LitmusResult wrong = play(shape, LitmusMistake::no_order);
    EXPECT_GT(wrong.broken, 0U) << static_cast<unsigned>(shape);
    EXPECT_EQ(wrong.expired, 0U);
  }
}

TEST_F(LitmusConformance, AWriterWithoutAReaderEnds) {
  const std::uint64_t heaps = device_memory(2 * stride_bytes);
  for (const int pe : {0, 1}) {
    auto made = parameters(LitmusShape::put_fence_put, LitmusMistake::none, heaps, pe);
    made.state.limit_ns = short_ns;
    run(made, {1, 1});
    // The PEs run one after the other and so never at the same time.
    EXPECT_EQ(read<LitmusResult>(made.result).expired, 1U) << "PE " << pe;
  }
}

TEST_F(LitmusConformance, RejectsInvalidParameters) {
  const auto good = parameters(LitmusShape::store_buffering, LitmusMistake::none, device_memory(2 * stride_bytes), 0);
  EXPECT_TRUE(rejects(good, {2, 1}));
  EXPECT_TRUE(rejects(good, {1, 1}, [](auto& made) { made.shape = static_cast<LitmusShape>(99); }));
  EXPECT_TRUE(rejects(good, {1, 1}, [](auto& made) { made.mistake = static_cast<LitmusMistake>(99); }));
  EXPECT_TRUE(rejects(good, {1, 1}, [](auto& made) { made.reader = 0; }));
  EXPECT_TRUE(rejects(good, {1, 1}, [](auto& made) { made.reader = 2; }));
}

}  // namespace
}  // namespace gdrkit::platform
