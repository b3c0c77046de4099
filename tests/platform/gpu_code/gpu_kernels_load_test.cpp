// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// When GpuKernels loads each image, and its error messages if an image is absent, corrupt or for other GPUs, on the
// emulated driver.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "driver/emulated_memory.hpp"
#include "fakes/emulated_cuda.hpp"
#include "fakes/fault_injection.hpp"
#include "platform/gpu_code/copy_params.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "support/results.hpp"
#include "support/run_together.hpp"

namespace gdrkit::platform {
namespace {

using fakes::emulated_cuda;
using fakes::FaultPlan;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// The images that the driver accepts, and the recorded calls.
struct Loads {
  bool takes_any_image = false;               ///< and finds any name in it; launches only record their parameters
  std::vector<std::string> functions;         ///< requested names
  std::vector<std::uint8_t> last_parameters;  ///< of a launch: the first bytes, as many as this has before
  unsigned last_blocks = 0;
  unsigned last_threads = 0;
  int modules = 0;
} loads;

/// The emulated driver, for images that it cannot run.
CudaCalls loading_calls() {
  CudaCalls calls = emulated_cuda();
  calls.module_load_data = [](void** module, const void*) {
    constexpr int no_binary_for_gpu = 209;
    if (!loads.takes_any_image) return no_binary_for_gpu;
    ++loads.modules;
    return *module = &loads, fakes::count_taken(0);
  };
  calls.module_unload = [](void*) { return --loads.modules, fakes::count_released(0); };
  calls.module_get_function = [](void** function, void*, const char* name) {
    loads.functions.emplace_back(name);
    return *function = &loads, 0;
  };
  calls.launch_kernel = [](void*, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned, unsigned,
                           void*, void** parameters, void**) {
    loads.last_blocks = blocks;
    loads.last_threads = threads;
    std::memcpy(loads.last_parameters.data(), parameters[0], loads.last_parameters.size());
    return 0;
  };
  calls.device_get_attribute = [](int* value, int attribute, int) { return *value = attribute * 100, 0; };
  return calls;
}

/// The head of a fat binary and `body_bytes` of zeros; `declared_bytes` is the size in the head.
std::vector<std::uint8_t> fat_binary(std::size_t body_bytes, std::uint64_t declared_bytes) {
  std::vector<std::uint8_t> image(16 + body_bytes);
  const std::uint32_t magic = 0xba55ed50;
  const std::uint16_t version_and_size[] = {1, 16};
  std::memcpy(image.data(), &magic, 4);
  std::memcpy(image.data() + 4, version_and_size, 4);
  std::memcpy(image.data() + 8, &declared_bytes, 8);
  return image;
}

/// The image that is tried last.
GpuImages as_ptx(const std::vector<std::uint8_t>& image) { return {{}, {image.data(), image.size()}}; }

class GpuKernelsLoad : public ::testing::Test {
 protected:
  void SetUp() override {
    loads = Loads();
    device_ = tests::value_or_throw(open_cuda_device(0, driver_));
    plan_.fail_call(FaultPlan::never, {0, 0, 999});
  }
  void TearDown() override {
    device_.reset();
    EXPECT_EQ(fakes::held_of_emulated_cuda(), held_before_);
  }
  /// The text of the error.
  std::string expect_refused(const std::vector<std::uint8_t>& image, const std::string& fragment) {
    GpuKernels kernels = *GpuKernels::load<>(*device_);
    const auto loaded = kernels.prepare(GpuKernel::copy, as_ptx(image));
    EXPECT_TRUE(tests::failed(loaded, ENOEXEC, HasSubstr(fragment)));
    return tests::text_of(loaded);
  }

  const CudaCalls calls_ = loading_calls();
  const int held_before_ = fakes::held_of_emulated_cuda();
  FaultPlan plan_;
  fakes::FaultyCuda driver_{calls_, plan_};
  std::unique_ptr<Device> device_;
};

TEST_F(GpuKernelsLoad, CorruptImagesNeverReachTheDriver) {
  expect_refused({}, "0 bytes");
  expect_refused({1, 2, 3}, "3 bytes");
  auto wrong = fat_binary(100, 100);
  wrong[0] = 0x51;
  expect_refused(wrong, "neither PTX nor a fat binary");
  expect_refused(fat_binary(100, 101), "truncated");
  expect_refused(fat_binary(100, ~std::uint64_t{0}), "truncated");
  auto small_head = fat_binary(100, 100);
  small_head[6] = 8;
  expect_refused(small_head, "neither PTX nor a fat binary");
  std::vector<std::uint8_t> ptx = {'.', 'v', 'e', 'r',  's', 'i', 'o', 'n', ' ',
                                   '6', '.', '0', '\n', '.', 't', 'a', 'r'};
  expect_refused(ptx, "neither PTX");  // not NUL-terminated
  ptx.insert(ptx.begin(), 0);
  ptx.push_back(0);
  expect_refused(ptx, "neither PTX");  // it ends at the first NUL
  for (const auto& call : plan_.log()) EXPECT_NE(call, "module_load_data");
}

TEST_F(GpuKernelsLoad, ImageForOtherGpusReportsThisGpuAndTheRemedy) {
  const std::string detail = expect_refused(
      fat_binary(100, 100), std::string(driver::emulated_device_name) + " (compute capability 7500.7600)");
  EXPECT_THAT(detail,
              AllOf(HasSubstr("CUDA_ERROR_NO_BINARY_FOR_GPU"), HasSubstr("PTX for compute capability 7.0 and newer")));
}

TEST_F(GpuKernelsLoad, AFailureOfAnyCallUnloadsTheModules) {
  loads.takes_any_image = true;
  const auto image = fat_binary(8, 8);
  GpuKernels kernels = *GpuKernels::load<>(*device_);
  for (const char* call : {"module_load_data", "module_get_function", "func_load"}) {
    plan_.fail_call_of(call, 0, {0, 0, 999});
    EXPECT_FALSE(kernels.prepare(GpuKernel::copy, as_ptx(image)));
    EXPECT_TRUE(plan_.was_reached()) << call;
    EXPECT_EQ(loads.modules, 0) << call;
  }
  EXPECT_TRUE(tests::succeeded(kernels.prepare(GpuKernel::copy, as_ptx(image)))) << "a failure is not remembered";
  EXPECT_EQ(loads.functions.back(), "gdrkit_copy");
}

TEST_F(GpuKernelsLoad, WithoutTheNumberOfMultiprocessorsOneBlockIsResident) {
  plan_.fail_call(0, {0, 0, 999});
  const auto loaded = GpuKernels::load<>(*device_);
  EXPECT_EQ(plan_.failed_call(), "device_get_attribute");
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->resident_blocks(), 1U);
}

TEST_F(GpuKernelsLoad, PassesParametersAndShapeToTheDriver) {
  loads.takes_any_image = true;
  auto loaded = tests::value_or_throw(GpuKernels::load<GpuKernel::copy>(*device_));
  GpuKernels kernels = std::move(loaded);
  CopyParameters parameters{0x1000, 0x2000, 12345, 7, 0};
  loads.last_parameters.resize(sizeof parameters);
  EXPECT_TRUE(tests::succeeded(kernels.launch(parameters, {5, 128}, Stream{})));
  EXPECT_EQ(std::memcmp(loads.last_parameters.data(), &parameters, sizeof parameters), 0);
  EXPECT_EQ(loads.last_blocks, 5U);
  EXPECT_EQ(loads.last_threads, 128U);
  plan_.fail_call(0, {0, 0, 999});
  const auto failed = kernels.launch(parameters, {5, 128}, Stream{});
  EXPECT_THAT(tests::text_of(failed), HasSubstr("cuLaunchKernel"));
}

TEST_F(GpuKernelsLoad, LoadsEachRequiredGpuKernelOnce) {
  loads.takes_any_image = true;
  auto loaded = tests::value_or_throw(GpuKernels::load<GpuKernel::gate, GpuKernel::atomic>(*device_));
  EXPECT_EQ(loads.functions, (std::vector<std::string>{"gdrkit_gate", "gdrkit_atomic"}));
  loads.last_parameters.resize(sizeof(CopyParameters));
  for (int launch = 0; launch < 3; ++launch) {
    EXPECT_TRUE(tests::succeeded(loaded.launch(CopyParameters{}, {1, 32}, Stream{})));
  }
  EXPECT_EQ(loads.functions, (std::vector<std::string>{"gdrkit_gate", "gdrkit_atomic", "gdrkit_copy"}));
  EXPECT_EQ(loads.modules, 3);
}

/// A driver that supports many threads: it only counts.
std::atomic<int> modules_loaded;
int count_module(void** module, const void*) {
  ++modules_loaded;
  *module = &modules_loaded;
  return 0;
}

TEST_F(GpuKernelsLoad, ConcurrentThreadsLoadAGpuKernelOnce) {
  CudaCalls calls = calls_;
  calls.module_load_data = &count_module;
  calls.module_unload = [](void*) { return 0; };
  calls.module_get_function = [](void** function, void*, const char*) {
    *function = &modules_loaded;
    return 0;
  };
  calls.func_load = [](void*) { return 0; };
  calls.exchange_stream_capture_mode = [](int*) { return 0; };
  auto opened = open_cuda_device(0, calls);
  ASSERT_TRUE(opened);
  for (int round = 0; round < 50; ++round) {
    GpuKernels kernels = *GpuKernels::load<>(**opened);
    modules_loaded = 0;
    tests::run_together(4, [&](int) { EXPECT_TRUE(tests::succeeded(kernels.prepare<GpuKernel::copy>())); });
    ASSERT_EQ(modules_loaded, 1);
  }
}

TEST_F(GpuKernelsLoad, EveryBuildContainsPtxOfEachGpuKernel){
#define GDRKIT_GPU_KERNEL(name, Parameters)                                                         \
  {                                                                                                 \
    const GpuImage ptx = images_of_##name().ptx;                                                    \
    const auto* text = static_cast<const char*>(ptx.bytes);                                         \
    ASSERT_GT(ptx.size_bytes, 500U) << #name;                                                       \
    EXPECT_EQ(std::strlen(text) + 1, ptx.size_bytes) << #name;                                      \
    EXPECT_NE(std::strstr(text, ".entry gdrkit_" #name "("), nullptr) << #name;                     \
    EXPECT_EQ(images_of_##name().fat_binary.size_bytes != 0, embedded_gpu_architectures()[0] != 0); \
  }
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL
}

TEST_F(GpuKernelsLoad, LoadsPtxWithoutMachineCodeForTheGpu) {
  loads.takes_any_image = true;
  plan_.fail_call_of("module_load_data", 0, {0, 0, 209});
  const bool has_machine_code = embedded_gpu_architectures()[0] != '\0';
  const auto loaded = GpuKernels::load<GpuKernel::gate>(*device_);
  EXPECT_EQ(loaded.has_value(), has_machine_code) << "PTX is the last image";
  EXPECT_EQ(plan_.calls(), has_machine_code ? 2 : 1);
}

TEST_F(GpuKernelsLoad, ReportsDriverAndGpuThatAcceptNoImage) {
  const auto loaded = GpuKernels::load<GpuKernel::gate>(*device_);
  EXPECT_TRUE(tests::failed(loaded, ENOEXEC,
                            AllOf(HasSubstr("'gate' on " + std::string(driver::emulated_device_name)),
                                  HasSubstr("CUDA_ERROR_NO_BINARY_FOR_GPU"))))
      << "the fake driver has no GPU code that fits";
}

}  // namespace
}  // namespace gdrkit::platform
