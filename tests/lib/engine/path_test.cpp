// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A mapping's copies through engines: the names, every size by the chooser, freed memory, and a fault in every call.
#include "engine/path.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "driver/emulated_memory.hpp"
#include "engine_machine.hpp"
#include "fakes/fault_injection.hpp"
#include "support/results.hpp"

namespace gdrkit::engine {
namespace {

constexpr std::size_t kibibyte = 1024;

class PathTest : public tests::EngineMachine {
 protected:
  std::unique_ptr<Engines> engines_on(const driver::CudaCalls* calls, const std::string& forced = "") {
    return std::make_unique<Engines>(*backend, forced, calls, fakes::patient_limits());
  }
  [[nodiscard]] Span span() const { return {buffer->address(), mapped, memory_bytes, copier}; }

  /// The same for reads that are all started before one is finished.
  std::string use_at_once(Path& path, std::initializer_list<std::size_t> sizes) {
    std::memset(host.data(), 0, host.size());
    std::vector<Path::Part> parts;
    std::size_t total = 0;
    for (const std::size_t size : sizes) {
      if (total + size > memory_bytes) break;
      parts.push_back(path.start(Direction::from_device, total, host.data() + total, size));
      total += size;
    }
    std::string wrong;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      (void)path.is_done(*part);
      if (base::Status done = path.finish(*part); !done) wrong = done.error().text();
    }
    if (wrong.empty() && std::memcmp(host.data(), bytes.data(), total) != 0) wrong = "started reads got wrong bytes";
    return wrong;
  }

  /// "" where reads and writes of these sizes moved the right bytes, else what was wrong.
  std::string use(Path& path, std::initializer_list<std::size_t> sizes) {
    for (const std::size_t size : sizes) {
      const std::size_t offset = memory_bytes - size;
      std::memset(host.data(), 0, size);
      if (base::Status done = path.copy(Direction::from_device, offset, host.data(), size); !done)
        return done.error().text();
      if (std::memcmp(host.data(), bytes.data() + offset, size) != 0) return "read wrong bytes";
      for (std::size_t at = 0; at < size; ++at) host[at] = static_cast<char>(~bytes[offset + at]);
      if (base::Status done = path.copy(Direction::to_device, offset, host.data(), size); !done)
        return done.error().text();
      std::memcpy(bytes.data() + offset, host.data(), size);
      std::memset(host.data(), 0, size);
      EXPECT_TRUE(tests::succeeded(buffer->copy_to_host(offset, host.data(), size)));
      if (std::memcmp(host.data(), bytes.data() + offset, size) != 0) return "wrote wrong bytes";
    }
    return use_at_once(path, sizes);
  }
};

TEST_F(PathTest, NameSelectsTheEngine) {
  const auto engines = engines_on(&fakes::emulated_cuda());
  for (const char* name : {"", "cpu"}) {
    const auto path = tests::value_or_throw(engines->open_path(span(), name));
    EXPECT_EQ(path, nullptr) << name;
  }
  for (const char* name : {"automatic", "lanes", "copy_engine", "mover"}) {
    const auto path = tests::value_or_throw(engines->open_path(span(), name));
    ASSERT_NE(path, nullptr) << name;
    EXPECT_EQ(use(*path, {1, 100, 4 * kibibyte, 5000}), "") << name;
  }
  const auto unknown = engines->open_path(span(), "abacus");
  ASSERT_TRUE(tests::failed(unknown, EINVAL));
  EXPECT_NE(std::strstr(unknown.error().text(), "automatic, cpu, lanes, copy_engine, mover"), nullptr);
}

TEST_F(PathTest, ForcedEngineAppliesUnlessAnotherIsNamed) {
  const auto engines = engines_on(&fakes::emulated_cuda(), "abacus");
  EXPECT_FALSE(engines->open_path(span(), ""));
  EXPECT_FALSE(engines->open_path(span(), "automatic"));
  EXPECT_TRUE(engines->open_path(span(), "copy_engine"));
}

TEST_F(PathTest, AutomaticCopiesOfEverySizeAreCorrect) {
  const auto engines = engines_on(&fakes::emulated_cuda());
  const auto path = tests::value_or_throw(engines->open_path(span(), "automatic"));
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(use(*path, {1, 3 * kibibyte, 3 * kibibyte + 1, 8 * kibibyte, 65537, 113 * kibibyte, 300 * kibibyte,
                          memory_bytes}),
              "");
  }
  // The same from and to memory that the GPU reaches.
  const auto gpu = tests::value_or_throw(Gpu::open(fakes::emulated_cuda(), 0));
  auto pinned = tests::value_or_throw(PinnedMemory::make(*gpu, memory_bytes));
  for (const std::size_t size : {5000ul, 200 * kibibyte, memory_bytes}) {
    ASSERT_TRUE(tests::succeeded(path->copy(Direction::from_device, 0, pinned.bytes(), size)));
    EXPECT_EQ(std::memcmp(pinned.bytes(), bytes.data(), size), 0) << size;
    ASSERT_TRUE(tests::succeeded(path->copy(Direction::to_device, 0, pinned.bytes(), size)));
  }
  EXPECT_EQ(std::memcmp(mapped, bytes.data(), memory_bytes), 0);
}

/// The target of the GPU's copies, in place of the requested memory.
std::atomic<const void*> last_target{nullptr};

driver::CudaCalls calls_that_record_targets() {
  driver::CudaCalls calls = fakes::emulated_cuda();
  calls.memcpy_device_to_host_async = [](void* target, std::uint64_t source, std::size_t size, void* stream) {
    last_target = target;
    return fakes::emulated_cuda().memcpy_device_to_host_async(target, source, size, stream);
  };
  return calls;
}

TEST_F(PathTest, NeverStagesPinnedMemoryWhicheverContextIsCurrent) {
  const driver::CudaCalls calls = calls_that_record_targets();
  const auto engines = engines_on(&calls);
  const auto path = tests::value_or_throw(engines->open_path(span(), "copy_engine"));
  const auto gpu = tests::value_or_throw(Gpu::open(calls, 0));
  auto pinned = tests::value_or_throw(PinnedMemory::make(*gpu, memory_bytes));
  const auto target_of_read = [&](std::size_t size) {
    EXPECT_TRUE(tests::succeeded(path->copy(Direction::from_device, 0, pinned.bytes(), size)));
    return last_target.load();
  };
  for (const std::size_t size : {64ul, 64 * kibibyte}) {
    EXPECT_EQ(target_of_read(size), pinned.bytes()) << "no context is current";
    const auto scope = gpu->enter();
    ASSERT_TRUE(scope);
    EXPECT_EQ(target_of_read(size), pinned.bytes()) << "the GPU's context is current";
  }
  ASSERT_TRUE(tests::succeeded(path->copy(Direction::from_device, 0, host.data(), 64 * kibibyte)));
  EXPECT_NE(last_target.load(), host.data()) << "ordinary memory is staged";
}

/// Number of queries of the driver about an address.
std::atomic<int> questions{0};

driver::CudaCalls calls_that_count_questions() {
  driver::CudaCalls calls = calls_that_record_targets();
  calls.pointer_get_attributes = [](unsigned count, int* numbers, void** targets, std::uint64_t address) {
    ++questions;
    return fakes::emulated_cuda().pointer_get_attributes(count, numbers, targets, address);
  };
  return calls;
}

std::atomic<int> path_launches{0};

driver::CudaCalls calls_that_count_launches() {
  driver::CudaCalls calls = calls_that_count_questions();
  calls.launch_kernel = [](auto... arguments) {
    ++path_launches;
    return fakes::emulated_cuda().launch_kernel(arguments...);
  };
  return calls;
}

class ShortCopies : public PathTest {
 protected:
  /// Reads once. Returns the number of queries of CUDA about an address; `path_launches` has the number of launches.
  int questions_of(Path& path, std::size_t size) {
    questions = 0;
    std::memset(host.data(), 0, size);
    EXPECT_TRUE(tests::succeeded(path.copy(Direction::from_device, 0, host.data(), size)));
    EXPECT_EQ(std::memcmp(host.data(), bytes.data(), size), 0);
    return questions.load();
  }
  void SetUp() override {
    PathTest::SetUp();
    path_launches = 0;
    limits.busy = std::chrono::seconds(1000);
    limits.idle = std::chrono::seconds(100);  // so long a copy counts as the next one
  }
  ResidenceLimits limits = fakes::patient_limits();
};

TEST_F(ShortCopies, CpuCopiesMakeNoQueriesWithoutAWarmEngine) {
  const driver::CudaCalls calls = calls_that_count_launches();
  Engines engines(*backend, "", &calls, limits);
  const auto path = tests::value_or_throw(engines.open_path(span(), "automatic"));
  EXPECT_EQ(questions_of(*path, 4096), 0);
  EXPECT_EQ(path_launches, 0);
  EXPECT_EQ(questions_of(*path, 4096), 2);
  EXPECT_EQ(path_launches, 1) << "the next one warms the mover up";
  EXPECT_EQ(questions_of(*path, 4096), 2) << "which has it then";
  EXPECT_EQ(path_launches, 1);
}

TEST_F(ShortCopies, MakeNoQueriesWithoutAFasterEngine) {
  driver::CudaCalls calls = calls_that_count_launches();
  calls.module_load_data = [](void**, const void*) { return 209; };  // CUDA_ERROR_NO_BINARY_FOR_GPU
  Engines engines(*backend, "", &calls, limits);
  const auto path = tests::value_or_throw(engines.open_path(span(), "automatic"));
  for (int round = 0; round < 3; ++round) EXPECT_EQ(questions_of(*path, 4096), 0) << "there is no mover";
  EXPECT_EQ(questions_of(*path, 64 * kibibyte), 2);
  EXPECT_EQ(path_launches, 0);
}

/// Larger copies keep the mover warm, for longer than a request does.
TEST_F(ShortCopies, UseAWarmEngineLongAfterTheLastRequest) {
  const driver::CudaCalls calls = calls_that_count_launches();
  limits.idle = std::chrono::seconds(2);
  Engines engines(*backend, "", &calls, limits);
  const auto path = tests::value_or_throw(engines.open_path(span(), "automatic"));
  for (int round = 0; round < 2; ++round) (void)questions_of(*path, 32 * kibibyte);
  ASSERT_EQ(path_launches, 1);
  for (int round = 0; round < 18; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    (void)questions_of(*path, 32 * kibibyte);
  }
  EXPECT_EQ(questions_of(*path, 4096), 2);
  EXPECT_EQ(path_launches, 1);
}

TEST_F(ShortCopies, StartedCopiesWarmTheMover) {
  const driver::CudaCalls calls = calls_that_count_launches();
  Engines engines(*backend, "", &calls, limits);
  const auto path = tests::value_or_throw(engines.open_path(span(), "automatic"));
  const auto read_later = [&] {
    Path::Part part = path->start(Direction::from_device, 0, host.data(), 32 * kibibyte);
    EXPECT_TRUE(tests::succeeded(path->finish(part)));
    EXPECT_EQ(std::memcmp(host.data(), bytes.data(), 32 * kibibyte), 0);
  };
  read_later();
  EXPECT_EQ(path_launches, 0);
  read_later();
  EXPECT_EQ(path_launches, 1);
}

/// The mover's limit is half of such a copy. It ends, in about every fifth round behind the first half, and does not
/// start again, as on a full GPU.
TEST_F(ShortCopies, DoNotWaitForAMoverThatEnded) {
  driver::CudaCalls calls = calls_that_count_launches();
  calls.launch_kernel = [](auto... arguments) {
    return ++path_launches > 1 ? 0 : fakes::emulated_cuda().launch_kernel(arguments...);
  };
  limits.busy = std::chrono::milliseconds(8);
  limits.start = std::chrono::seconds(10);
  for (int round = 0; round < 40; ++round) {
    path_launches = 0;
    Engines engines(*backend, "", &calls, limits);
    const auto path = tests::value_or_throw(engines.open_path(span(), "automatic"));
    const auto begin = std::chrono::steady_clock::now();
    while (path_launches < 2) (void)questions_of(*path, 128 * kibibyte);
    ASSERT_LT(std::chrono::steady_clock::now() - begin, limits.start) << "round " << round;
  }
}

TEST_F(ShortCopies, CpuCopiesOfOrdinaryMemoryDoNotQueryTheAllocation) {
  std::string directory = testing::TempDir() + "engine_path_test_XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const driver::CudaCalls calls = calls_that_count_launches();
  const auto file = tests::value_or_throw(Engines(*backend, "", &calls, limits, directory).profile_path(0));
  std::ofstream(file) << "gdrkit engines 1\nfrom_device pinned 0 copy_engine copy_engine\n"
                         "from_device ordinary 0 mover cpu\nto_device pinned 0 cpu cpu\nto_device ordinary 0 cpu cpu\n";
  Engines engines(*backend, "", &calls, limits, directory);
  const auto path = tests::value_or_throw(engines.open_path(span(), "automatic"));
  EXPECT_EQ(questions_of(*path, 4096), 1);
  ASSERT_TRUE(tests::succeeded(buffer->free()));
  EXPECT_EQ(questions_of(*path, 8192), 2) << "the pin keeps it for the CPU";
  EXPECT_EQ(path_launches, 0);
  std::filesystem::remove_all(directory);
}

TEST_F(PathTest, CachesThePinnedBufferOfTheLastCopy) {
  const driver::CudaCalls calls = calls_that_count_questions();
  const auto engines = engines_on(&calls);
  const auto path = tests::value_or_throw(engines->open_path(span(), "automatic"));
  const auto gpu = tests::value_or_throw(Gpu::open(calls, 0));
  const auto scope = gpu->enter();
  auto pinned = PinnedMemory::make(*gpu, 256 * kibibyte);
  ASSERT_TRUE(pinned) << pinned.error().text();
  const auto questions_of = [&](Direction direction, void* memory, std::size_t size) {
    questions = 0;
    EXPECT_TRUE(tests::succeeded(path->copy(direction, 0, memory, size)));
    return questions.load();
  };
  EXPECT_EQ(questions_of(Direction::from_device, pinned->bytes(), 64 * kibibyte), 3) << "the first of this buffer";
  EXPECT_EQ(questions_of(Direction::from_device, pinned->bytes() + 4096, 64 * kibibyte), 2);
  EXPECT_EQ(questions_of(Direction::from_device, host.data(), 64 * kibibyte), 2);
  EXPECT_EQ(questions_of(Direction::to_device, host.data(), 64 * kibibyte), 0) << "the CPU moves it";
  EXPECT_EQ(questions_of(Direction::to_device, host.data(), 200 * kibibyte), 0) << "CPUs move it";
  void* const first = pinned->bytes();
  pinned = PinnedMemory::make(*gpu, 256 * kibibyte);
  ASSERT_TRUE(pinned);
  EXPECT_EQ(questions_of(Direction::from_device, pinned->bytes(), 64 * kibibyte), 3)
      << (first == pinned->bytes() ? "the same place, another buffer" : "another buffer");
  EXPECT_EQ(std::memcmp(pinned->bytes(), bytes.data(), 64 * kibibyte), 0);
  ASSERT_TRUE(tests::succeeded(path->copy(Direction::from_device, 0, pinned->bytes() + 224 * kibibyte, 4096)));
  EXPECT_EQ(std::memcmp(pinned->bytes() + 224 * kibibyte, bytes.data(), 4096), 0);
}

int another_context = 0;  // its address is the context's name

/// As on another device, in whose context the device memory is; what was pinned before stays the first context's.
driver::CudaCalls calls_of_another_context() {
  driver::CudaCalls calls = calls_that_record_targets();
  calls.primary_ctx_retain = [](void** context, int device) {
    const int result = fakes::emulated_cuda().primary_ctx_retain(context, device);
    *context = &another_context;
    return result;
  };
  calls.pointer_get_attributes = [](unsigned count, int* numbers, void** targets, std::uint64_t address) {
    const int result = fakes::emulated_cuda().pointer_get_attributes(count, numbers, targets, address);
    const auto context = reinterpret_cast<std::uint64_t>(&another_context);
    for (unsigned at = 0; at < count; ++at) {
      if (numbers[at] == 1 && driver::emulated_find(address)) std::memcpy(targets[at], &context, sizeof context);
    }
    return result;
  };
  return calls;
}

TEST_F(PathTest, CachedPinnedMemoryIsOrdinaryInAnotherContext) {
  const driver::CudaCalls first = calls_that_record_targets();
  const driver::CudaCalls second = calls_of_another_context();
  const auto gpu = tests::value_or_throw(Gpu::open(first, 0));
  auto pinned = tests::value_or_throw(PinnedMemory::make(*gpu, memory_bytes));
  const auto is_staged = [&](const driver::CudaCalls& calls) {
    const auto engines = engines_on(&calls);
    const auto path = tests::value_or_throw(engines->open_path(span(), "copy_engine"));
    EXPECT_TRUE(tests::succeeded(path->copy(Direction::from_device, 0, pinned.bytes(), 64 * kibibyte)));
    return last_target.load() != pinned.bytes();
  };
  // The allocator gives the next engines the place of the last ones.
  for (int round = 0; round < 4; ++round) {
    EXPECT_FALSE(is_staged(first));
    EXPECT_TRUE(is_staged(second));
  }
}

/// A profile in which the CPU performs no copy, then the same profile damaged.
TEST_F(PathTest, ProfileInTheCacheDirectoryReplacesTheTable) {
  std::string directory = testing::TempDir() + "engine_path_test_XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const driver::CudaCalls calls = calls_that_record_targets();
  const auto new_engines = [&] {
    return std::make_unique<Engines>(*backend, "", &calls, fakes::patient_limits(), directory);
  };
  const auto file = tests::value_or_throw(new_engines()->profile_path(0));
  EXPECT_EQ(file.find(directory + "/engines-01234567"), 0u) << file;
  EXPECT_EQ(file.substr(file.size() - 6), "-13030");
  const std::string text =
      "gdrkit engines 1\nfrom_device pinned 0 copy_engine copy_engine\nfrom_device ordinary 0 copy_engine copy_engine\n"
      "to_device pinned 0 cpu cpu\nto_device ordinary 0 cpu cpu\n";
  for (const bool is_whole : {true, false}) {
    std::ofstream(file) << (is_whole ? text : text.substr(0, text.size() - 10));
    const auto engines = new_engines();
    const auto path = tests::value_or_throw(engines->open_path(span(), "automatic"));
    last_target = nullptr;
    EXPECT_EQ(use(*path, {100}), "");
    EXPECT_EQ(last_target != nullptr, is_whole);
  }
  std::filesystem::remove_all(directory);
}

/// Memory of no context, such as a peer's that was imported for device 1 alone.
std::atomic<int> last_retained{-1};

driver::CudaCalls calls_with_imported_memory() {
  driver::CudaCalls calls = fakes::emulated_cuda();
  calls.pointer_get_attributes = [](unsigned count, int* numbers, void** targets, std::uint64_t address) {
    const int result = fakes::emulated_cuda().pointer_get_attributes(count, numbers, targets, address);
    for (unsigned each = 0; each < count; ++each) {
      if (numbers[each] == 1) *static_cast<std::uint64_t*>(targets[each]) = 0;
    }
    return result;
  };
  calls.mem_get_access = [](unsigned long long* flags, const driver::CudaMemLocation* location, std::uint64_t) {
    constexpr int no_device = 101;  // CUDA_ERROR_INVALID_DEVICE
    if (location->id > 1) return no_device;
    return *flags = location->id == 1 ? driver::cuda_mem_access_read_write : 0, 0;
  };
  calls.primary_ctx_retain = [](void** context, int device) {
    last_retained = device;
    return fakes::emulated_cuda().primary_ctx_retain(context, device);
  };
  return calls;
}

TEST_F(PathTest, CopiesImportedMemoryByTheDeviceWithAccess) {
  const driver::CudaCalls calls = calls_with_imported_memory();
  const auto engines = engines_on(&calls);
  const auto path = tests::value_or_throw(engines->open_path(span(), "copy_engine"));
  EXPECT_EQ(last_retained, 1) << "and no context is made on the memory's own device";
  EXPECT_EQ(use(*path, {100, 5000}), "");
}

TEST_F(PathTest, UsesNoProfileWithoutADirectory) {
  EXPECT_TRUE(tests::failed(engines_on(&fakes::emulated_cuda())->profile_path(0), ENOENT));
}

TEST_F(PathTest, UsesTheCpuWithoutAGpuAndRejectsNamedEngines) {
  const auto engines = engines_on(nullptr);
  const auto automatic = tests::value_or_throw(engines->open_path(span(), "automatic"));
  EXPECT_EQ(automatic, nullptr);
  EXPECT_TRUE(tests::failed(engines->open_path(span(), "mover"), EOPNOTSUPP));
}

TEST_F(PathTest, NeverPassesFreedMemoryToTheGpu) {
  const auto engines = engines_on(&fakes::emulated_cuda());
  const auto automatic = engines->open_path(span(), "automatic");
  const auto forced = engines->open_path(span(), "copy_engine");
  ASSERT_TRUE(automatic && forced);
  ASSERT_TRUE(tests::succeeded(buffer->free()));
  EXPECT_TRUE(tests::failed((*forced)->copy(Direction::from_device, 0, host.data(), 64 * kibibyte), EINVAL));
  ASSERT_TRUE(tests::succeeded((*automatic)->copy(Direction::from_device, 0, host.data(), 64 * kibibyte)));
  EXPECT_EQ(std::memcmp(host.data(), bytes.data(), 64 * kibibyte), 0) << "the pin keeps it for the CPU";
}

TEST_F(PathTest, CpuCopiesMemoryOfOtherContextsOrWithoutAccess) {
  driver::CudaCalls calls = fakes::emulated_cuda();
  const auto gpu = tests::value_or_throw(Gpu::open(calls, 0));
  auto facts = tests::value_or_throw(pointer_facts(calls, buffer->address()));
  EXPECT_TRUE(tests::succeeded(gpu->check_access(buffer->address(), facts)));
  facts.context = 0;
  calls.mem_get_access = [](unsigned long long* flags, const driver::CudaMemLocation*, std::uint64_t) {
    return *flags = 0, 0;
  };
  EXPECT_FALSE(gpu->check_access(buffer->address(), facts));
  facts.context = gpu->context() + 1;
  EXPECT_FALSE(gpu->check_access(buffer->address(), facts));
}

#if defined(__SANITIZE_THREAD__)
constexpr int failing_call_step = 5;
#else
constexpr int failing_call_step = 1;
#endif

/// Each call fails once, at each step (with the thread sanitizer, each fifth call): the bytes are right or an error is
/// returned, and nothing leaks.
class PathFaults : public PathTest, public testing::WithParamInterface<const char*> {};

TEST_P(PathFaults, SurvivesAFailureOfEachCall) {
  const bool is_automatic = std::strcmp(GetParam(), "automatic") == 0;
  for (int number = 0; number < 2000; number += failing_call_step) {
    fakes::FaultPlan plan;
    plan.fail_call(number, {0, 0, 999});  // CUDA_ERROR_UNKNOWN
    const fakes::FaultyCuda faulty(fakes::emulated_cuda(), plan);
    {
      const auto engines = engines_on(&faulty.calls());
      const auto path = engines->open_path(span(), GetParam());
      EXPECT_TRUE(path || (!is_automatic && *path.error().text() != '\0'));
      if (path && *path != nullptr) {
        const std::string wrong = use(**path, {4 * kibibyte, 5 * kibibyte, 70 * kibibyte, 600 * kibibyte});
        if (is_automatic || !plan.was_reached()) {
          EXPECT_EQ(wrong, "") << number;
        }
        EXPECT_EQ(wrong.find("wrong bytes"), std::string::npos) << number;
        ASSERT_TRUE(tests::succeeded(buffer->copy_to_host(0, bytes.data(), bytes.size())));
      }
    }
    ASSERT_EQ(fakes::held_of_emulated_cuda(), held_before) << "call " << number << ", " << plan.failed_call();
    if (!plan.was_reached()) {
      EXPECT_GT(number, 20);
      return;
    }
  }
  FAIL() << "there is no end of calls";
}

INSTANTIATE_TEST_SUITE_P(All, PathFaults, testing::Values("automatic", "lanes", "copy_engine", "mover"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace gdrkit::engine
