// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Operations on streams: what they move, in which order, and what they refuse.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "platform/gpu_code/gate_params.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "support/device_access.hpp"
#include "support/place.hpp"
#include "support/results.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem_impl::stream {
namespace {

using tests::failed;
using tests::run_shmem_job;
using tests::succeeded;

constexpr std::size_t room = 1 << 20;

/// Symmetric objects, a stream of the PE's, and a gate that holds it until open().
class Streamed {
 public:
  explicit Streamed(core::Pe& pe) : pe_(pe), device_(const_cast<platform::Device&>(pe.device())) {
    target = tests::zeroed<char>(pe, room);
    source = tests::zeroed<char>(pe, room);
    word = tests::zeroed<std::uint64_t>(pe, 8);
    auto made = pe.streams().create();
    EXPECT_TRUE(made) << made.error().text();
    stream = *made;
    const platform::DeviceScope scope(device_);
    auto loaded = platform::GpuKernels::load<platform::GpuKernel::gate>(device_);
    EXPECT_TRUE(loaded) << loaded.error().text();
    gpu_kernels_.emplace(std::move(*loaded));
    auto words = device_.allocate(platform::AllocationKind::host, 64);
    EXPECT_TRUE(words) << words.error().text();
    words_ = std::move(*words);
  }
  ~Streamed() {
    EXPECT_TRUE(succeeded(pe_.streams().destroy(stream)));
    const platform::DeviceScope scope(device_);
    gpu_kernels_.reset();
    (void)words_.free();
  }
  Streamed(const Streamed&) = delete;
  Streamed& operator=(const Streamed&) = delete;

  void close() {
    const platform::DeviceScope scope(device_);
    std::atomic_ref(flag()).store(0);
    const auto address = device_.device_address(&flag());
    ASSERT_TRUE(address);
    const platform::GateParameters parameters{*address, *address + 32, 20'000'000'000};
    ASSERT_TRUE(succeeded(gpu_kernels_->launch(parameters, {1, 1}, {reinterpret_cast<std::uint64_t>(stream)})));
  }
  void open() { std::atomic_ref(flag()).store(1, std::memory_order_release); }
  void finish() { ASSERT_TRUE(succeeded(pe_.synchronize_stream(stream))); }

  [[nodiscard]] char* at(std::size_t offset) const { return static_cast<char*>(target) + offset; }
  [[nodiscard]] char* from(std::size_t offset) const { return static_cast<char*>(source) + offset; }

  void* target = nullptr;
  void* source = nullptr;
  std::uint64_t* word = nullptr;
  void* stream = nullptr;

 private:
  [[nodiscard]] std::uint32_t& flag() const { return *reinterpret_cast<std::uint32_t*>(words_.address()); }

  core::Pe& pe_;
  platform::Device& device_;
  std::optional<platform::GpuKernels> gpu_kernels_;
  platform::Allocation words_;
};

// Around the limits between GPU kernels and copies by the driver.
constexpr std::size_t sizes[] = {1, 2, 3, 7, 8, 9, 64, 1000, 1024, 1025, 8192, 65536, 65537, 300001};

TEST(ShmemStream, PutsCopyExactlyTheRange) {
  run_shmem_job({.n_pes = 3}, [](core::Pe& pe) {
    Streamed streamed(pe);
    const int next = (pe.pe() + 1) % 3;
    const int before = (pe.pe() + 2) % 3;
    const auto mine = tests::make_pattern(room, static_cast<unsigned>(pe.pe()) + 1);
    const auto theirs = tests::make_pattern(room, static_cast<unsigned>(before) + 1);
    ASSERT_TRUE(succeeded(pe.transfers().put(streamed.source, mine.data(), room, pe.pe(), false)));
    for (const bool from_heap : {false, true}) {
      for (void* const stream : {streamed.stream, static_cast<void*>(nullptr)}) {
        const std::vector<std::uint8_t> blank(room, 0xee);
        std::vector<std::uint8_t> expected = blank;
        ASSERT_TRUE(succeeded(pe.transfers().put(streamed.target, blank.data(), room, pe.pe(), false)));
        ASSERT_TRUE(succeeded(pe.barrier_all()));
        std::size_t at = 1;
        for (const std::size_t size : sizes) {
          const void* const source = from_heap ? static_cast<const void*>(streamed.from(at + 3)) : mine.data() + at + 3;
          ASSERT_TRUE(succeeded(pe.streams().put(streamed.at(at), source, size, next, stream))) << size;
          std::copy_n(theirs.begin() + static_cast<long>(at) + 3, size, expected.begin() + static_cast<long>(at));
          at += size + 5;
        }
        ASSERT_TRUE(succeeded(pe.streams().quiet(stream)));
        ASSERT_TRUE(succeeded(pe.synchronize_stream(stream)));
        ASSERT_TRUE(succeeded(pe.barrier_all()));
        EXPECT_EQ(tests::first_difference(tests::device_bytes(pe, streamed.target, room), expected), room)
            << (from_heap ? "from the heap" : "from host memory");
      }
    }
    ASSERT_TRUE(succeeded(pe.barrier_all()));
  });
}

TEST(ShmemStream, GetsCopyExactlyTheRange) {
  run_shmem_job({}, [](core::Pe& pe) {
    Streamed streamed(pe);
    const int other = 1 - pe.pe();
    const auto mine = tests::make_pattern(room, static_cast<unsigned>(pe.pe()) + 1);
    const auto theirs = tests::make_pattern(room, static_cast<unsigned>(other) + 1);
    ASSERT_TRUE(succeeded(pe.transfers().put(streamed.source, mine.data(), room, pe.pe(), false)));
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    std::vector<std::uint8_t> expected(room, 0);
    std::vector<std::uint8_t> on_host(room, 0);
    std::size_t at = 1;
    for (const std::size_t size : sizes) {
      for (void* const target : {static_cast<void*>(streamed.at(at)), static_cast<void*>(on_host.data() + at)}) {
        ASSERT_TRUE(succeeded(pe.streams().get(target, streamed.from(at + 3), size, other, streamed.stream))) << size;
      }
      std::copy_n(theirs.begin() + static_cast<long>(at) + 3, size, expected.begin() + static_cast<long>(at));
      at += size + 5;
    }
    streamed.finish();
    EXPECT_EQ(tests::first_difference(tests::device_bytes(pe, streamed.target, room), expected), room);
    EXPECT_EQ(tests::first_difference(on_host, expected), room);
    ASSERT_TRUE(succeeded(pe.barrier_all()));
  });
}

TEST(ShmemStream, OperationsWaitForEarlierWorkOnTheStream) {
  run_shmem_job({.n_pes = 1}, [](core::Pe& pe) {
    Streamed streamed(pe);
    const std::uint64_t value = 7;
    ASSERT_NO_FATAL_FAILURE(streamed.close());
    ASSERT_TRUE(succeeded(pe.streams().put_value(streamed.target, &value, 8, 0, streamed.stream)));
    ASSERT_TRUE(succeeded(pe.streams().put(streamed.at(8), streamed.target, 8, 0, streamed.stream)));
    ASSERT_TRUE(succeeded(pe.streams().get(streamed.at(16), streamed.at(8), 8, 0, streamed.stream)));
    ASSERT_TRUE(succeeded(pe.streams().signal(streamed.word, 3, GDRKIT_SHMEM_SIGNAL_ADD, 0, streamed.stream)));
    ASSERT_TRUE(succeeded(pe.streams().put(streamed.at(24), streamed.word, 8, 0, streamed.stream)));
    std::uint64_t seen[4] = {1, 1, 1, 1};
    ASSERT_TRUE(succeeded(pe.transfers().get(seen, streamed.target, sizeof seen, 0, false)));
    for (const std::uint64_t one : seen) EXPECT_EQ(one, 0U);
    streamed.open();
    ASSERT_NO_FATAL_FAILURE(streamed.finish());
    ASSERT_TRUE(succeeded(pe.transfers().get(seen, streamed.target, sizeof seen, 0, false)));
    EXPECT_EQ(seen[0], 7U);
    EXPECT_EQ(seen[1], 7U) << "not after the put before it";
    EXPECT_EQ(seen[2], 7U) << "not after the put before it";
    EXPECT_EQ(seen[3], 3U) << "not after the signal before it";
  });
}

/// A PE that observes the signal observes the data, with every engine; a waiting stream delays its later work.
TEST(ShmemStream, SignalsArriveAfterTheirData) {
  if (const auto gpus = platform::cuda_device_count(); tests::is_gpu_place() && gpus && *gpus == 1) {
    // PEs that are threads share a context then, and the waits in their streams end at the limits only.
    GTEST_SKIP() << "needs a GPU for each PE: the PEs of this test are threads of one process";
  }
  run_shmem_job({}, [](core::Pe& pe) {
    Streamed streamed(pe);
    const int other = 1 - pe.pe();
    std::uint64_t round = 0;
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{8}, std::size_t{1000}, std::size_t{60000}, std::size_t{200000}}) {
      for (int repeat = 0; repeat < 40; ++repeat) {
        ++round;
        const bool from_heap = repeat % 2 == 0;
        const std::vector<std::uint8_t> data(size, static_cast<std::uint8_t>(round));
        if (from_heap) {
          ASSERT_TRUE(succeeded(pe.transfers().put(streamed.source, data.data(), size, pe.pe(), false)));
          ASSERT_TRUE(succeeded(pe.quiet()));
        }
        const bool adds = repeat % 3 == 0;
        ASSERT_TRUE(succeeded(pe.streams().put_signal(
            streamed.target, from_heap ? streamed.source : data.data(), size, streamed.word, adds ? 1 : round,
            adds ? GDRKIT_SHMEM_SIGNAL_ADD : GDRKIT_SHMEM_SIGNAL_SET, other, streamed.stream)));
        ASSERT_TRUE(succeeded(pe.streams().wait({streamed.word, 8, false}, GDRKIT_SHMEM_GE, round, streamed.stream)));
        std::vector<std::uint8_t> got(size);
        ASSERT_TRUE(succeeded(pe.streams().get(got.data(), streamed.target, size, pe.pe(), streamed.stream)));
        ASSERT_NO_FATAL_FAILURE(streamed.finish());
        ASSERT_EQ(got, data) << size << " bytes, round " << round;
        ASSERT_TRUE(succeeded(pe.barrier_all()));
      }
    }
  });
}

TEST(ShmemStream, AWaitTimesOutAndTheNextCallReportsIt) {
  run_shmem_job({}, [](core::Pe& pe) {
    Streamed streamed(pe);
    const std::uint64_t value = 5;
    pe.set_limit(std::chrono::milliseconds(50));
    if (pe.pe() == 0) {
      ASSERT_TRUE(succeeded(pe.streams().wait({streamed.word, 8, false}, GDRKIT_SHMEM_EQ, 1, streamed.stream)));
      ASSERT_TRUE(succeeded(pe.streams().put_value(streamed.target, &value, 8, 0, streamed.stream)));
      EXPECT_TRUE(failed(pe.synchronize_stream(streamed.stream), ETIMEDOUT,
                         testing::HasSubstr("timed out while waiting for the word at 0x")));
      EXPECT_TRUE(succeeded(pe.synchronize_stream(streamed.stream))) << "reported twice";
    }
    pe.set_limit(std::chrono::milliseconds(30000));
    EXPECT_TRUE(succeeded(pe.barrier_all())) << "a wait of another PE, or one that was reported";
    // The stream went on.
    std::uint64_t seen = 0;
    ASSERT_TRUE(succeeded(pe.transfers().get(&seen, streamed.target, 8, 0, false)));
    EXPECT_EQ(seen, 5U);
    ASSERT_TRUE(succeeded(pe.sync_all()));
  });
}

TEST(ShmemStream, RejectsInvalidArgumentsWithoutWriting) {
  run_shmem_job({}, [](core::Pe& pe) {
    Streamed streamed(pe);
    const int other = 1 - pe.pe();
    std::vector<std::uint8_t> bytes(room, 0x77);
    char local[8] = {};
    void* const stream = streamed.stream;
    const auto set = GDRKIT_SHMEM_SIGNAL_SET;
    parts::Streams& on = pe.streams();
    const struct {
      const char* text;
      base::Status status;
    } wrongs[] = {
        {"PE 2 is out of range", on.put(streamed.target, bytes.data(), 8, 2, stream)},
        {"PE -1 is out of range", on.get(bytes.data(), streamed.source, 8, -1, stream)},
        {"symmetric heap", on.put(local, bytes.data(), 8, other, stream)},
        {"symmetric heap", on.get(bytes.data(), local, 8, other, stream)},
        {"exceeds the symmetric allocation", on.put(streamed.at(room - 4), bytes.data(), 8, other, stream)},
        {"exceeds the symmetric allocation", on.put(streamed.target, streamed.from(room - 4), 8, other, stream)},
        {"exceeds the symmetric allocation", on.get(streamed.at(room - 4), streamed.source, 8, other, stream)},
        {"NULL", on.put(streamed.target, nullptr, 8, other, stream)},
        {"NULL", on.get(nullptr, streamed.source, 8, other, stream)},
        {"NULL", on.put_value(streamed.target, nullptr, 8, other, stream)},
        {"limit is 1024 bytes", on.put_value(streamed.target, bytes.data(), 1025, other, stream)},
        {"cannot send a signal to 0x",
         on.put_signal(streamed.target, bytes.data(), 8, streamed.at(4), 1, set, other, stream)},
        {"symmetric heap", on.put_signal(streamed.target, bytes.data(), 8, bytes.data(), 1, set, other, stream)},
        {"PE 2 is out of range", on.signal(streamed.word, 1, set, 2, stream)},
        {"not a multiple of 4 bytes", on.wait({streamed.at(2), 4, false}, GDRKIT_SHMEM_EQ, 1, stream)},
        {"symmetric heap", on.wait({local, 8, false}, GDRKIT_SHMEM_EQ, 1, stream)},
    };
    for (const auto& wrong : wrongs)
      EXPECT_TRUE(failed(wrong.status, EINVAL, testing::HasSubstr(wrong.text))) << wrong.text;
    ASSERT_NO_FATAL_FAILURE(streamed.finish());
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    EXPECT_EQ(tests::device_bytes(pe, streamed.target, room), std::vector<std::uint8_t>(room, 0));
    EXPECT_EQ(tests::device_bytes(pe, streamed.word, 64), std::vector<std::uint8_t>(64, 0));
    ASSERT_TRUE(succeeded(pe.sync_all()));
  });
}

TEST(ShmemStream, RejectsAnInvalidStream) {
  if (tests::is_gpu_place()) GTEST_SKIP() << "a wrong stream is undefined behaviour there";
  run_shmem_job({.n_pes = 1}, [](core::Pe& pe) {
    Streamed streamed(pe);
    auto* const nowhere = reinterpret_cast<void*>(std::uintptr_t{9999});
    EXPECT_FALSE(pe.streams().put(streamed.target, streamed.source, 8, 0, nowhere));
    EXPECT_FALSE(pe.streams().put(streamed.target, streamed.source, 200000, 0, nowhere));
    EXPECT_FALSE(pe.streams().signal(streamed.word, 1, GDRKIT_SHMEM_SIGNAL_SET, 0, nowhere));
    EXPECT_FALSE(pe.synchronize_stream(nowhere));
  });
}

}  // namespace
}  // namespace gdrkit::shmem_impl::stream
