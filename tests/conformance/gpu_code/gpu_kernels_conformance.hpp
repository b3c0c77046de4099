// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The fixture: a device, its GPU kernels, a stream, and memory that both sides access.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/device/device.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {

using LaunchOfNothing = base::Status (*)(GpuKernels& kernels, LaunchShape shape, Stream stream);
/// Names in gpu_kernels.def that have tests here, and a launch of each with empty parameters.
std::map<std::string, LaunchOfNothing>& covered_gpu_kernels();
#define GDRKIT_COVERS(name, Parameters)                                                               \
  [[maybe_unused]] const bool covers_##name =                                                         \
      ((void)GpuKernel::name,                                                                         \
       ::gdrkit::platform::covered_gpu_kernels()                                                      \
           .emplace(#name, [](GpuKernels& kernels, LaunchShape shape,                                 \
                              Stream stream) { return kernels.launch(Parameters{}, shape, stream); }) \
           .second)

/// Timeout for events that must happen: long, because the machine may be busy.
inline constexpr std::uint64_t long_ns = 20'000'000'000;
/// Timeout for waits that must expire.
inline constexpr std::uint64_t short_ns = 20'000'000;

class GpuKernelConformance : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Zeroed memory of the device.
  std::uint64_t device_memory(std::size_t size_bytes);
  /// Zeroed host memory that the device reaches at to_device(its address).
  void* host_memory(std::size_t size_bytes);
  std::uint64_t to_device(const void* host);
  /// A 32-bit word in host memory.
  std::uint32_t* host_word() { return static_cast<std::uint32_t*>(host_memory(sizeof(std::uint32_t))); }

  /// Launches the GPU kernel and waits for its end.
  template <class Parameters>
  void run(const Parameters& parameters, LaunchShape shape) {
    EXPECT_TRUE(tests::succeeded(kernels_->launch(parameters, shape, stream_)));
    EXPECT_TRUE(tests::succeeded(device_->synchronize(stream_)));
  }

  /// Applies `change` to the parameters and returns whether the launch is rejected with EINVAL.
  template <class Parameters, class Change = void (*)(Parameters&)>
  testing::AssertionResult rejects(
      Parameters parameters, LaunchShape shape, Change change = [](Parameters&) {}) {
    change(parameters);
    return tests::failed(kernels_->launch(parameters, shape, stream_), EINVAL);
  }

  std::vector<std::uint8_t> read_bytes(std::uint64_t address, std::size_t size_bytes) {
    std::vector<std::uint8_t> bytes(size_bytes);
    EXPECT_TRUE(tests::succeeded(device_->copy_to_host(bytes.data(), address, size_bytes)));
    return bytes;
  }
  template <class T>
  T read(std::uint64_t address) {
    T value{};
    EXPECT_TRUE(tests::succeeded(device_->copy_to_host(&value, address, sizeof value)));
    return value;
  }
  static std::uint32_t load(const std::uint32_t* word) {
    return std::atomic_ref(*const_cast<std::uint32_t*>(word)).load(std::memory_order_acquire);
  }
  static void store(std::uint32_t* word, std::uint32_t value) {
    std::atomic_ref(*word).store(value, std::memory_order_release);
  }
  /// Returns false after long_ns.
  [[nodiscard]] static bool comes(const std::uint32_t* word, std::uint32_t value);
  static KernelEnd end_at(const std::uint32_t* word) { return static_cast<KernelEnd>(load(word)); }

  std::unique_ptr<Device> device_;
  std::optional<GpuKernels> kernels_;
  Stream stream_;

 private:
  std::vector<Allocation> allocations_;
};

}  // namespace gdrkit::platform
