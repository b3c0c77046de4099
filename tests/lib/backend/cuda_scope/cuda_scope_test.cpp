// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/cuda_scope.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "fakes/cuda_table.hpp"
#include "support/results.hpp"

namespace gdrkit::backend {
namespace {

constexpr std::uint64_t address = 0x7f0000000000;

/// A driver that reports which devices may access memory, and records whose primary context was requested.
class AccessCuda : public fakes::CudaTable<AccessCuda> {
 public:
  std::vector<bool> access;  ///< by device
  std::optional<int> result;
  std::vector<int> retained;

  int mem_get_access(unsigned long long* flags, const driver::CudaMemLocation* location,
                     std::uint64_t requested) noexcept {
    EXPECT_EQ(requested, address);
    if (result) return *result;
    if (location->id < 0 || location->id >= static_cast<int>(access.size())) return 101;
    *flags = access[static_cast<std::size_t>(location->id)] ? driver::cuda_mem_access_read : 0;
    return 0;
  }
  int device_get(int* device, int ordinal) noexcept { return *device = ordinal, 0; }
  int exchange_stream_capture_mode(int*) noexcept { return 0; }
  int ctx_get_current(void** context) noexcept {
    *context = nullptr;
    return 0;
  }
  int primary_ctx_get_state(int, unsigned*, int* active) noexcept {
    *active = 1;
    return 0;
  }
  int primary_ctx_retain(void** context, int device) noexcept {
    retained.push_back(device);
    *context = this;
    return 0;
  }
  int primary_ctx_release(int) noexcept { return 0; }
  int ctx_push_current(void*) noexcept { return 0; }
  int ctx_pop_current(void**) noexcept { return 0; }
};

TEST(CudaScope, UsesTheMemorysOwnDeviceIfItHasAccess) {
  AccessCuda cuda;
  cuda.access = {true, true};
  EXPECT_TRUE(tests::succeeded(CudaScope::enter(cuda, nullptr, 1, address)));
  EXPECT_EQ(cuda.retained, std::vector<int>{1});
}

TEST(CudaScope, UsesTheDeviceThatMemoryWasImportedFor) {
  AccessCuda cuda;
  cuda.access = {false, false, true, false};
  EXPECT_TRUE(tests::succeeded(CudaScope::enter(cuda, nullptr, 3, address)));
  EXPECT_EQ(cuda.retained, std::vector<int>{2});
}

TEST(CudaScope, UsesTheOwnDeviceByDefault) {
  AccessCuda cuda;
  cuda.result = 1;  // not cuMemCreate's memory
  EXPECT_TRUE(tests::succeeded(CudaScope::enter(cuda, nullptr, 1, address)));
  cuda.result = driver::cuda_error_not_supported;
  EXPECT_TRUE(tests::succeeded(CudaScope::enter(cuda, nullptr, 1, address)));
  cuda.result.reset();
  cuda.access = {false, false};
  EXPECT_TRUE(tests::succeeded(CudaScope::enter(cuda, nullptr, 1, address)));
  EXPECT_EQ(cuda.retained, (std::vector<int>{1, 1, 1}));
}

}  // namespace
}  // namespace gdrkit::backend
