// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "fake_cuda_driver.hpp"
#include "platform/device/device.hpp"
#include "support/device_access.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

using tests::FakeCudaDriver;
using tests::make_pattern;

class CudaDevice : public ::testing::Test {
 protected:
  void SetUp() override { driver_.reset(); }
  void TearDown() override { EXPECT_TRUE(driver_.is_clean()); }

  static std::unique_ptr<Device> open(int ordinal = 0) {
    auto opened = open_cuda_device(ordinal, FakeCudaDriver::calls());
    EXPECT_TRUE(opened) << opened.error().text();
    return opened ? std::move(*opened) : nullptr;
  }

  FakeCudaDriver& driver_ = FakeCudaDriver::instance();
};

TEST_F(CudaDevice, TellsIdentityInTheSpellingOfSysfs) {
  const auto device = open(1);
  ASSERT_NE(device, nullptr);
  const auto& identity = device->identity();
  EXPECT_FALSE(device->is_emulated());
  EXPECT_EQ(identity.ordinal, 1);
  EXPECT_STREQ(identity.name, "Fake H200");
  EXPECT_STREQ(identity.pci_bus_id, "0001:af:1c.0");
  EXPECT_EQ(identity.pci_domain, 1U);
  EXPECT_EQ(identity.pci_bus, 0xafU);
  EXPECT_EQ(identity.pci_device, 0x1cU);
  EXPECT_EQ(identity.uuid[15], 0x5a);
  EXPECT_TRUE(std::string(identity.driver_version).starts_with("CUDA 13.0, NVIDIA driver ")) << identity.driver_version;
}

TEST_F(CudaDevice, ThereAreAsManyAsTheDriverSays) {
  const auto count = cuda_device_count(FakeCudaDriver::calls());
  ASSERT_TRUE(count);
  EXPECT_EQ(*count, 2);
  for (const int ordinal : {-1, 2}) {
    const auto opened = open_cuda_device(ordinal, FakeCudaDriver::calls());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().errno_value, ENODEV);
  }
}

TEST_F(CudaDevice, CopiesBothWaysForEveryKind) {
  const auto device = open();
  for (const AllocationKind kind : allocation_kinds) {
    SCOPED_TRACE(allocation_kind_name(kind));
    auto memory = device->allocate(kind, 100'003);
    ASSERT_TRUE(memory) << memory.error().text();
    const auto pattern = make_pattern(100'003, 1);
    std::vector<std::uint8_t> back(pattern.size());
    ASSERT_TRUE(device->copy_to_device(memory->address(), pattern.data(), pattern.size()));
    EXPECT_EQ(driver_.log.back(), "stream_synchronize") << "cuMemcpyHtoD may return before the bytes have arrived";
    ASSERT_TRUE(device->copy_to_host(back.data(), memory->address(), back.size()));
    EXPECT_EQ(back, pattern);
    EXPECT_TRUE(tests::succeeded(memory->free()));
    EXPECT_EQ(driver_.memory.size() + driver_.mappings.size() + driver_.host_memory.size(), 0U);
  }
}

TEST_F(CudaDevice, DriverCopiesAreOneCallEach) {
  const auto device = open();
  auto memory = device->allocate(AllocationKind::cuda_malloc, 64);
  ASSERT_TRUE(memory);
  std::uint64_t word = 1;
  const std::size_t before = driver_.log.size();
  EXPECT_TRUE(device->driver_copy_to_device(memory->address(), &word, 8));
  EXPECT_TRUE(device->driver_copy_to_host(&word, memory->address(), 8));
  EXPECT_EQ(driver_.log.size(), before + 2);
}

TEST_F(CudaDevice, VmmMemoryIsMadeForBar1AndExportableOnlyWhenAsked) {
  const auto device = open(1);
  for (const bool exportable : {false, true}) {
    auto memory = device->allocate(exportable ? AllocationKind::vmm_exportable : AllocationKind::vmm, 3 << 20);
    ASSERT_TRUE(memory) << memory.error().text();
    EXPECT_EQ(memory->size_bytes(), std::size_t{3} << 20);
    EXPECT_EQ(memory->extent_bytes(), std::size_t{4} << 20);
    EXPECT_EQ(driver_.last_properties.flags.gpu_direct_rdma_capable, 1);
    EXPECT_EQ(driver_.last_properties.requested_handle_types, exportable ? 1 : 0);
    EXPECT_EQ(driver_.last_properties.location.type, 1);
    EXPECT_EQ(driver_.last_properties.location.id, 11);
    EXPECT_TRUE(driver_.is_accessible);
    EXPECT_TRUE(driver_.handles.empty()) << "the mapping alone keeps the memory";
  }
}

TEST_F(CudaDevice, MemoryIsWhatTheDriverSays) {
  const auto memory = open()->memory();
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->free_bytes, std::size_t{3} << 30);
  EXPECT_EQ(memory->total_bytes, std::size_t{4} << 30);
}

TEST_F(CudaDevice, SyncMemopsStreamsAndFill) {
  const auto device = open();
  auto memory = device->allocate(AllocationKind::cuda_malloc, 64);
  const auto stream = device->create_stream();
  ASSERT_TRUE(memory && stream);
  EXPECT_TRUE(tests::succeeded(device->set_sync_memops(memory->address())));
  EXPECT_TRUE(device->fill(memory->address(), 0x3c, 64));
  std::vector<std::uint8_t> back(64);
  EXPECT_TRUE(device->copy_to_host_async(back.data(), memory->address(), 64, *stream));
  EXPECT_TRUE(device->synchronize(*stream));
  EXPECT_EQ(back, std::vector<std::uint8_t>(64, 0x3c));
  EXPECT_TRUE(device->copy_to_device_async(memory->address(), back.data(), 64, *stream));
  EXPECT_TRUE(device->synchronize_all());
  EXPECT_TRUE(device->destroy_stream(*stream));
}

TEST_F(CudaDevice, ClosingLeavesAForeignCurrentContextAlone) {
  auto device = open();
  EXPECT_NE(driver_.current_context, nullptr);
  device.reset();
  EXPECT_EQ(driver_.current_context, nullptr);
  device = open();
  int other = 0;
  driver_.current_context = &other;
  device.reset();
  EXPECT_EQ(driver_.current_context, &other);
  driver_.current_context = nullptr;
}

TEST_F(CudaDevice, ErrorsCarryTheDriversName) {
  const auto device = open();
  driver_.fail_at = static_cast<int>(driver_.log.size());
  const auto memory = device->allocate(AllocationKind::cuda_malloc, 4096);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().errno_value, ENOMEM);
  EXPECT_EQ(memory.error().vendor_code, 2);
  EXPECT_NE(std::string(memory.error().text()).find("cuMemAlloc"), std::string::npos) << memory.error().text();
  EXPECT_NE(std::string(memory.error().text()).find("CUDA_ERROR_OUT_OF_MEMORY"), std::string::npos)
      << memory.error().text();
}

TEST_F(CudaDevice, RefusesImpossibleSizesItself) {
  const auto device = open();
  const std::size_t before = driver_.log.size();
  for (const AllocationKind kind : allocation_kinds) {
    EXPECT_EQ(device->allocate(kind, 0).error().errno_value, EINVAL);
    EXPECT_EQ(device->allocate(kind, SIZE_MAX).error().errno_value, ENOMEM);
  }
  EXPECT_EQ(driver_.log.size(), before);
}

/// Opens, allocates, copies, frees and closes; how many of the steps that return a status failed.
int run_whole_life(AllocationKind kind) {
  auto device = open_cuda_device(0, FakeCudaDriver::calls());
  if (!device) return 1;
  auto memory = (*device)->allocate(kind, 5000);
  if (!memory) return 1;
  std::uint64_t word = 7;
  int failures = (*device)->copy_to_device(memory->address(), &word, 8) ? 0 : 1;
  failures += (*device)->copy_to_host(&word, memory->address(), 8) ? 0 : 1;
  failures += memory->free() ? 0 : 1;
  return failures;
}

// Calls whose failure is not an error: what they tell or undo is not needed to go on.
bool may_fail_silently(const std::string& call) {
  return call == "driver_get_version" || call == "mem_get_address_range" || call == "ctx_get_current" ||
         call == "primary_ctx_release" || call == "stream_destroy";
}
// Calls that give back: when they fail, what they were to give back stays, and nothing can be done about it.
bool gives_back(const std::string& call) {
  return call == "mem_free" || call == "mem_free_host" || call == "mem_free_async" || call == "mem_unmap" ||
         call == "mem_address_free" || call == "mem_release" || call == "primary_ctx_release" ||
         call == "stream_destroy";
}

TEST_F(CudaDevice, AFailureAtAnyCallIsReportedAndLeavesNothing) {
  for (const AllocationKind kind : allocation_kinds) {
    driver_.reset();
    ASSERT_EQ(run_whole_life(kind), 0) << allocation_kind_name(kind);
    ASSERT_TRUE(driver_.is_clean());
    const int calls = static_cast<int>(driver_.log.size());
    for (int i = 0; i < calls; ++i) {
      driver_.reset();
      driver_.fail_at = i;
      driver_.failure = 999;
      const int failures = run_whole_life(kind);
      ASSERT_LT(i, static_cast<int>(driver_.log.size()));
      const std::string failed = driver_.log[static_cast<std::size_t>(i)];
      SCOPED_TRACE(std::string(allocation_kind_name(kind)) + ": call " + std::to_string(i) + ", " + failed);
      // Closing's ctx_set_current comes last but one and is silent; opening's is an error.
      const bool is_closing =
          failed == "ctx_set_current" && driver_.log.back() == "primary_ctx_release" && failures == 0;
      EXPECT_EQ(failures, may_fail_silently(failed) || is_closing ? 0 : 1);
      EXPECT_TRUE(driver_.is_clean() || gives_back(failed));
    }
  }
  driver_.reset();
}

TEST_F(CudaDevice, WithoutADriverSaysWhichLibraryIsMissing) {
  const auto count = cuda_device_count();
  if (count) GTEST_SKIP() << "this machine has a CUDA driver";
  const std::string reason = count.error().text();
  EXPECT_NE(reason.find("libcuda.so"), std::string::npos) << reason;
  const auto opened = open_cuda_device(0);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().errno_value, count.error().errno_value);
}

}  // namespace
}  // namespace gdrkit::platform
