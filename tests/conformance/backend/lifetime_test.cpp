// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Opening, freeing, destroying, forking, and many threads.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <csignal>
#include <string>
#include <thread>
#include <utility>

#include "backend_conformance.hpp"
#include "driver/cuda.hpp"
#include "support/forked_child.hpp"
#include "support/results.hpp"
#include "support/run_together.hpp"

namespace gdrkit::backend {
namespace {

using platform::AllocationKind;
using tests::count_process_resources;
using tests::first_difference;
using tests::load_from_mapping;
using tests::make_pattern;
using tests::run_in_child;
using tests::store_to_mapping;

bool is_cuda_context_active() {
  auto cuda = driver::cuda_calls();
  int active = 0;
  return cuda && driver::primary_ctx_is_active(**cuda, 0, &active) == 0 && active != 0;
}

TEST_P(BackendConformance, OpeningAllocatesNothingOnTheDeviceAndClosingReleasesEverything) {
  backend_.reset();
  device_.reset();  // and with it the primary context, so that the count detects one that opening creates
  ASSERT_FALSE(is_cuda_context_active());
  const auto before = count_process_resources();
  for (int round = 0; round < 3; ++round) {
    auto opened = tests::value_or_throw(open_backend());
    EXPECT_FALSE(is_cuda_context_active());
    opened.reset();
    EXPECT_EQ(count_process_resources(), before);
  }
}

TEST_P(BackendConformance, ClosingAfterUseReleasesEverything) {
  const auto memory = allocate(AllocationKind::cuda_malloc, 100'000);
  backend_.reset();
  expect_nothing_left_by([&] {
    auto opened = open_backend();
    ASSERT_TRUE(opened) << opened.error().text();
    backend_ = std::move(*opened);
    { const auto range = pin_and_map(memory.address(), 100'000); }
    backend_.reset();
  });
}

TEST_P(BackendConformance, DestructionWithoutUnmapAndUnpinReleasesEverything) {
  for (const AllocationKind kind : served_kinds()) {
    SCOPED_TRACE(platform::allocation_kind_name(kind));
    const auto memory = allocate(kind, 300'000);
    expect_nothing_left_by([&] {
      const auto first = pin_and_map(memory.address(), 300'000);
      const auto second = pin_and_map(memory.address() + 100'000, 100'000);
      const auto unmapped = pin(memory.address(), 1);
    });
    expect_in_mapping(pin_and_map(memory.address(), 1).user, {make_pattern(1, 0xba5e)});
  }
}

TEST_P(BackendConformance, UnpinUnmapsAndReportsNoError) {
  const auto memory = allocate(AllocationKind::cuda_malloc, 100'000);
  expect_nothing_left_by([&] {
    auto range = pin_and_map(memory.address(), 100'000);
    EXPECT_TRUE(tests::succeeded(range.pin->unpin()));
  });
}

// A persistent pin keeps the memory: data that others allocate and write afterwards never appears in it.
TEST_P(BackendConformance, MappedMemorySurvivesItsFreeWithoutShowingOtherData) {
  if (!backend_->traits().is_persistent) GTEST_SKIP() << "the backend is not persistent";
  constexpr std::size_t size = std::size_t{4} << 20;
  for (const AllocationKind kind : served_kinds()) {
    if (kind == AllocationKind::pool) continue;  // keeps its pages and may give them to the same process again
    SCOPED_TRACE(platform::allocation_kind_name(kind));
    auto memory = allocate(kind, size);
    auto range = pin_and_map(memory.address(), size);
    auto later = pin(memory.address(), size);
    const std::uint64_t address = memory.address();
    ASSERT_TRUE(tests::succeeded(memory.free()));
    std::vector<platform::Allocation> others;
    for (std::uint64_t i = 0; i < 4; ++i) {
      others.push_back(allocate(kind, size));
      fill(others.back().address(), make_pattern(size, 77 + i));
    }
    expect_in_mapping(range.user, make_pattern(size, 0xba5e));
    store_to_mapping(range.user, make_pattern(size, 99));
    expect_in_mapping(range.user, make_pattern(size, 99));
    for (std::uint64_t i = 0; i < 4; ++i) expect_on_device(others[i].address(), make_pattern(size, 77 + i));
    // The pin keeps the memory, mapped or not.
    const auto region = tests::value_or_throw(
        later->map(size + static_cast<std::size_t>(address - later->page_address()), MappingType::none));
    expect_in_mapping(static_cast<std::uint8_t*>(region.address) + (address - later->page_address()),
                      make_pattern(size, 99));
    EXPECT_TRUE(tests::succeeded(later->unpin()));
    EXPECT_TRUE(tests::succeeded(range.pin->unpin()));
  }
}

TEST_P(BackendConformance, MappedPoolMemoryStaysAccessibleAfterItsFree) {
  if (!backend_->traits().is_persistent) GTEST_SKIP() << "the backend is not persistent";
  if (!has_kind(AllocationKind::pool)) GTEST_SKIP() << "no memory pools on this device";
  auto memory = allocate(AllocationKind::pool, 100'000);
  auto range = pin_and_map(memory.address(), 100'000);
  ASSERT_TRUE(tests::succeeded(memory.free()));
  // The pool has not given these pages to another allocation, so the stored data reads back.
  store_to_mapping(range.user, make_pattern(100'000, 5));
  expect_in_mapping(range.user, make_pattern(100'000, 5));
  EXPECT_TRUE(tests::succeeded(range.pin->unpin()));
}

// A pin that is not persistent loses the memory, reports this, and can still be released.
TEST_P(BackendConformance, NonPersistentPinReportsFreedMemory) {
  if (backend_->traits().is_persistent) GTEST_SKIP() << "the backend is persistent";
  const auto before = count_process_resources();
  auto memory = allocate(AllocationKind::cuda_malloc, 300'000);
  const auto other = allocate(AllocationKind::cuda_malloc, 300'000);
  auto range = pin_and_map(memory.address(), 300'000);
  auto unmapped = pin(memory.address(), 1);
  const auto kept = pin_and_map(other.address(), 300'000);
  EXPECT_FALSE(range.pin->is_invalidated());
  ASSERT_TRUE(tests::succeeded(memory.free()));
  EXPECT_TRUE(range.pin->is_invalidated());
  EXPECT_TRUE(unmapped->is_invalidated());
  EXPECT_FALSE(kept.pin->is_invalidated());
  expect_in_mapping(kept.user, make_pattern(300'000, 0xba5e));
  EXPECT_TRUE(tests::failed(unmapped->map(1, MappingType::none), EINVAL, testing::HasSubstr("freed")));
  EXPECT_TRUE(tests::succeeded(range.pin->unmap()));
  EXPECT_TRUE(tests::succeeded(range.pin->unpin()));
  EXPECT_TRUE(range.pin->is_invalidated()) << "an invalidated pin stays invalidated";
  EXPECT_TRUE(tests::succeeded(unmapped->unpin()));
  EXPECT_EQ(count_process_resources().descriptors, before.descriptors);
}

TEST_P(BackendConformance, AForkedChildCannotTouchTheMapping) {
  const auto memory = allocate(AllocationKind::cuda_malloc, 300'000);
  const auto range = pin_and_map(memory.address(), 300'000);
  for (const std::size_t offset : {0U, 299'999U}) {
    const auto stored = run_in_child([&] {
      *static_cast<volatile std::uint8_t*>(range.user + offset) = 0;
      return 0;
    });
    EXPECT_EQ(stored.signal, SIGSEGV) << "exit code " << stored.exit_code;
    const auto loaded = run_in_child([&] { return *static_cast<volatile std::uint8_t*>(range.user + offset) * 0; });
    EXPECT_EQ(loaded.signal, SIGSEGV) << "exit code " << loaded.exit_code;
  }
  expect_in_mapping(range.user, make_pattern(300'000, 0xba5e));
  store_to_mapping(range.user, make_pattern(300'000, 3));
  expect_on_device(memory.address(), make_pattern(300'000, 3));
}

/// Maps ordinary memory at those of these ranges that are free, and returns them.
std::vector<tests::AddressRange> occupy(const std::vector<tests::AddressRange>& ranges) {
  std::vector<tests::AddressRange> occupied;
  for (const auto& range : ranges) {
    void* place = reinterpret_cast<void*>(range.start);
    void* mapped = ::mmap(place, range.end - range.start, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped == place) {
      occupied.push_back(range);
    } else if (mapped != MAP_FAILED) {
      ::munmap(mapped, range.end - range.start);
    }
  }
  return occupied;
}

TEST_P(BackendConformance, AbandoningInAForkedChildClosesItsDescriptorsAndSparesTheParent) {
  const auto memory = allocate(AllocationKind::cuda_malloc, 300'000);
  { const auto warm_up = pin_and_map(memory.address(), 300'000); }
  backend_.reset();
  const auto without_backend = count_process_resources();
  backend_ = tests::value_or_throw(open_backend());
  // rm keeps the control file and that of one GPU open while no backend exists. The child closes them, too.
  const std::size_t kept = backend_->traits().name == std::string("rm") ? 2 : 0;
  const auto closes_its_own = [&] {
    const auto now = count_process_resources().descriptors;
    return now <= without_backend.descriptors && now + kept >= without_backend.descriptors;
  };
  auto range = pin_and_map(memory.address(), 300'000);
  auto unmapped = pin(memory.address(), 100);
  const auto parents = tests::device_mapping_ranges();
  const auto child = run_in_child([&] {
    range.pin->abandon_after_fork();
    unmapped->abandon_after_fork();
    backend_->abandon_after_fork();
    if (!closes_its_own()) return 1;
    // The child destroys the backend afterwards, when other memory may be at the parent's addresses: it must stay
    // mapped.
    const auto others = occupy(parents);
    if (others.empty()) return 2;
    range.pin.reset();
    unmapped.reset();
    backend_.reset();
    for (const auto& other : others) *reinterpret_cast<volatile std::uint8_t*>(other.start) = 1;
    return closes_its_own() ? 0 : 3;
  });
  EXPECT_EQ(child.exit_code, 0) << "signal " << child.signal;
  expect_in_mapping(range.user, make_pattern(300'000, 0xba5e));
  store_to_mapping(range.user, make_pattern(300'000, 4));
  expect_on_device(memory.address(), make_pattern(300'000, 4));
  EXPECT_TRUE(tests::succeeded(range.pin->unmap()));
  EXPECT_TRUE(tests::succeeded(range.pin->unpin()));
  EXPECT_TRUE(tests::succeeded(unmapped->unpin()));
}

#ifdef __SANITIZE_THREAD__
constexpr std::uint64_t slice_rounds = 5;  // the thread sanitizer remembers unordered accesses: repetition adds little
#else
constexpr std::uint64_t slice_rounds = 25;
#endif

/// Runs one thread's rounds of pin, map, store, load, unmap and unpin on its own slice of shared memory. Round i writes
/// the pattern seed + i.
void work_on_slice(Backend& backend, std::uint64_t address, std::size_t size, std::uint64_t seed) {
  for (std::uint64_t round = 0; round < slice_rounds; ++round) {
    const auto pinned = backend.pin({address, size});
    ASSERT_TRUE(tests::succeeded(pinned));
    const auto offset = static_cast<std::size_t>(address - (*pinned)->page_address());
    const auto region = (*pinned)->map(offset + size, MappingType::none);
    ASSERT_TRUE(tests::succeeded(region));
    auto* user = static_cast<std::uint8_t*>(region->address) + offset;
    const auto pattern = make_pattern(size, seed + round);
    store_to_mapping(user, pattern);
    EXPECT_EQ(first_difference(load_from_mapping(user, size), pattern), size);
    EXPECT_TRUE(tests::succeeded((*pinned)->unmap()));
    EXPECT_TRUE(tests::succeeded((*pinned)->unpin()));
  }
}

TEST_P(BackendConformance, ManyThreadsPinMapUnmapAndUnpinAtOnce) {
  constexpr std::size_t threads = 8;
  constexpr std::size_t slice = 50'001;  // neighbours share pages
  const auto memory = allocate(AllocationKind::cuda_malloc, threads * slice);
  const auto run_all = [&](std::uint64_t seed) {
    tests::run_together(threads, [&](std::size_t i) {
      EXPECT_TRUE(tests::succeeded(device_->make_current()));
      work_on_slice(*backend_, memory.address() + i * slice, slice, seed + 1000 * i);
    });
  };
  run_all(0);  // one-time initialisation happens now
  const auto before = count_process_resources();
  run_all(1);
  for (std::size_t i = 0; i < threads; ++i) {
    expect_on_device(memory.address() + i * slice, make_pattern(slice, 1 + 1000 * i + slice_rounds - 1));
  }
  EXPECT_EQ(count_process_resources(), before);
}

TEST_P(BackendConformance, AThreadWithoutACurrentContextCanPinAndMap) {
  for (const AllocationKind kind : served_kinds()) {
    const auto memory = allocate(kind, 100'000);
    std::thread([&] {
      SCOPED_TRACE(platform::allocation_kind_name(kind));
      work_on_slice(*backend_, memory.address() + 1, 70'000, 6000);
    }).join();
    SCOPED_TRACE(platform::allocation_kind_name(kind));
    expect_on_device(memory.address() + 1, make_pattern(70'000, 6000 + slice_rounds - 1));
  }
}

/// Returns the RLIMIT_NOFILE that leaves exactly `spare` free descriptor numbers.
rlim_t limit_with_spare(rlim_t spare) {
  rlim_t limit = 0;
  for (rlim_t free_numbers = 0;; ++limit) {
    free_numbers += ::fcntl(static_cast<int>(limit), F_GETFD) < 0;
    if (free_numbers > spare) return limit;
  }
}

/// Pins and maps with `spare` free descriptors. Returns "" or the reason of the failure.
std::string pin_and_map_with_spare(Backend& backend, const PinRequest& request, rlim_t spare) {
  rlimit original{};
  EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &original), 0);
  const rlimit tight{limit_with_spare(spare), original.rlim_max};
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  std::string reason;
  {
    const auto pinned = backend.pin(request);
    const auto mapped = pinned ? (*pinned)->map((*pinned)->page_bytes(), MappingType::none)
                               : base::Result<MappedRegion>(base::pass(pinned));
    if (!mapped) reason = std::string("refused: ") + mapped.error().text();
  }
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &original), 0);
  return reason;
}

TEST_P(BackendConformance, ReportsMissingDescriptorsAndReleasesEverything) {
  const auto memory = allocate(AllocationKind::cuda_malloc, 100'000);
  { const auto warm_up = pin_and_map(memory.address(), 100'000); }
  const PinRequest request{memory.address(), 100'000};
  const auto before = count_process_resources();
  std::size_t refusals = 0;
  for (rlim_t spare = 0; spare < 8; ++spare) {
    const std::string reason = pin_and_map_with_spare(*backend_, request, spare);
    EXPECT_NE(reason, "refused: ") << "with " << spare << " free descriptors";
    EXPECT_EQ(count_process_resources(), before) << "with " << spare << " free descriptors: " << reason;
    refusals += reason.empty() ? 0 : 1;
  }
  EXPECT_LT(refusals, 8U) << "one pin requires fewer descriptors";
  const auto range = pin_and_map(memory.address(), 100'000);
  expect_in_mapping(range.user, make_pattern(100'000, 0xba5e));
}

}  // namespace
}  // namespace gdrkit::backend
