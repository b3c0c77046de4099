// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Ranges that must not be pinned; the error contains the reason.
#include <cstdio>
#include <utility>

#include "backend_conformance.hpp"
#include "support/results.hpp"

namespace gdrkit::backend {
namespace {

using platform::AllocationKind;

std::string hexadecimal(std::uint64_t address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

/// Matches an error text that contains the reason and the address.
auto explains(const char* reason, std::uint64_t address) {
  return testing::AllOf(testing::HasSubstr(reason), testing::HasSubstr(hexadecimal(address)));
}

void expect_refused(Backend& backend, const PinRequest& request,
                    const testing::Matcher<std::string>& text = testing::Ne("")) {
  EXPECT_TRUE(tests::failed(backend.pin(request), EINVAL, text))
      << request.size_bytes << " bytes at " << hexadecimal(request.address);
}

TEST_P(BackendConformance, RejectsManagedMemory) {
  if (!has_kind(AllocationKind::managed)) GTEST_SKIP() << "no managed memory on this device";
  auto memory = tests::value_or_throw(device_->allocate(AllocationKind::managed, 100'000));
  for (const std::uint64_t offset : {0U, 65536U}) {
    const std::uint64_t address = memory.address() + offset;
    const auto pinned = backend_->pin({address, 4096});
    EXPECT_TRUE(tests::failed(pinned, EINVAL, explains("managed", address)) ||
                tests::failed(pinned, EOPNOTSUPP, explains("managed", address)))
        << tests::text_of(pinned);
  }
}

TEST_P(BackendConformance, RejectsHostMemoryOfTheDriver) {
  const auto memory = tests::value_or_throw(device_->allocate(AllocationKind::host, 100'000));
  expect_refused(*backend_, {memory.address(), 4096}, explains("host memory", memory.address()));
}

TEST_P(BackendConformance, RejectsOrdinaryHostMemory) {
  std::vector<std::uint8_t> heap(1 << 20);
  int stack = 0;
  static int variable = 0;
  for (const void* pointer :
       {static_cast<const void*>(heap.data()), static_cast<const void*>(&stack), static_cast<const void*>(&variable)}) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    expect_refused(*backend_, {address, 4}, explains("host memory", address));
  }
}

TEST_P(BackendConformance, RejectsUnallocatedAddresses) {
  for (const std::uint64_t address : {std::uint64_t{1}, std::uint64_t{0x1234000}, std::uint64_t{0x7ffffffff000},
                                      std::uint64_t{0x800000000000}, std::uint64_t{0xffff800000000000}}) {
    expect_refused(*backend_, {address, 4096}, explains("never allocated", address));
  }
}

TEST_P(BackendConformance, RejectsFreedMemory) {
  for (const AllocationKind kind : served_kinds()) {
    SCOPED_TRACE(platform::allocation_kind_name(kind));
    auto memory = allocate(kind, std::size_t{8} << 20);
    const std::uint64_t address = memory.address();
    (void)pin(address, 4096);
    ASSERT_TRUE(tests::succeeded(memory.free()));
    expect_refused(*backend_, {address, 4096}, explains("freed", address));
  }
}

TEST_P(BackendConformance, RejectsRangesPastTheExactEnd) {
  for (const AllocationKind kind : served_kinds()) {
    SCOPED_TRACE(platform::allocation_kind_name(kind));
    const auto memory = allocate(kind, 100'001);
    const std::uint64_t start = memory.address();
    const std::size_t extent = memory.extent_bytes();
    (void)pin(start, extent);
    for (const auto& [address, size] : {std::pair{start, extent + 1},
                                        {start + extent - 1, std::size_t{2}},
                                        {start + 1, extent},
                                        {start, extent + (std::size_t{1} << 30)},
                                        {start, std::size_t{1} << 46}}) {
      expect_refused(*backend_, {address, size}, testing::HasSubstr("past"));
    }
  }
}

// Callers of the drop-in library round to 64 KiB: their ranges may reach the end of the allocation's last such page,
// and no further.
TEST_P(BackendConformance, RoundedRangesMayReachTheEndOfTheLastPage) {
  for (const AllocationKind kind : served_kinds()) {
    SCOPED_TRACE(platform::allocation_kind_name(kind));
    const auto memory = allocate(kind, 100'001);
    const std::uint64_t start = memory.address();
    constexpr std::uint64_t gpu_page = 65536;  // independent of the backend's page size
    const std::uint64_t page_end = (start + memory.extent_bytes() + gpu_page - 1) & ~(gpu_page - 1);
    const auto to_page_end = static_cast<std::size_t>(page_end - start);
    const auto pinned =
        tests::value_or_throw(backend_->pin({.address = start, .size_bytes = to_page_end, .exact_range = false}));
    EXPECT_EQ(pinned->page_address() + pinned->page_bytes(), start + to_page_end);
    for (const std::size_t size : {to_page_end + 1, to_page_end + page_bytes(), std::size_t{1} << 46}) {
      expect_refused(*backend_, {.address = start, .size_bytes = size, .exact_range = false},
                     testing::HasSubstr("past"));
    }
  }
}

TEST_P(BackendConformance, RejectsSizesUpToTheTopOfTheAddressSpace) {
  const auto memory = allocate(AllocationKind::cuda_malloc, 100'000);
  for (const bool exact : {true, false}) {
    for (const std::uint64_t address : {memory.address(), memory.address() + 99'999}) {
      const std::size_t to_top = UINT64_MAX - address;
      for (const std::size_t size : {to_top, to_top - 1, to_top - 65535, to_top - 65536, to_top / 2}) {
        expect_refused(*backend_, {.address = address, .size_bytes = size, .exact_range = exact});
      }
    }
    expect_refused(*backend_, {.address = UINT64_MAX - 65535, .size_bytes = 65535, .exact_range = exact});
    expect_refused(*backend_, {.address = UINT64_MAX - 1, .size_bytes = 1, .exact_range = exact});
  }
}

TEST_P(BackendConformance, RejectionsReleaseEverything) {
  const auto host = tests::value_or_throw(device_->allocate(AllocationKind::host, 4096));
  const auto memory = allocate(AllocationKind::cuda_malloc, 100'000);
  expect_nothing_left_by([&] {
    EXPECT_FALSE(backend_->pin({host.address(), 4096}));
    EXPECT_FALSE(backend_->pin({memory.address(), memory.extent_bytes() + 1}));
    EXPECT_FALSE(backend_->pin({0x1234000, 4096}));
    const auto pinned = pin(memory.address(), 4096);
    EXPECT_FALSE(pinned->map(SIZE_MAX, MappingType::none));
    EXPECT_FALSE(pinned->map(4096, static_cast<MappingType>(7)));
  });
}

}  // namespace
}  // namespace gdrkit::backend
