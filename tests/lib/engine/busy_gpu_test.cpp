// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copies through every engine on a GPU that other work fills: they take longer, but none fails.
#include "fakes/busy_gpu.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstring>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "engine/device_engines.hpp"
#include "engine/mover/mover_code.hpp"
#include "engine/path.hpp"
#include "engine_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::engine {
namespace {

using namespace std::chrono_literals;
using fakes::BusyGpu;
using fakes::Work;

std::chrono::nanoseconds cpu_time_of_this_thread() {
  timespec time{};
  EXPECT_EQ(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time), 0);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

constexpr Work works[] = {
    {"ThreeLaunchesLackResources", [](BusyGpu& busy) { busy.refused_launches = 3; }},
    {"NoLaunchHasMemory", [](BusyGpu& busy) { busy.refused_launches = INT_MAX, busy.refusal = 2; }},
    {"LaunchesStart20msLate", [](BusyGpu& busy) { busy.late_launches = INT_MAX, busy.delay = 20ms; }},
    {"ALaunchStarts500msLate", [](BusyGpu& busy) { busy.late_launches = 1, busy.delay = 500ms; }},
    {"LaunchesAreSuspendedFor100ms", [](BusyGpu& busy) { busy.suspended_launches = 3, busy.delay = 100ms; }},
    {"SuspendedLaunchesEndWithoutACopy",
     [](BusyGpu& busy) { busy.suspended_launches = INT_MAX, busy.ends_when_resumed = true, busy.delay = 20ms; }},
    {"CopiesAreLate", [](BusyGpu& busy) { busy.late_copies = 10, busy.delay = 100ms; }},
};

/// With the limits of a program: the threads that emulate the GPU keep them only while CPUs are idle.
class OnABusyGpu : public tests::EngineMachine {
 protected:
  void SetUp() override {
    fakes::busy_gpu().reset();
    EngineMachine::SetUp();
  }
  void release() override {
    path.reset();
    engines.reset();
  }
  void open(const char* engine, const ResidenceLimits& limits = {}) {
    engines = std::make_unique<Engines>(*backend, "", &fakes::busy_emulated_cuda(), limits);
    path = tests::value_or_throw(engines->open_path({buffer->address(), mapped, memory_bytes, copier}, engine));
  }
  void read(std::size_t offset, std::size_t size) {
    std::memset(host.data(), 0, size);
    ASSERT_TRUE(tests::succeeded(path->copy(Direction::from_device, offset, host.data(), size)));
    ASSERT_EQ(std::memcmp(host.data(), bytes.data() + offset, size), 0);
  }
  void write(std::size_t offset, std::size_t size) {
    for (std::size_t at = 0; at < size; ++at) bytes[offset + at] = static_cast<char>(~bytes[offset + at]);
    std::memcpy(host.data(), bytes.data() + offset, size);
    ASSERT_TRUE(tests::succeeded(path->copy(Direction::to_device, offset, host.data(), size)));
  }
  std::vector<Path::Part> start_all(Direction direction, std::size_t count, std::size_t size) {
    std::vector<Path::Part> parts;
    for (std::size_t at = 0; at < count * size; at += size) {
      parts.push_back(path->start(direction, at, host.data() + at, size));
    }
    return parts;
  }
  /// Starts all before it finishes one: more than any engine of a GPU accepts at once.
  void read_later(std::size_t count, std::size_t size) {
    std::memset(host.data(), 0, count * size);
    auto parts = start_all(Direction::from_device, count, size);
    for (Path::Part& part : parts) {
      (void)path->is_done(part);
      EXPECT_TRUE(tests::succeeded(path->finish(part)));
    }
    EXPECT_EQ(std::memcmp(host.data(), bytes.data(), count * size), 0);
  }
  void write_later(std::size_t count, std::size_t size) {
    for (std::size_t at = 0; at < count * size; ++at) bytes[at] = static_cast<char>(bytes[at] + 1);
    std::memcpy(host.data(), bytes.data(), count * size);
    auto parts = start_all(Direction::to_device, count, size);
    for (Path::Part& part : parts) EXPECT_TRUE(tests::succeeded(path->finish(part)));
  }
  void expect_device_holds_the_bytes() {
    std::vector<char> there(memory_bytes);
    ASSERT_TRUE(tests::succeeded(buffer->copy_to_host(0, there.data(), there.size())));
    EXPECT_EQ(std::memcmp(there.data(), bytes.data(), there.size()), 0);
  }

  std::unique_ptr<Engines> engines;
  std::unique_ptr<Path> path;
};

class EveryEngine : public OnABusyGpu, public testing::WithParamInterface<std::tuple<const char*, Work>> {};

/// With the thread sanitizer, where a round takes seconds, one: its copies suffice for all faults and for the copies
/// after them.
#if defined(__SANITIZE_THREAD__)
constexpr int rounds = 1;
#else
constexpr int rounds = 3;
#endif

TEST_P(EveryEngine, CopiesCorrectlyOnABusyGpu) {
  const auto& [engine, work] = GetParam();
  ASSERT_NO_FATAL_FAILURE(open(engine));
  work.begin(fakes::busy_gpu());
  for (int round = 0; round < rounds; ++round) {
    ASSERT_NO_FATAL_FAILURE(read(4096, 5000));
    ASSERT_NO_FATAL_FAILURE(write(8192, 200'000));  // in pieces by the mover
    ASSERT_NO_FATAL_FAILURE(read(100, 600'000));
    read_later(24, 20'000);
    write_later(24, 20'000);
    expect_device_holds_the_bytes();
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryEngine,
                         testing::Combine(testing::Values("automatic", "lanes", "copy_engine", "mover"),
                                          testing::ValuesIn(works)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)) + "_" + std::get<1>(test.param).name;
                         });

/// A delay of more than 5 s: a GPU kernel of another process may run so long.
TEST_F(OnABusyGpu, ACommandIsWaitedForForSeconds) {
  ASSERT_NO_FATAL_FAILURE(open("mover"));
  fakes::busy_gpu().delay = 6s;
  auto longest = std::chrono::steady_clock::duration::zero();
  // Repeats if the thread that emulates the GPU ran late: the start then waits for the suspended launch itself, or
  // fails.
  const auto deadline = std::chrono::steady_clock::now() + 40s;
  while (longest <= 5s && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(20ms);  // until the previous launch has ended, and a failed start may be repeated
    fakes::busy_gpu().suspended_launches = 1;
    Path::Part part = path->start(Direction::from_device, 0, host.data(), 5000);
    const bool is_started = part.started.has_value();
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(tests::succeeded(path->finish(part)));
    if (is_started) longest = std::max(longest, std::chrono::steady_clock::now() - begin);
    EXPECT_EQ(std::memcmp(host.data(), bytes.data(), 5000), 0);
  }
  EXPECT_GT(longest, 5s);
  EXPECT_GE(ResidenceLimits().end, 30s);
}

/// The first launch executes three commands and ends; the second one finds no resources.
int launch_that_does_three(void*, unsigned blocks, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           void* stream, void** list, void**) {
  if (++fakes::busy_gpu().launches > 1) return fakes::busy_gpu().refusal;
  mover::Parameters parameters;
  std::memcpy(&parameters, list[0], sizeof parameters);
  fakes::enqueue_in_stream(stream, [=] {
    std::uint32_t done = parameters.first_tag - 1;
    const auto report = [&](bool has_ended) {
      for (unsigned block = 0; block < blocks; ++block) {
        auto* const word = reinterpret_cast<std::uint64_t*>(parameters.status) + block;
        std::atomic_ref(*word).store(mover::Status{done, parameters.launch, has_ended}.word());
      }
    };
    report(false);
    for (int command = 0; command < 3; ++command) {
      const auto tag = std::atomic_ref(*reinterpret_cast<std::uint32_t*>(parameters.status + mover::last_tag_offset));
      while (tag.load() != done + 1) std::this_thread::yield();
      mover::Pieces pieces{};
      do {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        std::memcpy(&pieces, reinterpret_cast<mover::Line*>(parameters.lines) + (done + 1) % mover::ring_lines, 32);
      } while (!pieces.are_of(done + 1));
      const mover::Command copy = pieces.command();
      std::memcpy(reinterpret_cast<void*>(copy.target), reinterpret_cast<void*>(copy.source), copy.size_bytes);
      ++done;
      report(command == 2);
    }
  });
  return 0;
}

TEST_F(OnABusyGpu, DoesNotRepeatCompletedPieces) {
  driver::CudaCalls calls = fakes::emulated_cuda();
  calls.launch_kernel = &launch_that_does_three;
  auto gpu = tests::value_or_throw(Gpu::open(calls, 0));
  const auto made = tests::value_or_throw(DeviceEngines::open(*backend, std::move(gpu), fakes::patient_limits()));
  ASSERT_TRUE(tests::succeeded(made->need(Id::mover)));
  Copy left{.device = buffer->address(),
            .mapped = mapped,
            .host = host.data(),
            .size_bytes = memory_bytes,
            .copier = &copier};
  const base::Status moved = made->run(Id::mover, left);
  ASSERT_FALSE(moved);
  EXPECT_TRUE(is_shortage(moved)) << moved.error().text();
  constexpr std::size_t piece = 65536;
  ASSERT_EQ(left.size_bytes, memory_bytes - 3 * piece);
  std::memset(host.data(), 0x5a, 3 * piece);
  ASSERT_TRUE(tests::succeeded(made->run(Id::cpu, left)));
  EXPECT_EQ(std::count(host.begin(), host.begin() + 3 * piece, 0x5a), static_cast<long>(3 * piece));
  EXPECT_EQ(std::memcmp(host.data() + 3 * piece, bytes.data() + 3 * piece, memory_bytes - 3 * piece), 0);
}

/// Copies that the caller has started cannot end while it waits for them. A wait polls for 50 ms; other processes may
/// delay this thread for as long, but then it does not run. Patient limits: a launch that starts late, as on busy CPUs,
/// is waited for, too.
TEST_F(OnABusyGpu, StartBeyondTheEngineLimitDoesNotBlock) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "with the thread sanitizer the copies themselves take longer than the wait that this test excludes";
#endif
  for (const char* engine : {"lanes", "copy_engine", "mover"}) {
    auto shortest = std::chrono::nanoseconds::max();
    for (int attempt = 0; attempt < 20 && shortest >= 25ms; ++attempt) {
      ASSERT_NO_FATAL_FAILURE(open(engine, fakes::patient_limits()));
      const std::chrono::nanoseconds begin = cpu_time_of_this_thread();
      auto parts = start_all(Direction::from_device, 24, 20'000);
      shortest = std::min(shortest, cpu_time_of_this_thread() - begin);
      for (Path::Part& part : parts) ASSERT_TRUE(tests::succeeded(path->finish(part)));
      EXPECT_EQ(std::memcmp(host.data(), bytes.data(), 24 * 20'000), 0);
    }
    EXPECT_LT(shortest, 25ms) << engine;
  }
}

TEST_F(OnABusyGpu, BoundsTheDelayOnAFullGpu) {
  ASSERT_NO_FATAL_FAILURE(open("mover"));
  fakes::busy_gpu().late_launches = INT_MAX;
  fakes::busy_gpu().delay = 5s;
  const auto begin = std::chrono::steady_clock::now();
  for (int copy = 0; copy < 1000; ++copy) ASSERT_NO_FATAL_FAILURE(read(0, 5000));
  const auto elapsed = std::chrono::steady_clock::now() - begin;
  // A wait of 50 ms before each copy would take 50 s.
  EXPECT_LT(elapsed, 25s) << "the engine is not waited for before each copy";
  // A launch ends after its delay; a slow machine copies for longer than that.
  EXPECT_GE(fakes::busy_gpu().launches, 1);
  EXPECT_LE(fakes::busy_gpu().launches, 1 + elapsed / 5s);
}

TEST_F(OnABusyGpu, NamedEngineResumesOnceTheGpuHasRoom) {
  ASSERT_NO_FATAL_FAILURE(open("mover"));
  fakes::busy_gpu().refused_launches = INT_MAX;
  ASSERT_NO_FATAL_FAILURE(read(0, 5000));
  const int before = fakes::busy_gpu().launches;
  EXPECT_GT(before, 0);
  fakes::busy_gpu().refused_launches = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (fakes::busy_gpu().launches == before && std::chrono::steady_clock::now() - begin < 10s) {
    ASSERT_NO_FATAL_FAILURE(read(0, 5000));
  }
  EXPECT_GT(fakes::busy_gpu().launches, before);
}

}  // namespace
}  // namespace gdrkit::engine
