// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The contents of a pin and a mapping, compared byte for byte with the device's own copies.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "backend_conformance.hpp"
#include "support/results.hpp"

namespace gdrkit::backend {
namespace {

using platform::AllocationKind;
using tests::make_pattern;
using tests::store_to_mapping;

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;
constexpr std::size_t sizes[] = {1, 4 * kib, 64 * kib + 1, 5 * mib};

TEST_P(BackendConformance, TraitsAreConsistent) {
  const Traits& traits = backend_->traits();
  EXPECT_EQ(traits.name, candidate_.backend);
  EXPECT_GE(traits.page_size_bytes, static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(traits.page_size_bytes & (traits.page_size_bytes - 1), 0U) << "not a power of two";
}

TEST_P(BackendConformance, PinsAndMapsTheEnclosingPages) {
  const auto memory = allocate(AllocationKind::cuda_malloc, 300'000);
  const std::uint64_t address = memory.address() + 70'001;
  const auto host_page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto range = pin_and_map(address, 100'000);
  EXPECT_EQ(range.pin->page_address(), page_down(address));
  EXPECT_EQ(range.pin->page_bytes(), page_up(address + 100'000) - page_down(address));
  EXPECT_EQ(range.pin->device(), device_->identity().pci_bus_id);
  EXPECT_FALSE(range.pin->is_invalidated());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(range.region.address) % host_page, 0U);
  EXPECT_EQ(range.region.size_bytes % host_page, 0U);
  EXPECT_GE(range.region.size_bytes, address + 100'000 - page_down(address));
  EXPECT_LE(range.region.size_bytes, range.pin->page_bytes());
  EXPECT_NE(range.region.type, MappingType::none);
}

TEST_P(BackendConformance, MappingAndDeviceReadEachOthersDataInEveryKindOfMemory) {
  for (const AllocationKind kind : served_kinds()) {
    for (const std::size_t size : sizes) {
      SCOPED_TRACE(std::string(platform::allocation_kind_name(kind)) + ", " + std::to_string(size) + " bytes");
      const auto memory = allocate(kind, size);
      const auto range = pin_and_map(memory.address(), size);
      expect_in_mapping(range.user, make_pattern(size, 0xba5e));
      store_to_mapping(range.user, make_pattern(size, size + 1));
      expect_on_device(memory.address(), make_pattern(size, size + 1));
      fill(memory.address(), make_pattern(size, size + 2));
      expect_in_mapping(range.user, make_pattern(size, size + 2));
    }
  }
}

TEST_P(BackendConformance, UnalignedRangesAccessOnlyTheirBytes) {
  constexpr std::size_t whole = 5 * 64 * kib + 777;
  const auto memory = allocate(AllocationKind::cuda_malloc, whole);
  auto expected = make_pattern(whole, 0xba5e);
  std::uint64_t seed = 100;
  for (const std::size_t offset : {1U, 7U, 4095U, 65535U, 65536U, 131'073U, 200'000U}) {
    for (const std::size_t size : {1U, 3U, 4096U, 65537U}) {
      SCOPED_TRACE(std::to_string(size) + " bytes at offset " + std::to_string(offset));
      const auto range = pin_and_map(memory.address() + offset, size);
      const auto pattern = make_pattern(size, ++seed);
      store_to_mapping(range.user, pattern);
      std::copy(pattern.begin(), pattern.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
      expect_on_device(memory.address(), expected);
      expect_in_mapping(range.user, pattern);
    }
  }
}

// A GPU places small allocations next to each other in one block: each mapping must contain its own allocation.
TEST_P(BackendConformance, SubAllocationsOfOneBlockAreDistinguished) {
  for (const AllocationKind kind : {AllocationKind::cuda_malloc, AllocationKind::pool}) {
    if (!has_kind(kind)) continue;
    SCOPED_TRACE(platform::allocation_kind_name(kind));
    constexpr std::size_t count = 16;
    constexpr std::size_t size = 4 * kib;
    std::vector<platform::Allocation> memories;
    std::vector<MappedRange> ranges;
    for (std::size_t i = 0; i < count; ++i) {
      memories.push_back(allocate(kind, size));
      ranges.push_back(pin_and_map(memories[i].address(), size));
    }
    for (std::size_t i = 0; i < count; ++i) store_to_mapping(ranges[i].user, make_pattern(size, 1000 + i));
    for (std::size_t i = 0; i < count; ++i) expect_on_device(memories[i].address(), make_pattern(size, 1000 + i));
    for (std::size_t i = 0; i < count; ++i) fill(memories[i].address(), make_pattern(size, 2000 + i));
    for (std::size_t i = 0; i < count; ++i) expect_in_mapping(ranges[i].user, make_pattern(size, 2000 + i));
  }
}

TEST_P(BackendConformance, TheLastByteOfAnAllocationCanBePinned) {
  for (const AllocationKind kind : served_kinds()) {
    for (const std::size_t size : {std::size_t{1}, 64 * kib, 100'001 + std::size_t{0}, 2 * mib}) {
      SCOPED_TRACE(std::string(platform::allocation_kind_name(kind)) + ", " + std::to_string(size) + " bytes");
      const auto memory = allocate(kind, size);
      const std::uint64_t last = memory.address() + memory.extent_bytes() - 1;
      const auto range = pin_and_map(last, 1);
      store_to_mapping(range.user, {0xe7});
      EXPECT_EQ(read(last, 1).front(), 0xe7);
      fill(last, {0x7e});
      expect_in_mapping(range.user, {0x7e});
    }
  }
}

TEST_P(BackendConformance, OneRangeCanBePinnedManyTimes) {
  constexpr std::size_t size = 100'000;
  const auto memory = allocate(AllocationKind::cuda_malloc, size);
  std::vector<MappedRange> ranges;
  for (std::size_t i = 0; i < 32; ++i) {
    ranges.push_back(pin_and_map(memory.address(), size));
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(std::count_if(ranges.begin(), ranges.end(),
                            [&](const MappedRange& other) { return other.region.address == ranges[i].region.address; }),
              1)
        << "two pins share a mapping";
  }
  store_to_mapping(ranges[7].user, make_pattern(size, 5));
  for (std::size_t i = 0; i < ranges.size(); i += 2) {
    ranges[i].pin.reset();  // the others stay
  }
  for (std::size_t i = 1; i < ranges.size(); i += 2) expect_in_mapping(ranges[i].user, make_pattern(size, 5));
}

TEST_P(BackendConformance, OverlappingPinsReadEachOthersStores) {
  const auto memory = allocate(AllocationKind::cuda_malloc, 400'000);
  const auto first = pin_and_map(memory.address() + 1000, 200'000);
  const auto second = pin_and_map(memory.address() + 100'001, 250'000);
  const auto pattern = make_pattern(101'000 - 1, 8);  // from second's start to first's end
  store_to_mapping(first.user + 99'001, pattern);
  expect_in_mapping(second.user, pattern);
  const auto other = make_pattern(101'000 - 1, 9);
  store_to_mapping(second.user, other);
  expect_in_mapping(first.user + 99'001, other);
  expect_on_device(memory.address() + 100'001, other);
}

TEST_P(BackendConformance, MapsLessThanIsPinned) {
  const auto memory = allocate(AllocationKind::cuda_malloc, 5 * mib);
  for (const std::size_t size : {std::size_t{1}, 4 * kib, 64 * kib + 1, 5 * mib - 1}) {
    SCOPED_TRACE(std::to_string(size) + " bytes");
    auto pinned = pin(memory.address(), 5 * mib);
    const auto host_page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto range = map(std::move(pinned), memory.address(), size);
    const std::size_t mapped = size + static_cast<std::size_t>(memory.address() - page_down(memory.address()));
    EXPECT_EQ(range.region.size_bytes, (mapped + host_page - 1) & ~(host_page - 1));
    expect_in_mapping(range.user, make_pattern(size, 0xba5e));
  }
}

TEST_P(BackendConformance, RejectsMappingNothingOrMoreThanIsPinned) {
  const auto memory = allocate(AllocationKind::cuda_malloc, 100'000);
  auto pinned = pin(memory.address(), 100'000);
  for (const std::size_t size : {std::size_t{0}, pinned->page_bytes() + 1, SIZE_MAX, SIZE_MAX - 4095}) {
    EXPECT_TRUE(tests::failed(pinned->map(size, MappingType::none), EINVAL)) << size;
  }
  EXPECT_TRUE(tests::succeeded(pinned->map(pinned->page_bytes(), MappingType::none)));
}

TEST_P(BackendConformance, MapsWithTheRequestedTypeOrRejectsIt) {
  const auto memory = allocate(AllocationKind::cuda_malloc, 100'000);
  auto pinned = pin(memory.address(), 100'000);
  std::size_t refused = 0;
  for (const int number : {1, 2, 3, 7}) {
    const auto type = static_cast<MappingType>(number);
    const auto region = pinned->map(100'000, type);
    if (region) {
      EXPECT_EQ(region->type, type);
      EXPECT_TRUE(tests::succeeded(pinned->unmap()));
      continue;
    }
    ++refused;
    EXPECT_EQ(region.error().errno_value, EOPNOTSUPP) << number << ": " << region.error().text();
    EXPECT_NE(std::string(region.error().text()).find("map"), std::string::npos) << region.error().text();
  }
  EXPECT_GE(refused, 1U) << "mapping type 7 is invalid";
  EXPECT_LE(refused, 3U) << "every backend supports at least one type";
  const auto range = map(std::move(pinned), memory.address(), 100'000);
  expect_in_mapping(range.user, make_pattern(100'000, 0xba5e));
}

TEST_P(BackendConformance, MapsAgainAfterUnmap) {
  const auto memory = allocate(AllocationKind::cuda_malloc, 100'000);
  auto pinned = pin(memory.address(), 100'000);
  for (std::uint64_t round = 0; round < 5; ++round) {
    auto range = map(std::move(pinned), memory.address(), 100'000);
    store_to_mapping(range.user, make_pattern(100'000, round));
    EXPECT_TRUE(tests::succeeded(range.pin->unmap()));
    expect_on_device(memory.address(), make_pattern(100'000, round));
    pinned = std::move(range.pin);
  }
  EXPECT_TRUE(tests::succeeded(pinned->unpin()));
}

TEST_P(BackendConformance, NothingIsMappedAfterUnmap) {
  const auto memory = allocate(AllocationKind::cuda_malloc, 100'000);
  const auto before = tests::count_process_resources();
  for (const bool is_unmapped : {true, false}) {
    auto range = pin_and_map(memory.address(), 100'000);
    EXPECT_TRUE(tests::succeeded(is_unmapped ? range.pin->unmap() : range.pin->unpin()));
    std::vector<unsigned char> pages(range.region.size_bytes / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
    EXPECT_EQ(::mincore(range.region.address, range.region.size_bytes, pages.data()), -1);
    EXPECT_EQ(errno, ENOMEM) << "mincore's errno for an unmapped page";
  }
  EXPECT_EQ(tests::count_process_resources().device_mappings, before.device_mappings);
}

}  // namespace
}  // namespace gdrkit::backend
