// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Concurrent pins of one backend, and resources that a forked child inherits.
#include <sys/mman.h>

#include "lib/backend/rm/rm_machine.hpp"
#include "support/forked_child.hpp"
#include "support/results.hpp"
#include "support/run_together.hpp"

namespace gdrkit::backend::rm {
namespace {

TEST(RmConcurrency, PinsOfOneBackendRunInParallel) {
  RmMachine machine;
  constexpr int threads = 8, rounds = 20;
  constexpr std::size_t size = 100000;
  std::vector<std::uint64_t> addresses;
  for (int i = 0; i < threads; ++i) {
    addresses.push_back(machine.cuda.malloc(size));
    // Half of them have trivial content, so that threads also race for calibration.
    if (i % 2 == 0) machine.cuda.fill_pattern(addresses.back(), size, static_cast<std::uint64_t>(i) + 1);
  }
  auto backend = open_or_fail(machine);
  tests::run_together(addresses.size(), [&](std::size_t thread) {
    const std::uint64_t address = addresses[thread];
    const auto content = machine.cuda.read(address, size);
    for (int round = 0; round < rounds; ++round) {
      auto pin = backend->pin({address, size});
      ASSERT_TRUE(pin) << pin.error().text();
      auto mapped = (*pin)->map((*pin)->page_bytes(), MappingType::none);
      ASSERT_TRUE(mapped) << mapped.error().text();
      EXPECT_EQ(std::memcmp(own_byte(**pin, *mapped, address), content.data(), size), 0);
      EXPECT_TRUE((*pin)->unmap());
      EXPECT_TRUE((*pin)->unpin());
    }
  });
}

TEST(RmConcurrency, OneRangeCanBePinnedAndMappedManyTimesAtOnce) {
  RmMachine machine;
  const std::uint64_t address = machine.allocate(256 * kib);
  auto backend = open_or_fail(machine);
  std::vector<std::unique_ptr<BackendPin>> pins;
  std::vector<std::uint8_t*> mapped;
  for (int i = 0; i < 20; ++i) {
    pins.push_back(pin_or_fail(*backend, address, 256 * kib));
    mapped.push_back(own_byte(*pins.back(), map_or_fail(*pins.back()), address));
  }
  mapped.front()[100] = 0x77;
  for (const std::uint8_t* view : mapped) EXPECT_EQ(view[100], 0x77);
  pins.erase(pins.begin());
  mapped.erase(mapped.begin());
  for (const std::uint8_t* view : mapped) EXPECT_EQ(view[100], 0x77) << "the mapping of another pin must stay";
}

TEST(RmConcurrency, OpeningAndClosingRaceWithEachOther) {
  RmMachine machine;
  const std::uint64_t address = machine.allocate(64 * kib);
  tests::run_together(4, [&](int) {
    for (int round = 0; round < 20; ++round) {
      auto backend = machine.open();
      ASSERT_TRUE(backend) << backend.error().text();
      auto pin = (*backend)->pin({address, 64 * kib});
      ASSERT_TRUE(pin) << pin.error().text();
      EXPECT_TRUE(tests::succeeded((*pin)->map((*pin)->page_bytes(), MappingType::none)));
    }
  });
}

class RmFork : public OnRmMachine {
 protected:
  void SetUp() override {
    pin(machine.allocate(256 * kib), 256 * kib);
    region = map_or_fail(*pinned);
  }

  MappedRegion region;
};

TEST_F(RmFork, TheChildDoesNotInheritTheMapping) {
  const auto end =
      tests::run_in_child([&] { return *static_cast<volatile std::uint8_t*>(region.address) != 0 ? 1 : 2; });
  EXPECT_EQ(end.signal, SIGSEGV) << "the child read device memory, exit code " << end.exit_code;
}

TEST_F(RmFork, TheChildClosesItsDescriptorsAndKeepsTheParentsState) {
  const auto end = tests::run_in_child([&] {
    const auto ioctls = [&] {
      unsigned sum = 0;
      for (const unsigned number : {fakes::command::rm_free, fakes::command::rm_unmap, fakes::command::rm_control}) {
        sum += machine.rm.count_of(number);
      }
      return sum;
    };
    const unsigned before = ioctls();
    pinned->abandon_after_fork();
    backend->abandon_after_fork();
    if (machine.rm.census().descriptors != 0) return 1;
    // The child may use the address of the mapping for other memory.
    void* mine = ::mmap(region.address, region.size_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (mine == MAP_FAILED) return 2;
    static_cast<std::uint8_t*>(mine)[0] = 0x42;
    pinned.reset();
    backend.reset();
    if (static_cast<std::uint8_t*>(mine)[0] != 0x42) return 3;
    return ioctls() == before ? 0 : 4;
  });
  EXPECT_EQ(end.exit_code, 0) << "signal " << end.signal;
  EXPECT_EQ(std::memcmp(own_byte(*pinned, region, address), machine.cuda.read(address, 256 * kib).data(), 256 * kib),
            0);
}

}  // namespace
}  // namespace gdrkit::backend::rm
