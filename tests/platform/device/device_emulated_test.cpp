// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/emulated_memory.hpp"
#include "platform/device/device.hpp"
#include "support/device_access.hpp"
#include "support/process_resources.hpp"
#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

using tests::count_process_resources;
using tests::first_difference;
using tests::make_pattern;

class EmulatedDevice : public ::testing::Test {
 protected:
  void SetUp() override { device_ = tests::value_or_throw(open_emulated_device(0)); }
  std::unique_ptr<Device> device_;
};

TEST_F(EmulatedDevice, ReportsItsIdentity) {
  EXPECT_TRUE(device_->is_emulated());
  const auto& identity = device_->identity();
  EXPECT_NE(std::string(identity.name).find("emulated"), std::string::npos);
  EXPECT_STREQ(identity.pci_bus_id, "ffff:ff:1f.0");
  EXPECT_EQ(identity.pci_domain, 0xffffU);
  EXPECT_EQ(identity.pci_bus, 0xffU);
  EXPECT_EQ(identity.pci_device, 0x1fU);
  EXPECT_NE(identity.uuid, driver::CudaUuid{});
  EXPECT_NE(std::string(identity.driver_version).find("emulated"), std::string::npos);
}

/// Sets GDRKIT_EMULATED_DEVICES in the environment during its lifetime.
class EmulatedDevices {
 public:
  explicit EmulatedDevices(const char* value) { ::setenv("GDRKIT_EMULATED_DEVICES", value, 1); }
  EmulatedDevices(const EmulatedDevices&) = delete;
  EmulatedDevices& operator=(const EmulatedDevices&) = delete;
  ~EmulatedDevices() { ::unsetenv("GDRKIT_EMULATED_DEVICES"); }
};

TEST_F(EmulatedDevice, IsTheOnlyOneUnlessMoreAreRequested) {
  for (const int ordinal : {-1, 1}) {
    EXPECT_TRUE(tests::failed(open_emulated_device(ordinal), ENODEV));
  }
  const EmulatedDevices many("16");
  EXPECT_EQ(emulated_device_count().value(), 16);
  std::set<std::string> addresses;
  for (int ordinal = 0; ordinal < 16; ++ordinal) {
    const auto opened = tests::value_or_throw(open_emulated_device(ordinal));
    EXPECT_EQ(opened->identity().ordinal, ordinal);
    addresses.insert(opened->identity().pci_bus_id);
  }
  EXPECT_EQ(addresses.size(), 16U);
  EXPECT_EQ(*addresses.begin(), "ffff:ff:10.0");
  EXPECT_EQ(open_emulated_device(16).error().errno_value, ENODEV);
}

TEST_F(EmulatedDevice, RejectsInvalidCounts) {
  for (const char* text : {"0", "17", "-1", "two", "2x", " 2", "99999999999"}) {
    const EmulatedDevices set(text);
    EXPECT_TRUE(tests::failed(open_emulated_device(0), EINVAL, testing::HasSubstr("from 1 to 16"))) << text;
  }
}

TEST_F(EmulatedDevice, CopiesInBothDirectionsForEveryKind) {
  for (const AllocationKind kind : allocation_kinds) {
    SCOPED_TRACE(allocation_kind_name(kind));
    auto memory = tests::value_or_throw(device_->allocate(kind, 100'003));
    EXPECT_EQ(memory.kind(), kind);
    EXPECT_EQ(memory.size_bytes(), 100'003U);
    EXPECT_GE(memory.extent_bytes(), memory.size_bytes());
    const auto pattern = make_pattern(100'003, static_cast<unsigned>(kind));
    ASSERT_TRUE(tests::succeeded(device_->copy_to_device(memory.address(), pattern.data(), pattern.size())));
    std::vector<std::uint8_t> back(pattern.size());
    ASSERT_TRUE(tests::succeeded(device_->copy_to_host(back.data(), memory.address(), back.size())));
    EXPECT_EQ(first_difference(back, pattern), pattern.size());
    ASSERT_TRUE(device_->fill(memory.address() + 1, 0x5c, 7));
    ASSERT_TRUE(device_->copy_to_host(back.data(), memory.address(), 9));
    EXPECT_EQ(back[0], pattern[0]);
    EXPECT_EQ(back[1], 0x5c);
    EXPECT_EQ(back[7], 0x5c);
    EXPECT_EQ(back[8], pattern[8]);
    EXPECT_TRUE(device_->set_sync_memops(memory.address()));
  }
}

TEST_F(EmulatedDevice, ReportsTheMemoryOfThisMachine) {
  const auto memory = device_->memory();
  ASSERT_TRUE(memory);
  const auto pages = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES));
  EXPECT_GE(memory->total_bytes, pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024 * 1024);
  EXPECT_GT(memory->free_bytes, 0u);
  EXPECT_LE(memory->free_bytes, memory->total_bytes);
  // More than the available memory is rejected.
  EXPECT_FALSE(device_->allocate(AllocationKind::cuda_malloc, memory->total_bytes + (std::size_t{1} << 30)));
}

TEST_F(EmulatedDevice, KindsAreVisibleToTheBackend) {
  const std::pair<AllocationKind, driver::EmulatedKind> kinds[] = {
      {AllocationKind::cuda_malloc, driver::EmulatedKind::device},
      {AllocationKind::vmm, driver::EmulatedKind::device},
      {AllocationKind::vmm_exportable, driver::EmulatedKind::device},
      {AllocationKind::pool, driver::EmulatedKind::device},
      {AllocationKind::managed, driver::EmulatedKind::managed},
      {AllocationKind::host, driver::EmulatedKind::host}};
  for (const auto& [kind, emulated] : kinds) {
    auto memory = tests::value_or_throw(device_->allocate(kind, 10));
    const auto found = tests::value_or_throw(driver::emulated_find(memory.address()));
    EXPECT_EQ(found.kind, emulated) << allocation_kind_name(kind);
    EXPECT_EQ(found.size_bytes, memory.extent_bytes()) << allocation_kind_name(kind);
    const bool has_granularity = kind == AllocationKind::vmm || kind == AllocationKind::vmm_exportable;
    EXPECT_EQ(memory.extent_bytes(), has_granularity ? std::size_t{2} << 20 : 10) << allocation_kind_name(kind);
  }
}

TEST_F(EmulatedDevice, CopiesPastTheAllocationAreRejected) {
  auto memory = tests::value_or_throw(device_->allocate(AllocationKind::cuda_malloc, 1000));
  std::vector<std::uint8_t> host(2000);
  EXPECT_TRUE(device_->copy_to_device(memory.address() + 999, host.data(), 1));
  EXPECT_TRUE(device_->copy_to_device(memory.address() + 1000, host.data(), 0));
  EXPECT_FALSE(device_->copy_to_device(memory.address() + 999, host.data(), 2));
  EXPECT_FALSE(device_->copy_to_device(memory.address() + 1001, host.data(), 1));
  EXPECT_FALSE(device_->copy_to_host(host.data(), memory.address(), 1001));
  EXPECT_FALSE(device_->copy_to_host(host.data(), memory.address() + 1, SIZE_MAX));
  EXPECT_FALSE(device_->fill(memory.address(), 0, 1001));
  EXPECT_FALSE(device_->copy_to_device(reinterpret_cast<std::uint64_t>(host.data()), host.data(), 1));
}

TEST_F(EmulatedDevice, AllocationsAreFreedOnce) {
  const auto before = count_process_resources();
  auto memory = tests::value_or_throw(device_->allocate(AllocationKind::cuda_malloc, 1000));
  const std::uint64_t address = memory.address();
  Allocation moved = std::move(memory);
  EXPECT_TRUE(memory.free()) << "moved from: nothing to do";
  EXPECT_TRUE(driver::emulated_find(address));
  auto other = tests::value_or_throw(device_->allocate(AllocationKind::pool, 1000));
  moved = std::move(other);  // frees the first
  EXPECT_FALSE(driver::emulated_find(address));
  EXPECT_TRUE(driver::emulated_find(moved.address()));
  EXPECT_TRUE(moved.free());
  EXPECT_TRUE(moved.free());
  EXPECT_EQ(count_process_resources(), before);
}

TEST_F(EmulatedDevice, FreeReportsMemoryThatWasAlreadyFreed) {
  auto memory = tests::value_or_throw(device_->allocate(AllocationKind::cuda_malloc, 1000));
  ASSERT_TRUE(driver::emulated_free(memory.address()));
  EXPECT_TRUE(tests::failed(memory.free(), EINVAL));
}

TEST_F(EmulatedDevice, RejectsImpossibleSizes) {
  for (const AllocationKind kind : allocation_kinds) {
    EXPECT_FALSE(device_->allocate(kind, 0)) << allocation_kind_name(kind);
    EXPECT_TRUE(tests::failed(device_->allocate(kind, SIZE_MAX), ENOMEM)) << allocation_kind_name(kind);
  }
}

TEST_F(EmulatedDevice, RejectsMoreThanTheMachineHasBeforeTouchingMemory) {
  EXPECT_TRUE(tests::failed(device_->allocate(AllocationKind::host, std::size_t{1} << 45), ENOMEM,
                            testing::HasSubstr("memory and swap of this machine")));
}

}  // namespace
}  // namespace gdrkit::platform
