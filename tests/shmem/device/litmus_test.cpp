// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Litmus tests of docs/shmem-memory-model.md, on GPUs a million rounds each: two PEs write and read the same words at
// the same time, and what the model forbids is counted. Each has a planted mistake that must be seen; what hardware
// makes of a missing fence is printed, as some hardware forgives it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/gpu_code/gpu_kernels.hpp"
#include "platform/gpu_code/litmus_params.hpp"
#include "support/place.hpp"
#include "support/results.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem {
namespace {

using platform::LaunchShape;
using platform::LitmusMistake;
using platform::LitmusParameters;
using platform::LitmusResult;
using platform::LitmusShape;
using tests::run_shmem_job;
using tests::succeeded;

const bool runs_on_gpus = tests::is_gpu_place();
constexpr std::size_t words_bytes = 256 * platform::litmus_stride_bytes;
constexpr std::size_t bulk_bytes = 64 << 10;
constexpr std::uint64_t piece_bytes = 512;  // of each put_signal
// Where LitmusWork has the words that a CPU in a GPU's place needs.
constexpr std::size_t flag_index = 16;
constexpr std::size_t ready_index = 32;

struct Litmus {
  const char* name;
  LitmusShape shape;
  LaunchShape many;  ///< instances at a time
  LaunchShape one;   ///< of put_signal: one block
};
constexpr Litmus all_shapes[] = {
    {"put_signal", LitmusShape::put_signal, {8, 128}, {1, 128}},
    {"put_fence_put", LitmusShape::put_fence_put, {8, 32}, {1, 1}},
    {"third_word", LitmusShape::third_word, {8, 32}, {1, 1}},
    {"atomics", LitmusShape::atomics, {8, 32}, {1, 1}},
    {"fresh_get", LitmusShape::fresh_get, {8, 32}, {1, 1}},
    {"store_buffering", LitmusShape::store_buffering, {1, 256}, {1, 1}},
};
unsigned instances_of(const Litmus& litmus, LaunchShape shape) {
  return litmus.shape == LitmusShape::put_signal ? shape.blocks : shape.blocks * shape.threads;
}

/// Of each instance: a million over all, on GPUs.
std::uint32_t rounds_of(LitmusShape shape, LitmusMistake mistake, unsigned instances) {
  // The PEs synchronize in each round of these, which is slow for threads that share a CPU.
  const bool is_lockstep = shape == LitmusShape::store_buffering || mistake == LitmusMistake::no_order;
  const unsigned all = runs_on_gpus ? 1'000'000 : is_lockstep ? 2000 : 400'000;
  return std::max(1U, all / instances);
}

/// One PE: PE 0 writes, PE 1 reads.
class Player {
 public:
  explicit Player(shmem_impl::core::Pe& pe) : pe_(pe), device_(const_cast<platform::Device&>(pe.device())) {
    const platform::DeviceScope scope(device_);
    auto loaded = platform::GpuKernels::load<platform::GpuKernel::litmus>(device_);
    EXPECT_TRUE(loaded) << loaded.error().text();
    gpu_kernels_.emplace(std::move(*loaded));
    stream_ = *device_.create_stream();
    words = tests::zeroed<std::uint64_t>(pe, words_bytes / sizeof(std::uint64_t));
    target = tests::zeroed<std::uint64_t>(pe, bulk_bytes / sizeof(std::uint64_t));
    source_ = tests::zeroed<std::uint64_t>(pe, bulk_bytes / sizeof(std::uint64_t));
    result_ = tests::zeroed<LitmusResult>(pe, 1);
  }
  ~Player() {
    const platform::DeviceScope scope(device_);
    EXPECT_TRUE(succeeded(device_.destroy_stream(stream_)));
    gpu_kernels_.reset();
  }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  /// Collective: all words are 0.
  void clear() {
    const platform::DeviceScope scope(device_);
    fill_zero(words, words_bytes);
    fill_zero(target, bulk_bytes);
    fill_zero(result_, sizeof(LitmusResult));
    EXPECT_TRUE(succeeded(pe_.barrier_all()));
  }
  void launch(const Litmus& litmus, LitmusMistake mistake, LaunchShape shape, std::uint32_t rounds) {
    LitmusParameters made{};
    made.state = pe_.gpu_code().state();
    // The emulated device shares its processors with other tests, and the thread sanitizer slows it.
    made.state.limit_ns = runs_on_gpus ? 20'000'000'000 : 120'000'000'000;
    made.words = reinterpret_cast<std::uint64_t>(words);
    made.target = reinterpret_cast<std::uint64_t>(target);
    made.source = reinterpret_cast<std::uint64_t>(source_);
    made.size_bytes = piece_bytes;
    made.result = reinterpret_cast<std::uint64_t>(result_);
    made.shape = litmus.shape;
    made.mistake = mistake;
    made.rounds = rounds;
    made.writer = 0;
    made.reader = 1;
    made.instances = instances_of(litmus, shape);
    const platform::DeviceScope scope(device_);
    EXPECT_TRUE(succeeded(gpu_kernels_->launch(made, shape, stream_)));
  }
  LitmusResult finish() {
    const platform::DeviceScope scope(device_);
    LitmusResult result{};
    EXPECT_TRUE(succeeded(device_.synchronize(stream_)));
    EXPECT_TRUE(succeeded(device_.copy_to_host(&result, reinterpret_cast<std::uint64_t>(result_), sizeof result)));
    EXPECT_EQ(result.expired, 0U) << "waits of PE " << pe_.pe();
    return result;
  }
  /// Collective. What this PE found; only the reader finds something, but in store_buffering.
  LitmusResult play(const Litmus& litmus, LitmusMistake mistake, LaunchShape shape) {
    clear();
    launch(litmus, mistake, shape, rounds_of(litmus.shape, mistake, instances_of(litmus, shape)));
    const LitmusResult result = finish();
    EXPECT_TRUE(succeeded(pe_.barrier_all()));
    return result;
  }

  std::uint64_t* words = nullptr;
  std::uint64_t* target = nullptr;

 private:
  void fill_zero(void* address, std::size_t size_bytes) {
    EXPECT_TRUE(succeeded(device_.fill(reinterpret_cast<std::uint64_t>(address), 0, size_bytes)));
  }

  shmem_impl::core::Pe& pe_;
  platform::Device& device_;
  std::optional<platform::GpuKernels> gpu_kernels_;
  platform::Stream stream_;
  std::uint64_t* source_ = nullptr;
  void* result_ = nullptr;
};

void report(const std::string& what, const LitmusResult& result) {
  std::printf("litmus %s: %llu of %llu races broken\n", what.c_str(), static_cast<unsigned long long>(result.broken),
              static_cast<unsigned long long>(result.raced));
}

TEST(ShmemLitmus, ObservesNoForbiddenOutcome) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Player player(pe);
    for (const Litmus& litmus : all_shapes) {
      for (const LaunchShape shape : {litmus.many, litmus.one}) {
        const LitmusResult result = player.play(litmus, LitmusMistake::none, shape);
        if (pe.pe() == 0) continue;
        const std::string what = std::string(litmus.name) + " x " + std::to_string(instances_of(litmus, shape));
        report(what, result);
        EXPECT_EQ(result.broken, 0U) << what;
        EXPECT_GT(result.reads, 0U) << what;
        // In store_buffering a race is an old word, which there need not be.
        if (litmus.shape != LitmusShape::store_buffering) {
          EXPECT_GT(result.raced, 0U) << what;
        }
      }
    }
  });
}

/// The opposite of the guaranteed order, slow enough to be observed by all PEs.
TEST(ShmemLitmus, DetectsTheWrongOrder) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Player player(pe);
    for (const Litmus& litmus : all_shapes) {
      const LitmusResult result = player.play(litmus, LitmusMistake::no_order, litmus.many);
      if (pe.pe() == 1) {
        EXPECT_GT(result.broken, 0U) << litmus.name;
      }
    }
  });
}

TEST(ShmemLitmus, ReportsMissingFences) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Player player(pe);
    for (const Litmus& litmus : all_shapes) {
      for (const LaunchShape shape : {litmus.many, litmus.one}) {
        const LitmusResult result = player.play(litmus, LitmusMistake::no_fence, shape);
        if (pe.pe() == 1) {
          report(std::string(litmus.name) + " without a fence x " + std::to_string(instances_of(litmus, shape)),
                 result);
        }
      }
    }
  });
}

/// get must not read what the multiprocessor's L1 cache holds of the other GPU's memory; and the shape would see it.
TEST(ShmemLitmus, GetByCachedLoadsReturnsStaleData) {
  if (!runs_on_gpus) GTEST_SKIP() << "host threads have no cache that stores do not reach";
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Player player(pe);
    const Litmus& litmus = all_shapes[4];
    ASSERT_EQ(litmus.shape, LitmusShape::fresh_get);
    for (const LaunchShape shape : {litmus.many, litmus.one}) {
      const LitmusResult result = player.play(litmus, LitmusMistake::cached, shape);
      if (pe.pe() == 1) {
        report("fresh_get by ordinary loads x " + std::to_string(instances_of(litmus, shape)), result);
        EXPECT_GT(result.broken, 0U);
      }
    }
  });
}

/// The CPU's stores through BAR1: by put_signal in even rounds, by put, fence and put in odd ones.
TEST(ShmemLitmus, GpuKernelReadsCpuDataPutBeforeTheSignal) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Player player(pe);
    player.clear();
    const std::uint32_t rounds = rounds_of(LitmusShape::put_signal, LitmusMistake::none, 1);
    if (pe.pe() == 1) {
      player.launch(all_shapes[0], LitmusMistake::none, {1, 128}, rounds);
      const LitmusResult result = player.finish();
      report("put by the cpu", result);
      EXPECT_EQ(result.broken, 0U);
      EXPECT_GT(result.raced, 0U);
    } else {
      std::uint64_t* const flag = player.words + flag_index;
      ASSERT_TRUE(pe.waits().wait_until({player.words + ready_index}, GDRKIT_SHMEM_EQ, 1));
      std::vector<std::uint64_t> data(piece_bytes / sizeof(std::uint64_t));
      for (std::uint64_t round = 1; round <= rounds; ++round) {
        std::fill(data.begin(), data.end(), round);
        if (round % 2 == 0) {
          ASSERT_TRUE(succeeded(pe.transfers().put_signal(player.target, data.data(), piece_bytes, flag, round,
                                                          GDRKIT_SHMEM_SIGNAL_SET, 1, false)));
        } else {
          ASSERT_TRUE(succeeded(pe.transfers().put(player.target, data.data(), piece_bytes, 1, false)));
          pe.transfers().fence();
          ASSERT_TRUE(succeeded(pe.transfers().put(flag, &round, sizeof round, 1, false)));
        }
      }
    }
    ASSERT_TRUE(succeeded(pe.barrier_all()));
  });
}

TEST(ShmemLitmus, CpuReadsGpuDataPutBeforeTheSignal) {
  run_shmem_job({}, [](shmem_impl::core::Pe& pe) {
    Player player(pe);
    player.clear();
    const std::uint32_t rounds = rounds_of(LitmusShape::put_signal, LitmusMistake::none, 1);
    if (pe.pe() == 0) {
      player.launch(all_shapes[0], LitmusMistake::none, {1, 128}, rounds);
      (void)player.finish();
    } else {
      const std::uint64_t one = 1;
      ASSERT_TRUE(succeeded(pe.transfers().put(player.words + ready_index, &one, sizeof one, 0, false)));
      std::vector<std::uint64_t> data(piece_bytes / sizeof(std::uint64_t));
      LitmusResult result{};
      for (std::uint64_t last = 0; last < rounds;) {
        const auto flag = pe.waits().load({player.words + flag_index});
        ASSERT_TRUE(flag) << flag.error().text();
        ++result.reads;
        if (*flag == last) continue;
        last = *flag;
        ++result.raced;
        ASSERT_TRUE(succeeded(pe.transfers().get(data.data(), player.target, piece_bytes, 1, false)));
        result.broken += *std::min_element(data.begin(), data.end()) < last ? 1 : 0;
      }
      report("put by the gpu, seen by the cpu", result);
      EXPECT_EQ(result.broken, 0U);
    }
    ASSERT_TRUE(succeeded(pe.barrier_all()));
  });
}

}  // namespace
}  // namespace gdrkit::shmem
