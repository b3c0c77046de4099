// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Coherent platforms (Grace with NVLink-C2C): when the mapping is the device address itself, and when not.
#include <gmock/gmock.h>

#include "backend/pointer_pin.hpp"
#include "driver/system.hpp"
#include "lib/backend/rm/rm_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::rm {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t caching_is_cached = 0;

class RmCoherent : public ::testing::Test {
 protected:
  explicit RmCoherent(fakes::FakeGpu gpu = coherent_gpu()) : machine({}, std::move(gpu)) {
    machine.rm.set_caching(caching_is_cached);
    machine.cuda.names_host_addresses = true;
    backend = open_or_fail(machine);
  }
  /// Fills the memory with distinct words and pins it.
  std::unique_ptr<BackendPin> pin(std::uint64_t address, std::size_t size_bytes) {
    return pin_or_fail(*backend, machine.filled(address, size_bytes), size_bytes);
  }
  /// Whether RM or Linux has mapped memory.
  [[nodiscard]] bool is_anything_mapped() const {
    return machine.rm.census().vmas + machine.rm.census().rm_mappings > 0;
  }
  void expect_mapped_by_the_driver(std::uint64_t address, std::size_t size_bytes) {
    const auto held = pin(address, size_bytes);
    const MappedRegion region = map_or_fail(*held);
    EXPECT_TRUE(is_anything_mapped());
    EXPECT_NE(region.address, reinterpret_cast<void*>(held->page_address()));
    EXPECT_FALSE(held->is_invalidated());
    EXPECT_EQ(std::memcmp(own_byte(*held, region, address), machine.cuda.read(address, size_bytes).data(), size_bytes),
              0);
  }

  RmMachine machine;
  std::unique_ptr<Backend> backend;
};

struct RmDiscrete : RmCoherent {
  RmDiscrete() : RmCoherent(fakes::make_gpu(0)) {}
};

TEST_F(RmCoherent, MapsTheDeviceAddressIfTheCpuCanUseIt) {
  const std::uint64_t address = machine.cuda.malloc_for_cpu(2 * mib) + 100;
  const fakes::Census before = machine.rm.census();
  const auto held = pin(address, 300 * kib);
  EXPECT_STRCASEEQ(held->device().c_str(), machine.rm.gpus()[0].pci().c_str());
  for (const MappingType type : {MappingType::none, MappingType::cached}) {
    const MappedRegion region = map_or_fail(*held, type);
    EXPECT_EQ(region.address, reinterpret_cast<void*>(held->page_address()));
    EXPECT_EQ(region.size_bytes, held->page_bytes());
    EXPECT_EQ(region.type, MappingType::cached);
    EXPECT_EQ(region.verification, Verification::none) << "CUDA reported the address";
    std::uint8_t* const own = own_byte(*held, region, address);
    EXPECT_EQ(std::memcmp(own, machine.cuda.read(address, 300 * kib).data(), 300 * kib), 0);
    own[7] = 0x5a;
    EXPECT_EQ(machine.cuda.read(address + 7, 1)[0], 0x5a);
    ASSERT_TRUE(tests::succeeded(held->unmap()));
    EXPECT_TRUE(driver::can_load_from(own)) << "unmap must not unmap memory of CUDA";
  }
  EXPECT_TRUE(machine.rm.census() == before) << "the driver must not be called";
  ASSERT_TRUE(tests::succeeded(held->unpin()));
}

TEST_F(RmCoherent, TheDeviceAddressSupportsOnlyCached) {
  const auto held = pin(machine.cuda.malloc_for_cpu(mib), mib);
  for (const MappingType type : {MappingType::write_combining, MappingType::device}) {
    EXPECT_TRUE(tests::failed(held->map(mib, type), EOPNOTSUPP, HasSubstr("FORCE_PCIE")));
  }
  EXPECT_FALSE(held->map(0, MappingType::none));
  EXPECT_FALSE(held->map(mib + 1, MappingType::none));
  EXPECT_TRUE(tests::succeeded(held->map(mib, MappingType::none))) << "a failed map must leave nothing";
}

TEST_F(RmCoherent, DetectsThatTheOwnerFreedTheMemory) {
  const std::uint64_t address = machine.cuda.malloc_for_cpu(mib);
  const auto held = pin(address, mib);
  (void)map_or_fail(*held);
  EXPECT_FALSE(held->is_invalidated());
  machine.cuda.free(address);
  EXPECT_TRUE(held->is_invalidated());
  ASSERT_TRUE(tests::succeeded(held->unmap()));
  EXPECT_TRUE(tests::failed(held->map(mib, MappingType::none), EINVAL, HasSubstr("freed")));
  EXPECT_TRUE(tests::succeeded(held->unpin()));
}

TEST_F(RmCoherent, DetectsThatAnotherAllocationHasTheAddress) {
  const std::uint64_t block = machine.cuda.malloc_for_cpu(mib);
  const auto held = pin(block, mib);
  machine.cuda.replace_allocation(block);
  EXPECT_TRUE(held->is_invalidated());
  EXPECT_FALSE(held->map(mib, MappingType::none));
}

TEST_F(RmCoherent, TheDriverMapsMemoryThatCudaHidesFromTheCpu) {
  machine.cuda.names_host_addresses = false;  // cudaMalloc on Grace Hopper
  expect_mapped_by_the_driver(machine.cuda.malloc_for_cpu(mib), mib);
}

TEST_F(RmCoherent, TheDriversMappingSupportsOnlyCached) {
  machine.cuda.names_host_addresses = false;
  const auto held = pin(machine.cuda.malloc(2 * mib), 2 * mib);
  for (const MappingType type : {MappingType::none, MappingType::cached}) {
    EXPECT_EQ(map_or_fail(*held, type).type, MappingType::cached);
    ASSERT_TRUE(held->unmap());
  }
  for (const MappingType type : {MappingType::write_combining, MappingType::device}) {
    EXPECT_TRUE(
        tests::failed(held->map(held->page_bytes(), type), EOPNOTSUPP, HasSubstr("supports only type 'cached'")));
  }
}

TEST_F(RmCoherent, TheDriverMapsMemoryThatTheCpuCannotRead) {
  // Pools are at low addresses, which this process has not mapped.
  expect_mapped_by_the_driver(machine.cuda.pool_malloc(2 * mib), 2 * mib);
}

TEST_F(RmCoherent, TheDriverMapsARangeOfSeveralBlocks) {
  expect_mapped_by_the_driver(machine.cuda.vmm({2 * mib, 2 * mib}, false), 4 * mib);
}

TEST_F(RmCoherent, ACpuPointerMustLieInOneBlock) {
  const std::uint64_t address = machine.cuda.malloc_for_cpu(mib);
  DeviceRange range;
  range.attributes.device_ordinal = 0;
  range.page_address = address;
  range.page_bytes = mib;
  const auto is_one_in = [&](std::uint64_t base, std::uint64_t size) {
    range.attributes.mapping_base = base;
    range.attributes.mapping_size = size;
    return is_cpu_pointer(machine.cuda, address, range);
  };
  EXPECT_TRUE(is_one_in(address, mib));
  EXPECT_TRUE(is_one_in(address - 64 * kib, 2 * mib));
  EXPECT_FALSE(is_one_in(address, mib - 1)) << "its last page belongs to another block";
  EXPECT_FALSE(is_one_in(address + 1, mib)) << "its first page belongs to another block";
}

TEST_F(RmDiscrete, TheDriverMapsAllMemory) { expect_mapped_by_the_driver(machine.cuda.malloc_for_cpu(mib), mib); }

}  // namespace
}  // namespace gdrkit::backend::rm
