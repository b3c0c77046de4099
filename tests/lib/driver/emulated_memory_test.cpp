// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "driver/emulated_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/process_maps.hpp"
#include "support/forked_child.hpp"
#include "support/process_resources.hpp"
#include "support/results.hpp"
#include "support/run_together.hpp"

namespace gdrkit::driver {
namespace {

using tests::count_process_resources;
using tests::run_in_child;

std::uint8_t* bytes_at(std::uint64_t address) { return reinterpret_cast<std::uint8_t*>(address); }

/// An allocation that the destructor frees.
class Memory {
 public:
  explicit Memory(std::size_t size, EmulatedKind kind = EmulatedKind::device)
      : address_(tests::value_or_throw(emulated_allocate(size, kind))) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    if (address_ == 0) return;
    EXPECT_TRUE(tests::succeeded(emulated_free(address_)));
  }
  [[nodiscard]] std::uint64_t address() const { return address_; }
  [[nodiscard]] base::Status free() { return emulated_free(std::exchange(address_, 0)); }

 private:
  std::uint64_t address_;
};

/// Maps memory as a backend maps pinned memory: through a mapping that holds the pages.
base::Result<void*> emulated_map(std::uint64_t page_address, std::size_t size_bytes) {
  const auto held = emulated_hold(page_address, size_bytes);
  if (!held) return held;
  auto mapping = emulated_map_held(*held, size_bytes);
  EXPECT_TRUE(tests::succeeded(emulated_unmap(*held, size_bytes)));
  return mapping;
}

std::string protection_at(const void* place) {
  const auto address = reinterpret_cast<std::uint64_t>(place);
  ProcessMaps maps;
  if (const auto opened = maps.open(); !opened) return opened.error().text();
  ProcessMapping mapping;
  for (auto more = maps.next(&mapping); more && *more; more = maps.next(&mapping)) {
    if (mapping.start <= address && address < mapping.end) return mapping.is_readable ? "readable" : "inaccessible";
  }
  return "not mapped";
}

int errno_of_find(std::uint64_t address) {
  auto found = emulated_find(address);
  return found ? 0 : found.error().errno_value;
}

TEST(EmulatedMemory, IsAlignedZeroedAndWritable) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{65536}, std::size_t{65537}, std::size_t{5} << 20}) {
    const Memory memory(size);
    EXPECT_EQ(memory.address() % emulated_page_bytes, 0U);
    const std::vector<std::uint8_t> zeros(size);
    EXPECT_EQ(std::memcmp(bytes_at(memory.address()), zeros.data(), size), 0);
    std::memset(bytes_at(memory.address()), 0xa5, size);
    EXPECT_EQ(bytes_at(memory.address())[size - 1], 0xa5);
  }
}

TEST(EmulatedMemory, FindReturnsExactSizeStartAndKindForAnyAddressOfItsPages) {
  for (const EmulatedKind kind : {EmulatedKind::device, EmulatedKind::managed, EmulatedKind::host}) {
    const Memory memory(100'001, kind);
    for (const std::uint64_t offset : {0U, 1U, 65535U, 65536U, 100'000U, 100'001U, 131'071U}) {
      const auto found = tests::value_or_throw(emulated_find(memory.address() + offset));
      EXPECT_EQ(found.start, memory.address());
      EXPECT_EQ(found.size_bytes, 100'001U);
      EXPECT_EQ(found.kind, kind);
    }
  }
}

TEST(EmulatedMemory, FindRejectsGuardsAndOtherMemory) {
  const Memory memory(65536);
  EXPECT_EQ(errno_of_find(memory.address() - 1), EINVAL);
  EXPECT_EQ(errno_of_find(memory.address() + 65536), EINVAL);
  int local = 0;
  for (const std::uint64_t address : {std::uint64_t{0}, reinterpret_cast<std::uint64_t>(&local), UINT64_MAX}) {
    char text[64];
    std::snprintf(text, sizeof text, "cannot find an emulated allocation at 0x%llx",
                  static_cast<unsigned long long>(address));
    EXPECT_TRUE(tests::failed(emulated_find(address), EINVAL, testing::HasSubstr(text)));
  }
}

TEST(EmulatedMemory, GuardsAreInaccessible) {
  const Memory memory(65536);
  for (const std::uint64_t address : {memory.address() - 1, memory.address() + 65536}) {
    const auto end = run_in_child([&] {
      *static_cast<volatile std::uint8_t*>(bytes_at(address)) = 1;
      return 0;
    });
    EXPECT_EQ(end.signal, SIGSEGV);
  }
}

TEST(EmulatedMemory, BufferIdsAreUnique) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 200; ++i) {
    const Memory memory(4096);
    const auto found = tests::value_or_throw(emulated_find(memory.address()));
    EXPECT_TRUE(seen.insert(found.buffer_id).second) << "used before: " << found.buffer_id;
  }
}

TEST(EmulatedMemory, FreedAddressesAreRejected) {
  Memory memory(65536);
  const std::uint64_t address = memory.address();
  ASSERT_TRUE(memory.free());
  EXPECT_TRUE(tests::failed(emulated_find(address), EINVAL, testing::HasSubstr("freed")));
  EXPECT_TRUE(tests::failed(emulated_free(address), EINVAL));
  EXPECT_FALSE(emulated_map(address, 65536));
}

TEST(EmulatedMemory, FreeRequiresTheStart) {
  const Memory memory(131072);
  EXPECT_TRUE(tests::failed(emulated_free(memory.address() + 65536), EINVAL));
  EXPECT_EQ(errno_of_find(memory.address()), 0);
}

TEST(EmulatedMemory, SecondMappingOutlivesFreeAndIsNotAnAllocation) {
  Memory memory(65536);
  const std::uint64_t address = memory.address();
  bytes_at(address)[5] = 0x77;
  const auto mapping = tests::value_or_throw(emulated_map(address, 65536));
  ASSERT_TRUE(memory.free());
  const Memory next(65536);
  std::memset(bytes_at(next.address()), 0x11, 65536);
  EXPECT_EQ(static_cast<std::uint8_t*>(mapping)[5], 0x77);
  EXPECT_EQ(errno_of_find(reinterpret_cast<std::uint64_t>(mapping)), EINVAL);
  EXPECT_TRUE(emulated_unmap(mapping, 65536));
}

// Linux may place a second mapping at the address of freed memory.
TEST(EmulatedMemory, SecondMappingAtAFreedAddressIsNotAnAllocation) {
  Memory memory(65536);
  const std::uint64_t address = memory.address();
  const auto held = tests::value_or_throw(emulated_hold(address, 65536));
  ASSERT_TRUE(memory.free());
  const auto mapping = tests::value_or_throw(emulated_map_held(held, 65536));
  void* moved = ::mremap(mapping, 65536, 65536, MREMAP_MAYMOVE | MREMAP_FIXED, bytes_at(address));
  ASSERT_EQ(moved, bytes_at(address));
  EXPECT_EQ(errno_of_find(address), EINVAL);
  EXPECT_FALSE(emulated_free(address));
  EXPECT_TRUE(emulated_unmap(moved, 65536));
  EXPECT_TRUE(emulated_unmap(held, 65536));
}

// Linux merges adjacent mappings of the same file and protection if their offsets are contiguous.
TEST(EmulatedMemory, IsFoundWhileSecondMappingsAreAdjacentToItsGuards) {
  const Memory memory(65536);
  const std::uint64_t before = memory.address() - 2 * emulated_page_bytes;
  const std::uint64_t after = memory.address() + 2 * emulated_page_bytes;
  for (const std::uint64_t place : {before, after}) {
    const auto held = tests::value_or_throw(emulated_hold(memory.address(), 65536));
    if (reinterpret_cast<std::uint64_t>(held) != place) {
      // Reserve the place first: MREMAP_FIXED would remove a mapping that is already there.
      void* free_place =
          ::mmap(bytes_at(place), 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (free_place != bytes_at(place)) {
        EXPECT_TRUE(emulated_unmap(held, 65536));
        continue;
      }
      ASSERT_EQ(::mremap(held, 65536, 65536, MREMAP_MAYMOVE | MREMAP_FIXED, bytes_at(place)), bytes_at(place));
    }
    EXPECT_EQ(errno_of_find(memory.address()), 0);
    EXPECT_TRUE(emulated_unmap(bytes_at(place), 65536));
    EXPECT_EQ(errno_of_find(memory.address()), 0);
  }
}

TEST(EmulatedMemory, StaysOneAllocationIfTheProtectionOfAPartChanges) {
  const Memory memory(4 * 65536);
  ASSERT_EQ(::mprotect(bytes_at(memory.address() + 65536), 65536, PROT_READ), 0);
  const auto found = tests::value_or_throw(emulated_find(memory.address() + 3 * 65536));
  EXPECT_EQ(found.start, memory.address());
  const auto mapping = tests::value_or_throw(emulated_map(memory.address(), 4 * 65536));
  EXPECT_TRUE(emulated_unmap(mapping, 4 * 65536));
}

TEST(EmulatedMemory, HeldMappingIsInaccessibleAndKeepsThePages) {
  Memory memory(65536);
  const std::uint64_t address = memory.address();
  bytes_at(address)[0] = 0x31;
  const auto held = tests::value_or_throw(emulated_hold(address, 65536));
  ASSERT_TRUE(memory.free());
  EXPECT_EQ(protection_at(held), "inaccessible");
  const auto mapping = tests::value_or_throw(emulated_map_held(held, 4096));
  EXPECT_EQ(protection_at(mapping), "readable");
  EXPECT_EQ(static_cast<std::uint8_t*>(mapping)[0], 0x31);
  EXPECT_TRUE(emulated_unmap(mapping, 4096));
  EXPECT_TRUE(emulated_unmap(held, 65536));
}

TEST(EmulatedMemory, MapRequiresWholePagesOfOneAllocation) {
  const Memory memory(2 * 65536);
  EXPECT_FALSE(emulated_map(memory.address() + 4096, 65536));
  EXPECT_FALSE(emulated_map(memory.address(), 0));
  EXPECT_FALSE(emulated_map(memory.address(), 2 * 65536 + 1));
  EXPECT_FALSE(emulated_map(memory.address() + 65536, 2 * 65536));
  EXPECT_FALSE(emulated_map(memory.address(), SIZE_MAX));
}

TEST(EmulatedMemory, ForkedChildrenInheritNothing) {
  const Memory memory(65536);
  const auto mapping = emulated_map(memory.address(), 65536);
  const auto held = emulated_hold(memory.address(), 65536);
  ASSERT_TRUE(mapping && held);
  const auto end = run_in_child([&] {
    if (errno_of_find(memory.address()) != EINVAL) return 1;
    return count_process_resources().device_mappings == 0 ? 0 : 2;
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_TRUE(emulated_unmap(*mapping, 65536));
  EXPECT_TRUE(emulated_unmap(*held, 65536));
}

TEST(EmulatedMemory, RejectsImpossibleSizes) {
  EXPECT_TRUE(tests::failed(emulated_allocate(0, EmulatedKind::device), EINVAL));
  const auto before = count_process_resources();
  for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 65535, std::size_t{1} << 60, std::size_t{1} << 46}) {
    const auto made = emulated_allocate(size, EmulatedKind::device);
    // 2^46 bytes can succeed if the address space is larger than with four-level page tables.
    if (made) {
      EXPECT_EQ(size, std::size_t{1} << 46);
      EXPECT_TRUE(emulated_free(*made));
      continue;
    }
    EXPECT_TRUE(tests::failed(made, ENOMEM)) << size;
  }
  EXPECT_EQ(count_process_resources(), before);
}

TEST(EmulatedMemory, ReportsThatDescriptorsAreExhausted) {
  const auto end = run_in_child([] {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) return 1;
    const auto made = emulated_allocate(4096, EmulatedKind::device);
    if (made || made.error().errno_value != EMFILE) return 2;
    const auto found = emulated_find(65536);
    return !found && found.error().errno_value == EMFILE ? 0 : 3;
  });
  EXPECT_EQ(end.exit_code, 0);
}

TEST(EmulatedMemory, ReleasesAllResourcesIfAddressSpaceIsExhausted) {
  const auto end = run_in_child([] {
    const auto memory = emulated_allocate(16 << 20, EmulatedKind::device);
    if (!memory) return 1;
    const auto before = count_process_resources();
    rlimit limit{};
    ::getrlimit(RLIMIT_AS, &limit);
    // The limit is below the current size, so each further mapping fails, in every step.
    limit.rlim_cur = 1;
    if (::setrlimit(RLIMIT_AS, &limit) != 0) return 2;
    const auto more = emulated_allocate(16 << 20, EmulatedKind::device);
    const auto mapping = emulated_map(*memory, 16 << 20);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_AS, &limit);
    if (more || more.error().errno_value != ENOMEM) return 3;
    if (mapping || mapping.error().errno_value != ENOMEM) return 4;
    return count_process_resources() == before ? 0 : 5;
  });
  EXPECT_EQ(end.exit_code, 0);
}

TEST(EmulatedMemory, AdoptedSharedMemoryIsOneAllocationAtEachAddress) {
  constexpr std::size_t size = 4 * emulated_page_bytes;
  constexpr std::size_t room = size + 3 * emulated_page_bytes;
  auto file = tests::value_or_throw(emulated_create_file(size, EmulatedKind::device));
  std::uint64_t adopted[2] = {};
  void* reserved[2] = {};
  for (int i = 0; i < 2; ++i) {
    reserved[i] = ::mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(reserved[i], MAP_FAILED);
    const auto first = reinterpret_cast<std::uint64_t>(reserved[i]) + 2 * emulated_page_bytes - 1;
    adopted[i] = first / emulated_page_bytes * emulated_page_bytes;
    ASSERT_TRUE(tests::succeeded(emulated_adopt(file, adopted[i], size)));
  }
  ::close(file);
  bytes_at(adopted[0])[size - 1] = 0x5a;
  EXPECT_EQ(bytes_at(adopted[1])[size - 1], 0x5a);
  for (const std::uint64_t start : adopted) {
    auto found = tests::value_or_throw(emulated_find(start + size - 1));
    EXPECT_EQ(found.start, start);
    EXPECT_EQ(found.size_bytes, size);
    EXPECT_EQ(found.kind, EmulatedKind::device);
    EXPECT_FALSE(emulated_find(start - 1));
    EXPECT_FALSE(emulated_find(start + size));
  }
  auto mapping = tests::value_or_throw(emulated_map(adopted[1], size));
  EXPECT_EQ(static_cast<std::uint8_t*>(mapping)[size - 1], 0x5a);
  EXPECT_TRUE(tests::succeeded(emulated_unmap(mapping, size)));
  for (void* const mapped : reserved) ::munmap(mapped, room);
}

TEST(EmulatedMemory, AdoptReportsMemoryThatCannotBeMapped) {
  EXPECT_EQ(emulated_adopt(-1, std::uint64_t{1} << 40, emulated_page_bytes).error().errno_value, ENOMEM);
}

TEST(EmulatedMemory, FreeSucceedsOnOneOfManyThreads) {
  for (int round = 0; round < 20; ++round) {
    const auto address = tests::value_or_throw(emulated_allocate(65536, EmulatedKind::device));
    std::atomic<int> freed{0};
    tests::run_together(4, [&](int) { freed += emulated_free(address) ? 1 : 0; });
    EXPECT_EQ(freed, 1);
  }
}

TEST(EmulatedMemory, ThreadsFindTheirOwnAllocations) {
  std::atomic<int> wrong{0};
  const auto work = [&](unsigned seed) {
    for (unsigned i = 0; i < 50; ++i) {
      const std::size_t size = 1 + (seed * 7919 + i * 104729) % 200'000;
      const auto memory = emulated_allocate(size, EmulatedKind::device);
      if (!memory) {
        ++wrong;
        continue;
      }
      bytes_at(*memory)[size - 1] = static_cast<std::uint8_t>(seed);
      const auto found = emulated_find(*memory + size - 1);
      const auto mapping = emulated_map(*memory, size);
      if (!found || found->size_bytes != size || found->start != *memory || !mapping) {
        ++wrong;
      } else {
        wrong += static_cast<std::uint8_t*>(*mapping)[size - 1] != static_cast<std::uint8_t>(seed);
        wrong += emulated_unmap(*mapping, size) ? 0 : 1;
      }
      wrong += emulated_free(*memory) ? 0 : 1;
    }
  };
  tests::run_together(8U, work);
  EXPECT_EQ(wrong, 0);
}

TEST(EmulatedDeviceCount, FollowsTheSetting) {
  EXPECT_EQ(emulated_device_count("").value_or(0), 1);
  EXPECT_EQ(emulated_device_count("1").value_or(0), 1);
  EXPECT_EQ(emulated_device_count("16").value_or(0), 16);
  for (const char* wrong : {"0", "17", "-1", "two", "2 ", " 2", "2x", "99999999999999999999"}) {
    EXPECT_TRUE(tests::failed(emulated_device_count(wrong), EINVAL)) << wrong;
  }
}

}  // namespace
}  // namespace gdrkit::driver
