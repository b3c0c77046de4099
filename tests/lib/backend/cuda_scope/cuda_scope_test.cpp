// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/cuda_scope.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "fakes/emulated_cuda.hpp"
#include "support/results.hpp"

namespace gdrkit::backend {
namespace {

using driver::Cuda;

constexpr std::uint64_t address = 0x7f0000000000;

/// A driver that says who may access memory, and remembers whose primary context was asked for.
class AccessCuda : public fakes::EmulatedCuda {
 public:
  std::vector<bool> access;  ///< by device
  std::optional<int> result;
  std::vector<int> retained;

  int mem_get_access(std::uint64_t asked, int ordinal, bool* has_access) noexcept override {
    EXPECT_EQ(asked, address);
    if (result) return *result;
    if (ordinal < 0 || ordinal >= static_cast<int>(access.size())) return 101;
    *has_access = access[static_cast<std::size_t>(ordinal)];
    return 0;
  }
  int exchange_stream_capture_mode(int*) noexcept override { return 0; }
  int ctx_get_current(std::uint64_t* context) noexcept override {
    *context = 0;
    return 0;
  }
  int primary_ctx_is_active(int, int* active) noexcept override {
    *active = 1;
    return 0;
  }
  int primary_ctx_retain(int ordinal, std::uint64_t* context) noexcept override {
    retained.push_back(ordinal);
    *context = 0x1000U + static_cast<unsigned>(ordinal);
    return 0;
  }
  int primary_ctx_release(int) noexcept override { return 0; }
  int ctx_push_current(std::uint64_t) noexcept override { return 0; }
  int ctx_pop_current() noexcept override { return 0; }
};

TEST(CudaScope, TakesTheMemorysOwnDeviceWhereItHasAccess) {
  AccessCuda cuda;
  cuda.access = {true, true};
  EXPECT_TRUE(tests::succeeded(CudaScope::enter(cuda, 0, 1, address)));
  EXPECT_EQ(cuda.retained, std::vector<int>{1});
}

TEST(CudaScope, TakesTheDeviceThatMemoryWasImportedFor) {
  AccessCuda cuda;
  cuda.access = {false, false, true, false};
  EXPECT_TRUE(tests::succeeded(CudaScope::enter(cuda, 0, 3, address)));
  EXPECT_EQ(cuda.retained, std::vector<int>{2});
}

TEST(CudaScope, TakesTheOwnDeviceWhereNobodyKnowsBetter) {
  AccessCuda cuda;
  cuda.result = 1;  // not cuMemCreate's memory
  EXPECT_TRUE(tests::succeeded(CudaScope::enter(cuda, 0, 1, address)));
  cuda.result = Cuda::not_supported;
  EXPECT_TRUE(tests::succeeded(CudaScope::enter(cuda, 0, 1, address)));
  cuda.result.reset();
  cuda.access = {false, false};
  EXPECT_TRUE(tests::succeeded(CudaScope::enter(cuda, 0, 1, address)));
  EXPECT_EQ(cuda.retained, (std::vector<int>{1, 1, 1}));
}

}  // namespace
}  // namespace gdrkit::backend
