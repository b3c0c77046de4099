// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// If pages cannot be unmapped, their memory is never reused.
#include <sys/mman.h>

#include "fakes/fault_injection.hpp"
#include "lib/backend/rm/rm_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::rm {
namespace {

/// The machine's system calls. The first `failures` calls of munmap fail, and so do those of madvise after `advices`.
class FailingUnmaps final : public fakes::FaultySystem {
 public:
  using FaultySystem::FaultySystem;
  int failures = 0;
  int advices = 1000;  ///< the number of calls that succeed

  int munmap(void* address, std::size_t length) noexcept override {
    return failures-- > 0 ? -ENOMEM : FaultySystem::munmap(address, length);
  }
  int madvise(void* address, std::size_t length, int advice) noexcept override {
    return advices-- > 0 ? FaultySystem::madvise(address, length, advice) : -ENOMEM;
  }
};

class RmFailedUnmap : public ::testing::Test {
 protected:
  static constexpr std::size_t size = 1 * mib;

  void SetUp() override {
    address = machine.allocate(size);
    backend = tests::value_or_throw(open_rm_on(system, machine.cuda, machine.settings));
    pinned = pin_or_fail(*backend, address, size);
  }

  RmMachine machine;
  FailingUnmaps system{machine.rm, machine.plan};
  std::uint64_t address = 0;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<BackendPin> pinned;
};

TEST_F(RmFailedUnmap, RejectsAMapAfterAFailedUnmap) {
  machine.rm.set_mapping_shows(fakes::MappingShows::other_memory);
  system.failures = 1;
  ASSERT_FALSE(pinned->map(size, MappingType::none));
  machine.rm.set_mapping_shows(fakes::MappingShows::memory);
  EXPECT_TRUE(tests::failed(pinned->map(size, MappingType::none), EIO));
  EXPECT_TRUE(tests::succeeded(pinned->unpin())) << "the second munmap succeeds";
}

TEST_F(RmFailedUnmap, ReleasesBar1IfASecondUnpinSucceeds) {
  ASSERT_TRUE(tests::succeeded(pinned->map(size, MappingType::none)));
  system.failures = 1;
  EXPECT_FALSE(pinned->unpin());
  pinned.reset();
  EXPECT_EQ(machine.rm.census().rm_mappings, 0u);
  EXPECT_EQ(machine.rm.census().vmas, 0u);
}

TEST_F(RmFailedUnmap, KeepsTheMemoryForeverIfThePagesStayMapped) {
  machine.leaks_on_purpose = true;
  ASSERT_TRUE(tests::succeeded(pinned->map(size, MappingType::none)));
  system.failures = 100;
  EXPECT_FALSE(pinned->unpin());
  pinned.reset();
  backend.reset();
  EXPECT_TRUE(has_no_violations(machine)) << "memory was released under pages that still refer to it";
  EXPECT_EQ(machine.rm.census().rm_clients, 1u);
}

/// Memory of zeros cannot be verified, so mapping it calibrates: the second mapping is that of scratch memory.
class RmFailedCalibrationUnmap : public RmFailedUnmap {
 protected:
  void SetUp() override {
    RmFailedUnmap::SetUp();
    plain = machine.cuda.malloc(size);
    pinned_plain = pin_or_fail(*backend, plain, size);
  }
  void expect_kept() {
    machine.leaks_on_purpose = true;
    EXPECT_TRUE(has_no_violations(machine)) << "scratch memory was released under pages that still refer to it";
    (void)pinned_plain->unpin();
    pinned_plain.reset();
    pinned.reset();
    backend.reset();
    EXPECT_TRUE(has_no_violations(machine)) << "scratch memory was released under pages that still refer to it";
    EXPECT_EQ(machine.cuda.census().scratch_allocations, 1u);
    EXPECT_EQ(machine.rm.census().rm_clients, 1u);
  }

  std::uint64_t plain = 0;
  std::unique_ptr<BackendPin> pinned_plain;
};

TEST_F(RmFailedCalibrationUnmap, KeepsTheScratchMemoryForever) {
  system.failures = 100;
  EXPECT_EQ(map_or_fail(*pinned_plain).verification, Verification::calibrated);
  expect_kept();
}

TEST_F(RmFailedCalibrationUnmap, KeepsTheScratchMemoryIfItsMappingFailsHalfway) {
  system.failures = 100;
  system.advices = 1;  // that of the scratch memory fails after its pages were mapped
  EXPECT_EQ(map_or_fail(*pinned_plain).verification, Verification::structural);
  expect_kept();
}

TEST_F(RmFailedCalibrationUnmap, ReleasesEverythingIfTheRetrySucceeds) {
  system.failures = 1;
  ASSERT_TRUE(tests::succeeded(pinned_plain->map(size, MappingType::none)));
  EXPECT_EQ(machine.rm.census().vmas, 1u) << "only the user's mapping";
  EXPECT_TRUE(tests::succeeded(pinned_plain->unpin()));
  pinned_plain.reset();
}

}  // namespace
}  // namespace gdrkit::backend::rm
