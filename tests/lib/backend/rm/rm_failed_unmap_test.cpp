// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Where pages cannot be unmapped, their memory is never given to anybody else; and other disturbances that must not
// last.
#include <gmock/gmock.h>

#include <sys/mman.h>

#include "fakes/fault_injection.hpp"
#include "lib/backend/rm/rm_machine.hpp"

namespace gdrkit::backend::rm {
namespace {

using ::testing::HasSubstr;

/// The machine's system calls, of which the first so many munmaps fail.
class StickyPages final : public shim::System {
 public:
  explicit StickyPages(shim::System& inner) noexcept : inner_(inner) {}
  int failures = 0;

  int open(const char* path, int flags) noexcept override { return inner_.open(path, flags); }
  int close(int fd) noexcept override { return inner_.close(fd); }
  int ioctl(int fd, unsigned long request, void* argument) noexcept override {
    return inner_.ioctl(fd, request, argument);
  }
  int mmap(void* wanted, std::size_t length, int protection, int flags, int fd, off_t offset,
           void** mapped) noexcept override {
    return inner_.mmap(wanted, length, protection, flags, fd, offset, mapped);
  }
  int munmap(void* address, std::size_t length) noexcept override {
    return failures-- > 0 ? -ENOMEM : inner_.munmap(address, length);
  }
  int access(const char* path, int mode) noexcept override { return inner_.access(path, mode); }
  int madvise(void* address, std::size_t length, int advice) noexcept override {
    return inner_.madvise(address, length, advice);
  }
  ssize_t read_text(const char* path, char* buffer, std::size_t capacity) noexcept override {
    return inner_.read_text(path, buffer, capacity);
  }

 private:
  shim::System& inner_;
};

class RmFailedUnmap : public ::testing::Test {
 protected:
  static constexpr std::size_t size = 1 * mib;

  void SetUp() override {
    address = machine.cuda.malloc(size);
    machine.cuda.fill_pattern(address, size);
    auto opened = open_rm_on(system, machine.cuda, machine.settings);
    ASSERT_TRUE(opened) << base::detail();
    backend = std::move(*opened);
    pinned = pin_or_fail(*backend, address, size);
  }

  RmMachine machine;
  StickyPages system{machine.rm};
  std::uint64_t address = 0;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<BackendPin> pinned;
};

TEST_F(RmFailedUnmap, RefusesToMapAgainOverAMappingThatCouldNotBeUndone) {
  machine.rm.set_mapping_shows(fakes::MappingShows::other_memory);
  system.failures = 1;
  ASSERT_FALSE(pinned->map(size, MappingType::none));
  machine.rm.set_mapping_shows(fakes::MappingShows::memory);
  const auto again = pinned->map(size, MappingType::none);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().errno_value, EIO);
  EXPECT_TRUE(pinned->unpin()) << "the second munmap works: " << base::detail();
  pinned.reset();
  backend.reset();
  EXPECT_TRUE(is_clean(machine));
}

TEST_F(RmFailedUnmap, KeepsTheMemoryForEverWhenThePagesStay) {
  ASSERT_TRUE(pinned->map(size, MappingType::none)) << base::detail();
  system.failures = 100;
  EXPECT_FALSE(pinned->unpin());
  pinned.reset();
  backend.reset();
  EXPECT_TRUE(is_lawful(machine)) << "memory was given back under pages that still show it";
  EXPECT_EQ(machine.rm.census().rm_clients, 1u);
}

TEST(RmBusyMemory, MapsWhileSomebodyWritesASampledWordWithoutPause) {
  RmMachine machine;
  const std::uint64_t address = machine.cuda.malloc(mib);
  machine.cuda.fill_pattern(address, mib);
  std::uint64_t counter = 0;
  const auto count = [&] {
    ++counter;
    machine.cuda.write(address, &counter, sizeof counter);
  };
  machine.cuda.before_gather = count;
  machine.cuda.after_gather = count;
  auto backend = open_or_fail(machine);
  auto pinned = pin_or_fail(*backend, address, mib);
  const auto mapped = pinned->map(mib, MappingType::none);
  ASSERT_TRUE(mapped) << base::detail();
  EXPECT_EQ(mapped->verification, Verification::content);
}

TEST(RmBusyMemory, SeesOtherMemoryAlthoughOneWordIsBeingWritten) {
  RmMachine machine;
  const std::uint64_t address = machine.cuda.malloc(mib);
  machine.cuda.fill_pattern(address, mib);
  std::uint64_t counter = 0;
  machine.cuda.before_gather = [&] {
    ++counter;
    machine.cuda.write(address, &counter, sizeof counter);
  };
  machine.rm.set_mapping_shows(fakes::MappingShows::other_memory);
  auto backend = open_or_fail(machine);
  auto pinned = pin_or_fail(*backend, address, mib);
  const auto mapped = pinned->map(mib, MappingType::none);
  ASSERT_FALSE(mapped);
  EXPECT_EQ(mapped.error().errno_value, EIO);
}

TEST(RmCalibration, IsTriedAgainAfterAPassingLackOfDescriptors) {
  RmMachine machine;
  const std::uint64_t address = machine.cuda.malloc(mib);
  auto backend = open_or_fail(machine);
  auto pinned = pin_or_fail(*backend, address, mib);
  machine.rm.set_descriptor_limit(machine.rm.census().descriptors + 1);
  auto mapped = pinned->map(mib, MappingType::none);
  ASSERT_TRUE(mapped) << base::detail();
  EXPECT_EQ(mapped->verification, Verification::structural);
  ASSERT_TRUE(pinned->unmap());
  machine.rm.set_descriptor_limit(1024);
  mapped = pinned->map(mib, MappingType::none);
  ASSERT_TRUE(mapped) << base::detail();
  EXPECT_EQ(mapped->verification, Verification::calibrated);
}

}  // namespace
}  // namespace gdrkit::backend::rm
