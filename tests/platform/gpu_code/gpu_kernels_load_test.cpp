// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What GpuKernels says when an image is absent, corrupt or for other GPUs, on a played driver.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "fake_cuda_driver.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

using tests::FakeCudaDriver;

/// The head of a fat binary and `body_bytes` of nothing; `promised_bytes` is what the head says of the body.
std::vector<std::uint8_t> fat_binary(std::size_t body_bytes, std::uint64_t promised_bytes) {
  std::vector<std::uint8_t> image(16 + body_bytes);
  const std::uint32_t magic = 0xba55ed50;
  const std::uint16_t version_and_size[] = {1, 16};
  std::memcpy(image.data(), &magic, 4);
  std::memcpy(image.data() + 4, version_and_size, 4);
  std::memcpy(image.data() + 8, &promised_bytes, 8);
  return image;
}

class GpuKernelsLoad : public ::testing::Test {
 protected:
  void SetUp() override {
    driver_.reset();
    auto opened = open_cuda_device(0, FakeCudaDriver::calls());
    ASSERT_TRUE(opened) << opened.error().text();
    device_ = std::move(*opened);
  }
  void TearDown() override {
    device_.reset();
    EXPECT_TRUE(driver_.is_clean());
    driver_.reset();
  }
  /// The text of the refusal.
  std::string expect_refused(const std::vector<std::uint8_t>& image, const std::string& fragment) {
    const auto loaded = GpuKernels::load(*device_, GpuImage{image.data(), image.size()});
    EXPECT_FALSE(loaded);
    if (loaded) return "";
    EXPECT_EQ(loaded.error().errno_value, ENOEXEC);
    const std::string text = loaded.error().text();
    EXPECT_NE(text.find(fragment), std::string::npos) << text;
    return text;
  }

  FakeCudaDriver& driver_ = FakeCudaDriver::instance();
  std::unique_ptr<Device> device_;
};

TEST_F(GpuKernelsLoad, CorruptImagesNeverReachTheDriver) {
  expect_refused({}, "0 bytes");
  expect_refused({1, 2, 3}, "3 bytes");
  auto wrong = fat_binary(100, 100);
  wrong[0] = 0x51;
  expect_refused(wrong, "neither PTX nor a fat binary");
  expect_refused(fat_binary(100, 101), "cut off");
  expect_refused(fat_binary(100, ~std::uint64_t{0}), "cut off");
  auto small_head = fat_binary(100, 100);
  small_head[6] = 8;
  expect_refused(small_head, "neither PTX nor a fat binary");
  std::vector<std::uint8_t> ptx = {'.', 'v', 'e', 'r',  's', 'i', 'o', 'n', ' ',
                                   '6', '.', '0', '\n', '.', 't', 'a', 'r'};
  expect_refused(ptx, "neither PTX");  // no NUL ends it
  ptx.insert(ptx.begin(), 0);
  ptx.push_back(0);
  expect_refused(ptx, "neither PTX");  // it ends before what follows
  for (const auto& call : driver_.log) EXPECT_NE(call, "module_load_data");
}

TEST_F(GpuKernelsLoad, AnImageForOtherGpusNamesThisOneAndWhatToDo) {
  const std::string detail = expect_refused(fat_binary(100, 100), "Fake H200 (compute capability 7510.7610)");
  EXPECT_NE(detail.find("CUDA_ERROR_NO_BINARY_FOR_GPU"), std::string::npos) << detail;
  EXPECT_NE(detail.find("PTX for compute capability 7.0 and newer"), std::string::npos) << detail;
}

TEST_F(GpuKernelsLoad, AFailureOfAnyCallUnloadsWhatWasLoaded) {
  driver_.takes_any_image = true;
  const auto image = fat_binary(8, 8);
  const std::size_t before = driver_.log.size();
  { ASSERT_TRUE(tests::succeeded(GpuKernels::load(*device_, GpuImage{image.data(), image.size()}))); }
  const std::size_t calls = driver_.log.size() - before - 1;  // the last unloads
  EXPECT_EQ(driver_.functions.size(), static_cast<std::size_t>(gpu_kernel_count));
  EXPECT_EQ(driver_.functions.back(),
            std::string("gdrkit_") + gpu_kernel_name(static_cast<GpuKernel>(gpu_kernel_count - 1)));
  for (std::size_t at = 0; at < calls; ++at) {
    driver_.fail_at = static_cast<int>(driver_.log.size() + at);
    driver_.failure = 999;
    const auto loaded = GpuKernels::load(*device_, GpuImage{image.data(), image.size()});
    const std::string failed = driver_.log[static_cast<std::size_t>(driver_.fail_at)];
    // How many multiprocessors there are only decides how many blocks ping_pong may have: one, when it is not known.
    EXPECT_EQ(loaded.has_value(), failed == "device_get_attribute") << failed;
    if (loaded && failed == "device_get_attribute") {
      EXPECT_EQ(loaded->resident_blocks(), 1U);
    }
  }
  driver_.fail_at = -1;
  EXPECT_TRUE(driver_.modules.empty());
}

TEST_F(GpuKernelsLoad, ParametersAndShapeReachTheDriverWhole) {
  driver_.takes_any_image = true;
  const auto image = fat_binary(8, 8);
  auto loaded = GpuKernels::load(*device_, GpuImage{image.data(), image.size()});
  ASSERT_TRUE(loaded) << loaded.error().text();
  GpuKernels kernels = std::move(*loaded);
  CopyParameters parameters{0x1000, 0x2000, 12345, 7, 0};
  driver_.last_parameters.resize(sizeof parameters);
  EXPECT_TRUE(tests::succeeded(kernels.launch(parameters, {5, 128}, Stream{})));
  EXPECT_EQ(std::memcmp(driver_.last_parameters.data(), &parameters, sizeof parameters), 0);
  EXPECT_EQ(driver_.last_blocks, 5U);
  EXPECT_EQ(driver_.last_threads, 128U);
  driver_.fail_at = static_cast<int>(driver_.log.size());
  const auto failed = kernels.launch(parameters, {5, 128}, Stream{});
  ASSERT_FALSE(failed);
  EXPECT_NE(std::string(failed.error().text()).find("cuLaunchKernel"), std::string::npos) << failed.error().text();
}

TEST_F(GpuKernelsLoad, EveryBuildHoldsPtx) {
  const GpuImage ptx = embedded_ptx();
  ASSERT_GT(ptx.size_bytes, 1000U);
  const auto* text = static_cast<const char*>(ptx.bytes);
  EXPECT_EQ(std::strlen(text) + 1, ptx.size_bytes);
  driver_.takes_any_image = true;
  EXPECT_TRUE(tests::succeeded(GpuKernels::load(*device_, ptx)));
  for (int index = 0; index < gpu_kernel_count; ++index) {
    const std::string entry = std::string(".entry gdrkit_") + gpu_kernel_name(static_cast<GpuKernel>(index)) + "(";
    EXPECT_NE(std::strstr(text, entry.c_str()), nullptr) << entry;
  }
}

TEST_F(GpuKernelsLoad, ADriverWithoutMachineCodeForItsGpuGetsPtx) {
  driver_.takes_any_image = true;
  driver_.fail_at = static_cast<int>(driver_.log.size()) + 1;  // after the number of multiprocessors
  driver_.failure = 209;
  const bool has_machine_code = embedded_fat_binary().size_bytes != 0;
  const auto loaded = GpuKernels::load(*device_);
  EXPECT_EQ(driver_.log[static_cast<std::size_t>(driver_.fail_at)], "module_load_data");
  EXPECT_EQ(loaded.has_value(), has_machine_code) << "PTX is the last image";
  EXPECT_EQ(std::count(driver_.log.begin(), driver_.log.end(), "module_load_data"), has_machine_code ? 2 : 1);
  EXPECT_EQ(std::string(embedded_gpu_architectures()).empty(), !has_machine_code);
}

TEST_F(GpuKernelsLoad, ADriverThatTakesNothingIsNamedWithItsGpu) {
  const auto loaded = GpuKernels::load(*device_);
  ASSERT_FALSE(loaded) << "the fake driver has no GPU code that fits";
  EXPECT_EQ(loaded.error().errno_value, ENOEXEC);
  const std::string detail = loaded.error().text();
  EXPECT_NE(detail.find("Fake H200"), std::string::npos) << detail;
  EXPECT_NE(detail.find("CUDA_ERROR_NO_BINARY_FOR_GPU"), std::string::npos) << detail;
}

}  // namespace
}  // namespace gdrkit::platform
