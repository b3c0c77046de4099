// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GPU work of Device on an emulated driver: GPU kernels, events, peers, host memory.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "fakes/emulated_cuda.hpp"
#include "fakes/fault_injection.hpp"
#include "platform/device/device.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

using fakes::emulated_cuda;
using fakes::FaultPlan;

constexpr const char* image = ".visible .entry store_word(";
/// Offset of the addresses of host memory for GPU kernels from those for the CPU.
constexpr std::uint64_t device_address_distance = std::uint64_t{1} << 40;

/// The last arguments of the driver.
struct {
  unsigned blocks, threads;
} last;

/// The only GPU kernel writes its second parameter to its first.
int launch_store_word(void*, unsigned blocks, unsigned y, unsigned z, unsigned threads, unsigned thread_y,
                      unsigned thread_z, unsigned shared_bytes, void*, void** parameters, void** extra) {
  if (y != 1 || z != 1 || thread_y != 1 || thread_z != 1 || shared_bytes != 0 || extra != nullptr) return 1;
  last.blocks = blocks;
  last.threads = threads;
  std::uint64_t target = 0;
  std::memcpy(&target, parameters[0], sizeof target);
  std::memcpy(reinterpret_cast<void*>(target), parameters[1], sizeof(std::uint64_t));
  return 0;
}

/// The emulated driver with a GPU kernel, a symbol, attributes, and separate addresses of host memory for the GPU.
CudaCalls calls_of_a_gpu() {
  CudaCalls calls = emulated_cuda();
  calls.launch_kernel = &launch_store_word;
  calls.launch_cooperative_kernel = [](void*, unsigned x, unsigned y, unsigned z, unsigned thread_x, unsigned thread_y,
                                       unsigned thread_z, unsigned shared_bytes, void*, void**) {
    last.blocks = x * y * z;
    last.threads = thread_x * thread_y * thread_z;
    return shared_bytes == 64 ? 0 : 1;
  };
  calls.occupancy = [](int* blocks, void*, int threads, std::size_t shared_bytes) {
    return *blocks = 2048 / threads, shared_bytes == 64 ? 0 : 1;
  };
  calls.device_get_attribute = [](int* value, int attribute, int device) {
    return *value = attribute * 100 + device, 0;
  };
  calls.library_get_module = [](void** module, void* library) { return *module = library, 0; };
  calls.module_get_global = [](std::uint64_t* address, std::size_t* size, void*, const char* name) {
    *address = 0x5000;
    *size = 24;
    return std::strcmp(name, "a_symbol") == 0 ? 0 : 500;
  };
  calls.mem_host_get_device_pointer = [](std::uint64_t* address, void* host, unsigned flags) {
    const int result = emulated_cuda().mem_host_get_device_pointer(address, host, flags);
    return *address += device_address_distance, result;
  };
  return calls;
}

class CudaWork : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = open(0);
    plan_.fail_call(FaultPlan::never, {0, 0, 999});
  }
  void TearDown() override {
    device_.reset();
    EXPECT_EQ(fakes::held_of_emulated_cuda(), held_before_);
  }

  std::unique_ptr<Device> open(int ordinal) { return tests::value_or_throw(open_cuda_device(ordinal, driver_)); }

  CudaCalls calls_ = calls_of_a_gpu();
  const int held_before_ = fakes::held_of_emulated_cuda();
  FaultPlan plan_;
  fakes::FaultyCuda driver_{calls_, plan_};
  std::unique_ptr<Device> device_;
};

TEST_F(CudaWork, LaunchesAGpuKernelOfAnImage) {
  const auto module = tests::value_or_throw(device_->load_module(image));
  const auto function = tests::value_or_throw(device_->get_function(module, "store_word"));
  std::uint64_t stored = 0;
  std::uint64_t target = reinterpret_cast<std::uint64_t>(&stored);
  std::uint64_t value = 0x1234;
  void* parameters[] = {&target, &value};
  EXPECT_TRUE(tests::succeeded(device_->launch(function, {3, 64}, Stream{}, parameters)));
  EXPECT_EQ(stored, 0x1234U);
  EXPECT_EQ(last.blocks, 3U);
  EXPECT_EQ(last.threads, 64U);
  EXPECT_TRUE(device_->unload_module(module));
}

TEST_F(CudaWork, ImagesForOtherGpusAndUnknownNamesAreDistinguished) {
  EXPECT_TRUE(tests::failed(device_->load_module("for another GPU"), ENOEXEC,
                            testing::HasSubstr("CUDA_ERROR_NO_BINARY_FOR_GPU")));
  EXPECT_EQ(device_->load_module(nullptr).error().errno_value, EINVAL);
  const auto module = tests::value_or_throw(device_->load_module(image));
  EXPECT_EQ(device_->get_function(module, "absent").error().errno_value, ENOSYS);
  EXPECT_TRUE(device_->unload_module(module));
}

std::vector<int> modes_of_calls;  // the capture mode of the thread during each

void record_mode() {
  int mode = 0;
  EXPECT_EQ(emulated_cuda().exchange_stream_capture_mode(&mode), 0);
  modes_of_calls.push_back(mode);
  EXPECT_EQ(emulated_cuda().exchange_stream_capture_mode(&mode), 0);
}

TEST_F(CudaWork, LoadsGpuCodeAndAllocatesDuringACapture) {
  modes_of_calls.clear();
  calls_.module_load_data = [](void** module, const void* code) {
    record_mode();
    return emulated_cuda().module_load_data(module, code);
  };
  calls_.mem_alloc_host = [](void** memory, std::size_t size_bytes) {
    record_mode();
    return emulated_cuda().mem_alloc_host(memory, size_bytes);
  };
  int mode = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
  ASSERT_EQ(emulated_cuda().exchange_stream_capture_mode(&mode), 0);
  const auto module = tests::value_or_throw(device_->load_module(image));
  EXPECT_TRUE(device_->allocate(AllocationKind::host, 4096));
  EXPECT_EQ(modes_of_calls, (std::vector<int>{2, 2})) << "relaxed: else the driver ends the capture";
  ASSERT_EQ(emulated_cuda().exchange_stream_capture_mode(&mode), 0);
  EXPECT_EQ(mode, 1);
  EXPECT_TRUE(device_->unload_module(module));
}

TEST_F(CudaWork, EventsMeasureTheTimeBetweenThem) {
  const auto begin = device_->create_event();
  const auto end = device_->create_event();
  const auto stream = device_->create_stream();
  ASSERT_TRUE(begin && end && stream);
  EXPECT_FALSE(device_->elapsed_ms(*begin, *end)) << "not recorded";
  EXPECT_TRUE(device_->record(*begin, Stream{}));
  EXPECT_TRUE(device_->wait(*stream, *begin));
  const auto pause = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(3)); };
  EXPECT_TRUE(device_->launch_host_function(*stream, pause, nullptr));
  EXPECT_TRUE(device_->record(*end, *stream));
  EXPECT_TRUE(device_->synchronize(*end));
  EXPECT_GE(device_->elapsed_ms(*begin, *end).value(), 3.0);
  EXPECT_TRUE(device_->destroy_event(*begin));
  EXPECT_TRUE(device_->destroy_event(*end));
  EXPECT_TRUE(device_->destroy_stream(*stream));
}

TEST_F(CudaWork, BusyStreamIsNotAnError) {
  const auto stream = tests::value_or_throw(device_->create_stream());
  EXPECT_TRUE(device_->is_finished(stream).value());
  std::atomic<bool> may_end{false};
  const auto wait = [](void* word) { static_cast<std::atomic<bool>*>(word)->wait(false); };
  EXPECT_TRUE(device_->launch_host_function(stream, wait, &may_end));
  EXPECT_FALSE(device_->is_finished(stream).value());
  may_end = true;
  may_end.notify_all();
  EXPECT_TRUE(device_->synchronize(stream));
  EXPECT_TRUE(device_->is_finished(stream).value());
  EXPECT_TRUE(device_->destroy_stream(stream));
}

TEST_F(CudaWork, FindsASymbolOfAModule) {
  const auto module = tests::value_or_throw(device_->load_module(image));
  const auto symbol = tests::value_or_throw(device_->get_symbol(module, "a_symbol"));
  EXPECT_EQ(symbol.address, 0x5000U);
  EXPECT_EQ(symbol.size_bytes, 24U);
  EXPECT_FALSE(device_->get_symbol(module, "no_symbol"));
  const auto of_library = tests::value_or_throw(device_->module_of_library(reinterpret_cast<void*>(module.handle)));
  EXPECT_EQ(of_library.handle, module.handle);
  EXPECT_TRUE(device_->unload_module(module));
}

TEST_F(CudaWork, LaunchesBlocksThatRunAtOnce) {
  const auto module = tests::value_or_throw(device_->load_module(image));
  const auto function = tests::value_or_throw(device_->get_function(module, "store_word"));
  const CooperativeShape shape{{2, 3, 1}, {32, 2, 2}, 64};
  EXPECT_TRUE(tests::succeeded(device_->launch_cooperative(function, shape, Stream{}, nullptr)));
  EXPECT_EQ(last.blocks, 6U);
  EXPECT_EQ(last.threads, 128U);
  const int multiprocessors = device_->attribute(DeviceAttribute::multiprocessor_count).value();
  EXPECT_EQ(device_->cooperative_blocks(function, 512, 64).value(), 4 * multiprocessors);
  for (const char* call : {"launch_cooperative_kernel", "occupancy", "device_get_attribute"}) {
    plan_.fail_call_of(call, 0, {0, 0, 999});
    const bool launches = std::string(call) == "launch_cooperative_kernel";
    const bool succeeds = launches ? device_->launch_cooperative(function, shape, Stream{}, nullptr).has_value()
                                   : device_->cooperative_blocks(function, 512, 64).has_value();
    EXPECT_FALSE(succeeds) << call;
    EXPECT_EQ(plan_.failed_call(), call);
  }
  EXPECT_TRUE(device_->unload_module(module));
}

TEST_F(CudaWork, DetectsAStreamThatIsCaptured) {
  EXPECT_FALSE(device_->is_capturing(Stream{}).value());
  calls_.stream_is_capturing = [](void*, int* status) { return *status = 1, 0; };
  EXPECT_TRUE(device_->is_capturing(Stream{}).value());
}

TEST_F(CudaWork, HostMemoryHasASeparateAddressOnTheDevice) {
  auto memory = tests::value_or_throw(device_->allocate(AllocationKind::host, 4096));
  auto* host = reinterpret_cast<void*>(memory.address());
  EXPECT_EQ(device_->device_address(host).value(), memory.address() + device_address_distance);
  std::uint64_t ordinary = 0;
  EXPECT_EQ(device_->device_address(&ordinary).error().errno_value, EINVAL);
}

TEST_F(CudaWork, EnablesAndCopiesToPeers) {
  const auto peer = open(1);
  EXPECT_TRUE(device_->can_access_peer(*peer).value());
  EXPECT_FALSE(device_->can_access_peer(*device_).value());
  EXPECT_TRUE(tests::succeeded(device_->enable_peer_access(*peer)));
  EXPECT_TRUE(tests::succeeded(device_->enable_peer_access(*peer))) << "enabling twice is not an error";
  const std::uint64_t from = 5;
  std::uint64_t to = 0;
  const auto source = reinterpret_cast<std::uint64_t>(&from);
  const auto target = reinterpret_cast<std::uint64_t>(&to);
  EXPECT_TRUE(device_->copy_device_to_device_async(target, source, 8, Stream{}));
  EXPECT_EQ(to, 5U);
}

TEST_F(CudaWork, AnEmulatedDeviceIsNotAPeer) {
  const auto emulated = open_emulated_device(0);
  ASSERT_TRUE(emulated);
  const int before = plan_.calls();
  EXPECT_FALSE(device_->can_access_peer(**emulated).value());
  EXPECT_FALSE(device_->enable_peer_access(**emulated));
  EXPECT_FALSE((*emulated)->can_access_peer(*device_).value());
  EXPECT_FALSE((*emulated)->enable_peer_access(*device_));
  EXPECT_EQ(plan_.calls(), before);
}

TEST_F(CudaWork, ReturnsAttributesOfThisDevice) {
  EXPECT_EQ(device_->attribute(DeviceAttribute::multiprocessor_count).value(), 16 * 100);
  EXPECT_EQ(open(1)->attribute(DeviceAttribute::compute_capability_major).value(), 75 * 100 + 1);
}

void add_one(void* counter) { ++*static_cast<int*>(counter); }

/// Every call under test once; each step's name and whether it failed. Peer and objects are created by steps.
std::vector<std::pair<std::string, bool>> run_all(Device& device, Device& peer) {
  std::vector<std::pair<std::string, bool>> steps;
  const auto step = [&](const char* name, bool is_ok) { steps.emplace_back(name, !is_ok); };
  std::uint64_t words[2] = {1, 2};
  const auto host = tests::value_or_throw(device.allocate(AllocationKind::host, 8));
  const auto first = reinterpret_cast<std::uint64_t>(&words[0]);
  const auto second = reinterpret_cast<std::uint64_t>(&words[1]);
  std::uint64_t target = second;
  void* parameters[] = {&target, &words[0]};
  int calls = 0;
  const auto module = device.load_module(image);
  step("module_load_data", module.has_value());
  const auto function = device.get_function(module.value_or(Module{}), "store_word");
  step("module_get_function", function.has_value());
  step("func_load", device.load_function(function.value_or(Function{})).has_value());
  step("launch_kernel", device.launch(function.value_or(Function{}), {}, Stream{}, parameters).has_value());
  step("launch_host_func", device.launch_host_function(Stream{}, &add_one, &calls).has_value());
  const auto event = device.create_event();
  step("event_create", event.has_value());
  step("event_record", device.record(event.value_or(Event{}), Stream{}).has_value());
  step("stream_wait_event", device.wait(Stream{}, event.value_or(Event{})).has_value());
  step("event_synchronize", device.synchronize(event.value_or(Event{})).has_value());
  step("event_elapsed_time", device.elapsed_ms(event.value_or(Event{}), event.value_or(Event{})).has_value());
  step("event_destroy", device.destroy_event(event.value_or(Event{})).has_value());
  step("stream_is_capturing", device.is_capturing(Stream{}).has_value());
  step("stream_query", device.is_finished(Stream{}).has_value());
  step("mem_host_get_device_pointer", device.device_address(reinterpret_cast<void*>(host.address())).has_value());
  step("memcpy_device_to_device_async", device.copy_device_to_device_async(first, second, 8, Stream{}).has_value());
  step("device_can_access_peer", device.can_access_peer(peer).has_value());
  step("ctx_enable_peer_access", device.enable_peer_access(peer).has_value());
  step("device_get_attribute", device.attribute(DeviceAttribute::multiprocessor_count).has_value());
  step("mem_get_info", device.memory().has_value());
  step("module_unload", device.unload_module(module.value_or(Module{})).has_value());
  return steps;
}

TEST_F(CudaWork, AFailureOfAnyCallIsReportedByThatCall) {
  const auto peer = open(1);
  const auto good = run_all(*device_, *peer);
  for (const auto& [name, failed] : good) ASSERT_FALSE(failed) << name;
  for (std::size_t at = 0; at < good.size(); ++at) {
    SCOPED_TRACE(good[at].first);
    plan_.fail_call_of(good[at].first, 0, {0, 0, 998});
    const auto steps = run_all(*device_, *peer);
    EXPECT_EQ(plan_.calls(), 1) << "one call of the driver each";
    EXPECT_TRUE(steps[at].second);
    for (std::size_t earlier = 0; earlier < at; ++earlier) EXPECT_FALSE(steps[earlier].second);
  }
}

TEST_F(CudaWork, OpensAndReportsMissingOptionalCalls) {
  CudaCalls old = calls_;
#define GDRKIT_CUDA_CALL(member, symbol, ...)
#define GDRKIT_CUDA_OPTIONAL_CALL(member, symbol, ...) old.member = nullptr;
#include "driver/cuda_calls.def"
#undef GDRKIT_CUDA_CALL
  auto device = open_cuda_device(0, old);
  auto peer = open_cuda_device(1, old);
  ASSERT_TRUE(tests::succeeded(device));
  ASSERT_TRUE(tests::succeeded(peer));
  EXPECT_TRUE(tests::succeeded((*device)->allocate(AllocationKind::cuda_malloc, 100)));
  for (const auto& [name, failed] : run_all(**device, **peer)) EXPECT_TRUE(failed) << name;
  EXPECT_TRUE(tests::failed((*device)->create_event(), ENOSYS, testing::HasSubstr("cuEventCreate")));
}

}  // namespace
}  // namespace gdrkit::platform
