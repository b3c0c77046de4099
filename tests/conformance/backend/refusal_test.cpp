// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Ranges that must not be pinned; the error contains the reason.
#include <algorithm>
#include <cstdio>
#include <initializer_list>
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

PinRequest request_for(std::uint64_t address, std::size_t size_bytes, bool exact_range = true) {
  PinRequest request;
  request.address = address;
  request.size_bytes = size_bytes;
  request.exact_range = exact_range;
  return request;
}

/// Expects a rejection with one of these errno values, and a text that contains every one of these words.
void expect_refused(Backend& backend, const PinRequest& request, std::initializer_list<int> errno_values,
                    std::initializer_list<std::string> words) {
  const auto pinned = backend.pin(request);
  ASSERT_FALSE(pinned) << request.size_bytes << " bytes at " << hexadecimal(request.address) << " were pinned";
  const int found = pinned.error().errno_value;
  EXPECT_NE(std::find(errno_values.begin(), errno_values.end(), found), errno_values.end())
      << "errno " << found << ": " << pinned.error().text();
  const std::string detail = pinned.error().text();
  for (const std::string& word : words)
    EXPECT_NE(detail.find(word), std::string::npos) << word << " is missing in: " << detail;
}

TEST_P(BackendConformance, RejectsManagedMemory) {
  if (!has_kind(AllocationKind::managed)) GTEST_SKIP() << "no managed memory on this device";
  auto memory = tests::value_or_throw(device_->allocate(AllocationKind::managed, 100'000));
  for (const std::uint64_t offset : {0U, 65536U}) {
    const std::uint64_t address = memory.address() + offset;
    expect_refused(*backend_, request_for(address, 4096), {EINVAL, EOPNOTSUPP}, {"managed", hexadecimal(address)});
  }
}

TEST_P(BackendConformance, RejectsHostMemoryOfTheDriver) {
  auto memory = device_->allocate(AllocationKind::host, 100'000);
  ASSERT_TRUE(memory) << memory.error().text();
  expect_refused(*backend_, request_for(memory->address(), 4096), {EINVAL},
                 {"host memory", hexadecimal(memory->address())});
}

TEST_P(BackendConformance, RejectsOrdinaryHostMemory) {
  std::vector<std::uint8_t> heap(1 << 20);
  int stack = 0;
  static int variable = 0;
  for (const void* pointer :
       {static_cast<const void*>(heap.data()), static_cast<const void*>(&stack), static_cast<const void*>(&variable)}) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    expect_refused(*backend_, request_for(address, 4), {EINVAL}, {"host memory", hexadecimal(address)});
  }
}

TEST_P(BackendConformance, RejectsUnallocatedAddresses) {
  for (const std::uint64_t address : {std::uint64_t{1}, std::uint64_t{0x1234000}, std::uint64_t{0x7ffffffff000},
                                      std::uint64_t{0x800000000000}, std::uint64_t{0xffff800000000000}}) {
    expect_refused(*backend_, request_for(address, 4096), {EINVAL}, {"never allocated", hexadecimal(address)});
  }
}

TEST_P(BackendConformance, RejectsFreedMemory) {
  for (const AllocationKind kind : served_kinds) {
    if (!has_kind(kind)) continue;
    SCOPED_TRACE(platform::allocation_kind_name(kind));
    auto memory = allocate(kind, std::size_t{8} << 20);
    const std::uint64_t address = memory.address();
    (void)pin(address, 4096);
    ASSERT_TRUE(tests::succeeded(memory.free()));
    expect_refused(*backend_, request_for(address, 4096), {EINVAL}, {"freed", hexadecimal(address)});
  }
}

TEST_P(BackendConformance, RejectsRangesPastTheExactEnd) {
  for (const AllocationKind kind : served_kinds) {
    if (!has_kind(kind)) continue;
    SCOPED_TRACE(platform::allocation_kind_name(kind));
    const auto memory = allocate(kind, 100'001);
    const std::uint64_t start = memory.address();
    const std::size_t extent = memory.extent_bytes();
    (void)pin(start, extent);
    for (const PinRequest& request :
         {request_for(start, extent + 1), request_for(start + extent - 1, 2), request_for(start + 1, extent),
          request_for(start, extent + (std::size_t{1} << 30)), request_for(start, std::size_t{1} << 46)}) {
      expect_refused(*backend_, request, {EINVAL}, {"past"});
    }
  }
}

// Callers of the drop-in library round to 64 KiB: their ranges may reach the end of the allocation's last such page,
// and no further.
TEST_P(BackendConformance, RoundedRangesMayReachTheEndOfTheLastPage) {
  for (const AllocationKind kind : served_kinds) {
    if (!has_kind(kind)) continue;
    SCOPED_TRACE(platform::allocation_kind_name(kind));
    const auto memory = allocate(kind, 100'001);
    const std::uint64_t start = memory.address();
    constexpr std::uint64_t gpu_page = 65536;  // independent of the backend's page size
    const std::uint64_t page_end = (start + memory.extent_bytes() + gpu_page - 1) & ~(gpu_page - 1);
    const auto to_page_end = static_cast<std::size_t>(page_end - start);
    const auto pinned = tests::value_or_throw(backend_->pin(request_for(start, to_page_end, false)));
    EXPECT_EQ(pinned->page_address() + pinned->page_bytes(), start + to_page_end);
    for (const std::size_t size : {to_page_end + 1, to_page_end + page_bytes(), std::size_t{1} << 46}) {
      expect_refused(*backend_, request_for(start, size, false), {EINVAL}, {"past"});
    }
  }
}

TEST_P(BackendConformance, RejectsSizesUpToTheTopOfTheAddressSpace) {
  const auto memory = allocate(AllocationKind::cuda_malloc, 100'000);
  for (const bool exact : {true, false}) {
    for (const std::uint64_t address : {memory.address(), memory.address() + 99'999}) {
      const std::size_t to_top = UINT64_MAX - address;
      for (const std::size_t size : {to_top, to_top - 1, to_top - 65535, to_top - 65536, to_top / 2}) {
        expect_refused(*backend_, request_for(address, size, exact), {EINVAL}, {});
      }
    }
    expect_refused(*backend_, request_for(UINT64_MAX - 65535, 65535, exact), {EINVAL}, {});
    expect_refused(*backend_, request_for(UINT64_MAX - 1, 1, exact), {EINVAL}, {});
  }
}

TEST_P(BackendConformance, RejectionsReleaseEverything) {
  auto host = device_->allocate(AllocationKind::host, 4096);
  const auto memory = allocate(AllocationKind::cuda_malloc, 100'000);
  ASSERT_TRUE(host) << host.error().text();
  expect_nothing_left_by([&] {
    EXPECT_FALSE(backend_->pin(request_for(host->address(), 4096)));
    EXPECT_FALSE(backend_->pin(request_for(memory.address(), memory.extent_bytes() + 1)));
    EXPECT_FALSE(backend_->pin(request_for(0x1234000, 4096)));
    const auto pinned = backend_->pin(request_for(memory.address(), 4096));
    ASSERT_TRUE(pinned) << pinned.error().text();
    EXPECT_FALSE((*pinned)->map(SIZE_MAX, MappingType::none));
    EXPECT_FALSE((*pinned)->map(4096, static_cast<MappingType>(7)));
  });
}

}  // namespace
}  // namespace gdrkit::backend
