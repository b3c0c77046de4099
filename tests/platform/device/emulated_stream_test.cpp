// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The emulated device's streams and events: order, concurrency, unknown handles.
#include "platform/device/emulated_stream.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "platform/device/device.hpp"
#include "support/device_access.hpp"
#include "support/forked_child.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

/// Emulates a GPU kernel that waits for the CPU.
struct Gate {
  std::atomic<bool> is_entered{false};
  std::atomic<bool> is_open{false};
  static void wait(void* gate) {
    auto* self = static_cast<Gate*>(gate);
    self->is_entered.store(true);
    while (!self->is_open.load()) std::this_thread::yield();
  }
};

class EmulatedStreams : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = tests::value_or_throw(open_emulated_device(0));
    stream_ = tests::value_or_throw(device_->create_stream());
    memory_ = tests::value_or_throw(device_->allocate(AllocationKind::cuda_malloc, 4096));
  }
  void shut(Gate* gate) {
    ASSERT_TRUE(device_->launch_host_function(stream_, &Gate::wait, gate));
    while (!gate->is_entered.load()) std::this_thread::yield();
  }

  std::unique_ptr<Device> device_;
  Allocation memory_;
  Stream stream_;
};

TEST_F(EmulatedStreams, WorkAfterAnEmulatedKernelWaitsWithoutBlockingTheCaller) {
  Gate gate;
  shut(&gate);
  const auto pattern = tests::make_pattern(4096, 3);
  std::vector<std::uint8_t> back(4096);
  EXPECT_TRUE(device_->copy_to_device_async(memory_.address(), pattern.data(), 4096, stream_));
  EXPECT_TRUE(device_->copy_to_host_async(back.data(), memory_.address(), 4096, stream_));
  EXPECT_FALSE(device_->is_finished(stream_).value());
  EXPECT_EQ(back, std::vector<std::uint8_t>(4096)) << "the gate is shut";
  gate.is_open = true;
  EXPECT_TRUE(device_->synchronize(stream_));
  EXPECT_TRUE(device_->is_finished(stream_).value());
  EXPECT_EQ(back, pattern);
  EXPECT_TRUE(device_->synchronize(Stream{})) << "the default stream";
}

TEST_F(EmulatedStreams, OtherStreamsContinueDuringABlockedOne) {
  Gate gate;
  shut(&gate);
  std::vector<std::uint8_t> back(4096, 1);
  EXPECT_TRUE(device_->fill(memory_.address(), 7, 4096));
  EXPECT_TRUE(device_->copy_to_host(back.data(), memory_.address(), 4096));
  EXPECT_EQ(back, std::vector<std::uint8_t>(4096, 7));
  gate.is_open = true;
  EXPECT_TRUE(device_->synchronize_all());
  EXPECT_TRUE(device_->is_finished(stream_).value());
}

TEST_F(EmulatedStreams, EventsOrderStreamsAndMeasureTime) {
  const auto other = device_->create_stream();
  const auto begin = device_->create_event();
  const auto end = device_->create_event();
  ASSERT_TRUE(other && begin && end);
  EXPECT_FALSE(device_->elapsed_ms(*begin, *end));
  Gate gate;
  EXPECT_TRUE(device_->record(*begin, stream_));
  shut(&gate);
  EXPECT_TRUE(device_->record(*end, stream_));
  EXPECT_FALSE(device_->elapsed_ms(*begin, *end)) << "recorded, not reached";
  EXPECT_TRUE(device_->wait(*other, *end));
  EXPECT_TRUE(device_->copy_to_device_async(memory_.address(), &gate, 1, *other));
  EXPECT_FALSE(device_->is_finished(*other).value());
  gate.is_open = true;
  EXPECT_TRUE(device_->synchronize(*end));
  EXPECT_GT(device_->elapsed_ms(*begin, *end).value(), 0);
  EXPECT_LT(device_->elapsed_ms(*end, *begin).value(), 0);
  EXPECT_TRUE(device_->synchronize(*other));
  EXPECT_TRUE(device_->destroy_event(*begin));
  EXPECT_TRUE(device_->destroy_event(*end));
  EXPECT_FALSE(device_->destroy_event(*end));
}

TEST_F(EmulatedStreams, UnknownHandlesAreRejected) {
  const Stream stream{77};
  const Event event{~std::uint64_t{0}};
  int word = 0;
  EXPECT_EQ(device_->synchronize(stream).error().errno_value, EINVAL);
  EXPECT_FALSE(device_->is_finished(stream));
  EXPECT_FALSE(device_->destroy_stream(stream));
  EXPECT_FALSE(device_->destroy_stream(Stream{})) << "the default stream";
  EXPECT_FALSE(device_->launch_host_function(stream, &Gate::wait, nullptr));
  EXPECT_FALSE(device_->copy_to_device_async(memory_.address(), &word, 4, stream));
  EXPECT_FALSE(device_->copy_to_host_async(&word, memory_.address(), 4, stream));
  EXPECT_FALSE(device_->copy_device_to_device_async(memory_.address(), memory_.address() + 8, 4, stream));
  EXPECT_EQ(device_->synchronize(event).error().errno_value, EINVAL);
  EXPECT_FALSE(device_->record(event, stream_));
  EXPECT_FALSE(device_->wait(stream_, event));
  EXPECT_FALSE(device_->elapsed_ms(event, event));
  const auto known = device_->create_event();
  EXPECT_FALSE(device_->record(*known, stream));
  EXPECT_TRUE(device_->destroy_event(*known));
}

TEST_F(EmulatedStreams, DestroyingWaitsForTheWork) {
  Gate gate;
  shut(&gate);
  std::thread opener([&] { gate.is_open = true; });
  int word = 0x1234;
  EXPECT_TRUE(device_->copy_to_device_async(memory_.address(), &word, 4, stream_));
  EXPECT_TRUE(device_->destroy_stream(stream_));
  opener.join();
  int back = 0;
  EXPECT_TRUE(device_->copy_to_host(&back, memory_.address(), 4));
  EXPECT_EQ(back, word);
}

TEST_F(EmulatedStreams, CopiesBetweenEmulatedDevices) {
  ::setenv("GDRKIT_EMULATED_DEVICES", "2", 1);
  const auto peer = open_emulated_device(1);
  ::unsetenv("GDRKIT_EMULATED_DEVICES");
  ASSERT_TRUE(peer);
  auto target = tests::value_or_throw((*peer)->allocate(AllocationKind::cuda_malloc, 4096));
  EXPECT_TRUE(device_->can_access_peer(**peer).value());
  EXPECT_FALSE(device_->can_access_peer(*device_).value());
  EXPECT_TRUE(device_->enable_peer_access(**peer));
  EXPECT_FALSE(device_->enable_peer_access(*device_));
  const auto pattern = tests::make_pattern(4096, 9);
  std::vector<std::uint8_t> back(4096);
  EXPECT_TRUE(device_->copy_to_device(memory_.address(), pattern.data(), 4096));
  EXPECT_TRUE(device_->copy_device_to_device_async(target.address(), memory_.address(), 4096, stream_));
  EXPECT_TRUE(device_->synchronize(stream_));
  EXPECT_TRUE((*peer)->copy_to_host(back.data(), target.address(), 4096));
  EXPECT_EQ(back, pattern);
  EXPECT_FALSE(device_->copy_device_to_device_async(target.address() + 1, memory_.address(), 4096, stream_));
  EXPECT_FALSE(device_->copy_device_to_device_async(target.address(), memory_.address() + 1, 4096, stream_));
}

TEST_F(EmulatedStreams, GpuCodeIsRejectedWithAMessage) {
  EXPECT_TRUE(tests::failed(device_->load_module("image"), EOPNOTSUPP, testing::HasSubstr("does not run GPU code")));
  EXPECT_FALSE(device_->unload_module(Module{}));
  EXPECT_FALSE(device_->get_function(Module{}, "name"));
  EXPECT_FALSE(device_->launch(Function{}, {}, stream_, nullptr));
  EXPECT_GE(device_->attribute(DeviceAttribute::multiprocessor_count).value(), 1);
  EXPECT_EQ(device_->attribute(DeviceAttribute::compute_capability_major).value(), 0);
  int word = 0;
  EXPECT_EQ(device_->device_address(&word).value(), reinterpret_cast<std::uint64_t>(&word));
}

TEST_F(EmulatedStreams, ForkedChildAbandonsTheParentsThreads) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "under the thread sanitizer the child of a process with threads does not go on";
#endif
  Gate gate;
  shut(&gate);
  const auto ended = tests::run_in_child([&] {
    device_.reset();  // would wait forever for a thread of the parent
    return 0;
  });
  gate.is_open = true;
  EXPECT_TRUE(device_->synchronize_all());  // the stream's thread reads the gate until then
  EXPECT_EQ(ended.exit_code, 0);
}

}  // namespace
}  // namespace gdrkit::platform
