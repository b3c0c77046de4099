// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "gpu_kernels_conformance.hpp"

#include <sched.h>

#include <cstring>

#include "platform/host/stopwatch.hpp"
#include "support/place.hpp"
#include "support/requirements.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {

std::map<std::string, LaunchOfNothing>& covered_gpu_kernels() {
  static std::map<std::string, LaunchOfNothing> launches;
  return launches;
}

void GpuKernelConformance::SetUp() {
  const std::string place = tests::place_name();
  auto opened = place == "gpu" ? open_cuda_device(0) : open_emulated_device(0);
  if (!opened) GDRKIT_SKIP_OR_FAIL(place, "no device: " << opened.error().text());
  device_ = std::move(*opened);
  auto loaded = GpuKernels::load<GpuKernel::gate>(*device_);
  if (!loaded) GDRKIT_SKIP_OR_FAIL(place, loaded.error().text());
  kernels_.emplace(std::move(*loaded));
  stream_ = tests::value_or_throw(device_->create_stream());
}

void GpuKernelConformance::TearDown() {
  if (device_ == nullptr) return;
  EXPECT_TRUE(tests::succeeded(device_->synchronize_all()));
  for (auto& allocation : allocations_) EXPECT_TRUE(tests::succeeded(allocation.free()));
  if (stream_.handle != 0) {
    EXPECT_TRUE(tests::succeeded(device_->destroy_stream(stream_)));
  }
  kernels_.reset();
}

std::uint64_t GpuKernelConformance::device_memory(std::size_t size_bytes) {
  allocations_.push_back(tests::value_or_throw(device_->allocate(AllocationKind::cuda_malloc, size_bytes)));
  const std::uint64_t address = allocations_.back().address();
  EXPECT_TRUE(tests::succeeded(device_->fill(address, 0, size_bytes)));
  return address;
}

void* GpuKernelConformance::host_memory(std::size_t size_bytes) {
  allocations_.push_back(tests::value_or_throw(device_->allocate(AllocationKind::host, size_bytes)));
  auto* host = reinterpret_cast<void*>(allocations_.back().address());
  std::memset(host, 0, size_bytes);
  return host;
}

std::uint64_t GpuKernelConformance::to_device(const void* host) {
  return tests::value_or_throw(device_->device_address(host));
}

bool GpuKernelConformance::comes(const std::uint32_t* word, std::uint32_t value) {
  const std::int64_t begin = now_ns();
  while (load(word) != value) {
    if (now_ns() - begin > static_cast<std::int64_t>(long_ns)) return false;
    ::sched_yield();
  }
  return true;
}

}  // namespace gdrkit::platform
