// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Which of an application's memory is shared, by a driver of this test's own.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "platform/device/cuda_calls.hpp"
#include "platform/device/device.hpp"
#include "shmem/heap/heap_space.hpp"
#include "support/process_resources.hpp"
#include "support/results.hpp"

namespace gdrkit::shmem_impl::heap {
namespace {

using platform::CudaMemAccessDesc;
using platform::CudaMemAllocationProp;
using ::testing::HasSubstr;
using tests::failed;
using tests::succeeded;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t buffer = 64 * mebibyte;  // of 4 MiB, on GPU 0

/// The driver's results for the memory at `buffer`, and the calls that it received.
struct Driver {
  unsigned type = platform::cuda_memory_type_device;
  int ordinal = 0;
  int retain_result = 0;
  int export_result = 0;
  int pointer_result = 0;
  int handles = 0;   // retained, not released
  int mappings = 0;  // mapped, not unmapped
  std::uint64_t last_mapped_bytes = 0;
  std::uint64_t reserved_bytes = 0;
};
Driver driver;

platform::CudaCalls driver_calls() {
  platform::CudaCalls calls;
  calls.device_get = [](int* device, int) { return *device = 0; };
  calls.mem_get_granularity = [](std::size_t* granularity, const CudaMemAllocationProp*, int) {
    *granularity = 2 * mebibyte;
    return 0;
  };
  calls.mem_address_reserve = [](std::uint64_t* address, std::size_t size, std::size_t alignment, std::uint64_t,
                                 unsigned long long) {
    *address = 1026 * mebibyte;
    driver.reserved_bytes = size;
    return alignment == 0 ? 0 : 1;
  };
  calls.mem_address_free = [](std::uint64_t address, std::size_t size) {
    EXPECT_EQ(address, 1026 * mebibyte);
    EXPECT_EQ(size, driver.reserved_bytes);
    return 0;
  };
  calls.pointer_get_attributes = [](unsigned, int*, void** values, std::uint64_t) {
    *static_cast<unsigned*>(values[0]) = driver.type;
    *static_cast<int*>(values[1]) = driver.ordinal;
    return driver.pointer_result;
  };
  calls.mem_get_address_range = [](std::uint64_t* start, std::size_t* size, std::uint64_t) {
    *start = buffer;
    *size = 4 * mebibyte;
    return 0;
  };
  calls.mem_retain_handle = [](std::uint64_t* handle, void*) {
    *handle = 7;
    driver.handles += driver.retain_result == 0 ? 1 : 0;
    return driver.retain_result;
  };
  calls.mem_release = [](std::uint64_t) {
    --driver.handles;
    return 0;
  };
  calls.mem_export = [](void* fd, std::uint64_t, int, unsigned long long) {
    if (driver.export_result == 0) *static_cast<int*>(fd) = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    return driver.export_result;
  };
  calls.mem_import = [](std::uint64_t* handle, void*, int) {
    *handle = 8;
    ++driver.handles;
    return 0;
  };
  calls.mem_map = [](std::uint64_t, std::size_t size, std::size_t, std::uint64_t, unsigned long long) {
    ++driver.mappings;
    driver.last_mapped_bytes = size;
    return 0;
  };
  calls.mem_unmap = [](std::uint64_t, std::size_t) {
    --driver.mappings;
    return 0;
  };
  calls.mem_set_access = [](std::uint64_t, std::size_t, const CudaMemAccessDesc*, std::size_t) { return 0; };
  return calls;
}

class HeapSpaceOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    driver = Driver();
    ::setenv("GDRKIT_BACKEND", "emulated", 1);
    auto device = platform::open_emulated_device(0);  // for its number
    ASSERT_TRUE(device);
    device_ = std::move(*device);
    auto space = reserve_on_gpu(*device_, 2, 0, 64 * mebibyte, calls_);
    ASSERT_TRUE(space) << space.error().text();
    space_ = std::move(*space);
  }
  /// A rejected buffer leaves no state.
  void expect_refusal(std::uint64_t address, std::uint64_t size, int errno_value, const std::string& text) {
    const auto before = tests::count_descriptors();
    EXPECT_TRUE(failed(space_->share(address, size), errno_value, testing::HasSubstr(text)));
    EXPECT_EQ(driver.handles, 0);
    EXPECT_EQ(tests::count_descriptors(), before);
  }

  const platform::CudaCalls calls_ = driver_calls();
  std::unique_ptr<platform::Device> device_;
  std::unique_ptr<HeapSpace> space_;
};

TEST_F(HeapSpaceOnGpu, SlotsBeginAtTheirAlignmentWithinTheReservation) {
  constexpr std::uint64_t reserved = 1026 * mebibyte;
  EXPECT_EQ(space_->address(0, 0), 2048 * mebibyte);
  EXPECT_EQ(space_->address(1, 0), 3072 * mebibyte);
  EXPECT_LE(space_->address(1, 64 * mebibyte), reserved + driver.reserved_bytes);
}

TEST_F(HeapSpaceOnGpu, SharesAndMapsAWholeAllocation) {
  auto shared = space_->share(buffer, 3 * mebibyte);
  ASSERT_TRUE(shared) << shared.error().text();
  EXPECT_EQ(shared->size_bytes, 4 * mebibyte);
  EXPECT_GE(shared->fd.get(), 0);
  EXPECT_EQ(driver.handles, 0);
  EXPECT_TRUE(succeeded(space_->attach_shared(1, 8 * mebibyte, shared->size_bytes, std::move(shared->fd))));
  EXPECT_EQ(driver.mappings, 1);
  EXPECT_EQ(driver.last_mapped_bytes, 4 * mebibyte);
  EXPECT_EQ(driver.handles, 0) << "the mapping keeps the memory";
  EXPECT_TRUE(succeeded(space_->remove_shared(1, 8 * mebibyte, 4 * mebibyte)));
  EXPECT_EQ(driver.mappings, 0);
  space_.reset();
  EXPECT_EQ(driver.mappings, 0) << "unmapped once";
}

TEST_F(HeapSpaceOnGpu, RejectsMemoryOfCudaMalloc) {
  driver.retain_result = 1;  // CUDA_ERROR_INVALID_VALUE
  expect_refusal(buffer, mebibyte, EOPNOTSUPP, "cuMemCreate did not allocate the memory");
}

TEST_F(HeapSpaceOnGpu, RejectsMemoryWithoutAFileDescriptor) {
  driver.export_result = 1;
  expect_refusal(buffer, mebibyte, EOPNOTSUPP, "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR");
}

TEST_F(HeapSpaceOnGpu, RejectsHostMemory) {
  driver.type = platform::cuda_memory_type_host;
  expect_refusal(buffer, mebibyte, EOPNOTSUPP, "host memory");
  driver.pointer_result = 1;  // memory that is unknown to the driver
  expect_refusal(buffer, mebibyte, EOPNOTSUPP, "host memory");
}

TEST_F(HeapSpaceOnGpu, RejectsMemoryOfOtherGpusAndPartialAllocations) {
  expect_refusal(buffer + mebibyte, mebibyte, EINVAL, "register the allocation from the start");
  expect_refusal(buffer, 5 * mebibyte, EINVAL, "register the allocation from the start");
  driver.ordinal = 3;
  expect_refusal(buffer, mebibyte, EINVAL, "the memory is on GPU 3, but this PE uses GPU 0");
}

}  // namespace
}  // namespace gdrkit::shmem_impl::heap
