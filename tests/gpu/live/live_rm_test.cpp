// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Properties that require a real GPU: pins while GPU kernels spin, during stream capture, from threads without a
// context, and cleanup after killed processes.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "driver/cuda_calls.hpp"
#include "gdrkit/gdrkit.h"
#include "more_calls.hpp"
#include "spin_kernel.hpp"
#include "support/requirements.hpp"

namespace gdrkit::live {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t mib = std::size_t{1} << 20;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Opens the rm backend without CUDA. Skips if there is no GPU.
class LiveRm : public testing::Test {
 protected:
  void SetUp() override {
    gdrkit_open_options options{};
    options.struct_size = sizeof options;
    options.backend = "rm";
    if (gdrkit_open(&options, &context_) != 0) {
      GDRKIT_SKIP_OR_FAIL("gpu", std::string("no GPU: ") + gdrkit_last_error());
    }
  }
  void TearDown() override {
    if (context_.value != 0) {
      EXPECT_EQ(gdrkit_close(context_), 0) << gdrkit_last_error();
    }
  }

  static const driver::CudaCalls& cuda() { return *driver::cuda_calls().value(); }
  static const MoreCalls& more() {
    static const MoreCalls calls;
    return calls;
  }
  void start_cuda() {
    ASSERT_EQ(cuda().init(0), 0);
    void* primary = nullptr;
    ASSERT_EQ(cuda().primary_ctx_retain(&primary, 0), 0);
    ASSERT_EQ(cuda().ctx_set_current(primary), 0);
  }
  std::uint64_t allocate(std::size_t size) {
    std::uint64_t address = 0;
    EXPECT_EQ(cuda().mem_alloc(&address, size), 0);
    return address;
  }
  /// Pins and maps. Returns the CPU address of the first byte.
  void* map(std::uint64_t address, std::size_t size, gdrkit_pin_t* pin) {
    void* mapped = nullptr;
    EXPECT_EQ(gdrkit_pin(context_, address, size, pin), 0) << gdrkit_last_error();
    EXPECT_EQ(gdrkit_map(*pin, nullptr, &mapped), 0) << gdrkit_last_error();
    return mapped;
  }
  /// Starts the spinning GPU kernel on every multiprocessor of device 0; bound in seconds.
  void launch_spin(void* stream, std::uint64_t word, unsigned stop, unsigned bound_s, std::uint64_t seen) {
    void *module = nullptr, *function = nullptr;
    ASSERT_EQ(cuda().module_load_data(&module, spin_kernel_ptx), 0);
    ASSERT_EQ(cuda().module_get_function(&function, module, "spin"), 0);
    int multiprocessors = 0;
    constexpr int attribute_multiprocessor_count = 16;
    ASSERT_EQ(cuda().device_get_attribute(&multiprocessors, attribute_multiprocessor_count, 0), 0);
    unsigned long long limit_ns = bound_s * 1'000'000'000ull;
    void* parameters[] = {&word, &stop, &limit_ns, &seen};
    const auto blocks = static_cast<unsigned>(multiprocessors);
    ASSERT_EQ(cuda().launch_kernel(function, blocks, 1, 1, 1024, 1, 1, 0, stream, parameters, nullptr), 0);
  }

  gdrkit_context_t context_{};
};

TEST_F(LiveRm, OpeningCreatesNoCudaContext) {
  ASSERT_EQ(cuda().init(0), 0);
  unsigned flags = 0;
  int active = -1;
  ASSERT_EQ(cuda().primary_ctx_get_state(0, &flags, &active), 0);
  EXPECT_EQ(active, 0);
}

TEST_F(LiveRm, PinsAndMapsWhileAGpuKernelSpinsOnThisMemory) {
  start_cuda();
  const std::uint64_t buffer = allocate(4 * mib);
  void* stream = nullptr;
  ASSERT_EQ(cuda().stream_create(&stream, 1), 0);
  ASSERT_EQ(more().cuMemsetD32Async(buffer, 0, mib, stream), 0);
  ASSERT_EQ(cuda().stream_synchronize(stream), 0);
  launch_spin(stream, buffer, 77, 5, buffer + mib);
  const auto start = Clock::now();
  gdrkit_pin_t pin{};
  ASSERT_NE(map(buffer, 4 * mib, &pin), nullptr);
  const double mapped_after = seconds_since(start);
  EXPECT_NE(cuda().stream_query(stream), 0) << "the GPU kernel stopped spinning";
  const unsigned stop = 77;
  EXPECT_EQ(gdrkit_write(pin, 0, &stop, sizeof stop), 0);
  ASSERT_EQ(cuda().stream_synchronize(stream), 0);
  EXPECT_LT(seconds_since(start), 4.0) << "the bound ended the spin, not the write through the mapping";
  EXPECT_LT(mapped_after, 1.0);
  unsigned seen = 0;
  EXPECT_EQ(gdrkit_read(pin, mib, &seen, sizeof seen), 0);
  EXPECT_EQ(seen, 1u);
  EXPECT_EQ(gdrkit_unpin(pin), 0);
  cuda().mem_free(buffer);
  cuda().stream_destroy(stream);
}

TEST_F(LiveRm, CaptureStaysValidAcrossPinAndMap) {
  start_cuda();
  const std::uint64_t buffer = allocate(2 * mib);
  for (const int mode : {0, 1, 2}) {
    void *stream = nullptr, *graph = nullptr;
    ASSERT_EQ(cuda().stream_create(&stream, 0), 0);
    ASSERT_EQ(more().cuStreamBeginCapture_v2(stream, mode), 0);
    ASSERT_EQ(more().cuMemsetD32Async(buffer, 5, 16, stream), 0);
    gdrkit_pin_t pin{};
    EXPECT_NE(map(buffer, 2 * mib, &pin), nullptr) << "capture mode " << mode;
    EXPECT_EQ(more().cuStreamEndCapture(stream, &graph), 0) << "capture mode " << mode;
    std::size_t nodes = 0;
    ASSERT_NE(graph, nullptr);
    EXPECT_EQ(more().cuGraphGetNodes(graph, nullptr, &nodes), 0);
    EXPECT_EQ(nodes, 1u) << "our calls added nodes to the graph";
    EXPECT_EQ(gdrkit_unpin(pin), 0);
    more().cuGraphDestroy(graph);
    cuda().stream_destroy(stream);
  }
  cuda().mem_free(buffer);
}

TEST_F(LiveRm, PinsOnAThreadWithoutCreatingAContext) {
  start_cuda();
  const std::uint64_t buffer = allocate(2 * mib);
  std::thread([&] {
    void* current = nullptr;
    gdrkit_pin_t pin{};
    EXPECT_NE(map(buffer, 2 * mib, &pin), nullptr);
    EXPECT_EQ(cuda().ctx_get_current(&current), 0);
    EXPECT_EQ(current, nullptr);
    EXPECT_EQ(gdrkit_unpin(pin), 0);
  }).join();
  cuda().mem_free(buffer);
}

TEST_F(LiveRm, FreedMemoryStaysAllocatedUntilUnpin) {
  start_cuda();
  constexpr std::size_t size = 1024 * mib;
  const std::uint64_t buffer = allocate(size);
  gdrkit_pin_t pin{};
  auto* words = static_cast<volatile unsigned*>(map(buffer, size, &pin));
  ASSERT_NE(words, nullptr);
  words[3] = 0x600dda7a;
  std::size_t free_before = 0, free_after = 0, total = 0;
  ASSERT_EQ(cuda().mem_free(buffer), 0);
  ASSERT_EQ(cuda().mem_get_info(&free_before, &total), 0);
  EXPECT_EQ(words[3], 0x600dda7au);
  EXPECT_EQ(gdrkit_unpin(pin), 0);
  ASSERT_EQ(cuda().mem_get_info(&free_after, &total), 0);
  EXPECT_GE(free_after, free_before + size / 2) << "the memory did not return to the device after unpin";
}

TEST_F(LiveRm, KilledProcessLeaksNoDeviceMemory) {
  constexpr std::size_t size = 8192 * mib;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  // The child is forked before this process uses CUDA, which does not survive a fork.
  const pid_t child = fork();
  if (child == 0) {
    const driver::CudaCalls& driver = *driver::cuda_calls().value();
    void *primary = nullptr, *mapped = nullptr;
    std::uint64_t buffer = 0;
    gdrkit_context_t context{};
    gdrkit_pin_t pin{};
    const bool is_mapped = driver.init(0) == 0 && driver.primary_ctx_retain(&primary, 0) == 0 &&
                           driver.ctx_set_current(primary) == 0 && driver.mem_alloc(&buffer, size) == 0 &&
                           gdrkit_open(nullptr, &context) == 0 && gdrkit_pin(context, buffer, size, &pin) == 0 &&
                           gdrkit_map(pin, nullptr, &mapped) == 0 && driver.mem_free(buffer) == 0;
    const char reply = is_mapped ? 'y' : 'n';
    if (write(ready[1], &reply, 1) != 1) _exit(1);
    for (;;) pause();
  }
  char reply = 'n';
  ASSERT_EQ(read(ready[0], &reply, 1), 1);
  EXPECT_EQ(reply, 'y');
  start_cuda();
  std::size_t while_alive = 0, afterwards = 0, total = 0;
  ASSERT_EQ(cuda().mem_get_info(&while_alive, &total), 0);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  for (int tries = 0; tries < 100; ++tries) {
    ASSERT_EQ(cuda().mem_get_info(&afterwards, &total), 0);
    if (afterwards >= while_alive + size) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_GE(afterwards, while_alive + size) << "a killed process left memory allocated";
  close(ready[0]);
  close(ready[1]);
}

TEST_F(LiveRm, EveryGpuUsesItsOwnBar1) {
  ASSERT_EQ(cuda().init(0), 0);
  int count = 0;
  ASSERT_EQ(cuda().device_get_count(&count), 0);
  if (count < 2) GTEST_SKIP() << "requires two GPUs";
  struct Mapped {
    std::uint64_t buffer;
    volatile unsigned* words;
    gdrkit_pin_t pin;
  };
  std::vector<Mapped> all;
  for (int device = 0; device < count; ++device) {
    void* primary = nullptr;
    ASSERT_EQ(cuda().primary_ctx_retain(&primary, device), 0);
    ASSERT_EQ(cuda().ctx_set_current(primary), 0);
    Mapped mapped{allocate(2 * mib), nullptr, {}};
    // Pinned while the next device's context is current: the pointer selects the device, not the thread.
    all.push_back(mapped);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].words = static_cast<volatile unsigned*>(map(all[i].buffer, 2 * mib, &all[i].pin));
    ASSERT_NE(all[i].words, nullptr);
    const unsigned mark = 0xabc0u + static_cast<unsigned>(i);
    EXPECT_EQ(gdrkit_write(all[i].pin, 64, &mark, sizeof mark), 0);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    unsigned seen = 0;
    ASSERT_EQ(cuda().memcpy_device_to_host(&seen, all[i].buffer + 64, sizeof seen), 0);
    EXPECT_EQ(seen, 0xabc0u + i);
    EXPECT_EQ(gdrkit_unpin(all[i].pin), 0);
  }
}

}  // namespace
}  // namespace gdrkit::live
