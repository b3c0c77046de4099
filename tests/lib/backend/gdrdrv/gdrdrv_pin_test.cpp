// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Pins and mappings that are specific to the module: its errors, freed memory, forks, and processes without CUDA.
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>

#include "lib/backend/gdrdrv/gdrdrv_machine.hpp"
#include "support/forked_child.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::gdrdrv {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::run_in_child;

const fakes::GdrdrvModel not_persistent{.is_persistent = false};

struct Failure {
  int from_module;
  int errno_value;
  const char* words;
};

TEST(GdrdrvPin, DescribesTheErrorsOfTheModule) {
  constexpr int enotsupp = 524;
  const Failure failures[] = {{EINVAL, EINVAL, "not inside one live allocation"},
                              {ENOMEM, ENOMEM, "BAR1"},
                              {enotsupp, EOPNOTSUPP, "does not support"},
                              {EOPNOTSUPP, EOPNOTSUPP, "does not support"},
                              {EIO, EIO, "Input/output"},
                              {EBUSY, EIO, "busy"},
                              {ENODEV, EIO, "No such device"},
                              {EFAULT, EIO, "Bad address"},
                              {EACCES, EACCES, "another process"}};
  for (const Failure& failure : failures) {
    GdrdrvMachine machine;
    const auto memory = machine.allocate(gpu_page);
    const auto backend = open_or_fail(machine);
    machine.module.pin_error = failure.from_module;
    EXPECT_TRUE(tests::failed(backend->pin({memory.address(), gpu_page}), failure.errno_value,
                              AllOf(HasSubstr("gdrdrv"), HasSubstr(failure.words))));
  }
}

TEST(GdrdrvPin, PassesTheErrorOfMmapOn) {
  for (const int error : {EAGAIN, ENOMEM, EINVAL}) {
    PinnedMachine machine;
    machine.module.map_error = error;
    EXPECT_TRUE(tests::failed(machine.pin->map(gpu_page, MappingType::none), error,
                              HasSubstr("mmap of 65536 bytes of /dev/gdrdrv")));
    machine.module.map_error = 0;
    EXPECT_NE(map_or_fail(*machine.pin).address, nullptr);
  }
}

// GDRCopy's library does not query CUDA. In a process without libcuda, or before cuInit, only the module checks a
// range.
TEST(GdrdrvPin, LeavesTheChecksToTheModuleIfCudaIsUnavailable) {
  for (const int result : {3, 4, 34, 100}) {
    GdrdrvMachine machine;
    machine.plan.fail_every("pointer_get_attributes", {0, 0, result});
    const auto memory = machine.allocate(gpu_page + 10);
    const auto backend = open_or_fail(machine);
    const auto pin = pin_or_fail(*backend, memory.address() + 10, gpu_page);
    EXPECT_EQ(pin->page_address(), memory.address());
    EXPECT_EQ(pin->page_bytes(), 2 * gpu_page);
    EXPECT_EQ(pin->device(), "");
    const auto region = map_or_fail(*pin);
    EXPECT_EQ(std::memcmp(region.address, tests::make_pattern(gpu_page + 10, 1).data(), gpu_page + 10), 0);
    EXPECT_TRUE(tests::failed(backend->pin({0x1234000, 4096}), EINVAL));
    EXPECT_TRUE(tests::failed(backend->pin({UINT64_MAX - 65535, 65535}), EINVAL));
  }
}

TEST(GdrdrvPin, DoesNotRequireCuda) {
  GdrdrvMachine machine;
  const auto memory = machine.allocate(gpu_page);
  auto backend = tests::value_or_throw(open_gdrdrv_on(machine.module, nullptr));
  const auto pin = pin_or_fail(*backend, memory.address(), 100);
  EXPECT_NE(map_or_fail(*pin).address, nullptr);
}

// Other errors of CUDA are reported, rather than left to the module.
TEST(GdrdrvPin, PassesErrorsOfCudaOn) {
  GdrdrvMachine machine;
  // CUDA_ERROR_ILLEGAL_ADDRESS: the context is broken
  machine.plan.fail_every("pointer_get_attributes", {0, 0, 700});
  const auto memory = machine.allocate(gpu_page);
  const auto backend = open_or_fail(machine);
  const std::size_t before = machine.module.log().size();
  const auto pin = backend->pin({memory.address(), 1});
  ASSERT_FALSE(pin);
  EXPECT_EQ(pin.error().vendor_code, 700);
  EXPECT_EQ(machine.module.log().size(), before) << "the module must not be called";
}

/// Raises SIGBUS, or returns the number of the failed step.
int read_freed_memory() {
  PinnedMachine machine(not_persistent, 2 * gpu_page);
  const auto region = map_or_fail(*machine.pin);
  if (std::memcmp(region.address, tests::make_pattern(2 * gpu_page, 1).data(), 2 * gpu_page) != 0) return 1;
  if (!machine.memory.free()) return 2;
  machine.module.notice_frees();
  if (!machine.pin->is_invalidated()) return 3;
  return *(static_cast<volatile std::uint8_t*>(region.address) + gpu_page) * 0;
}

TEST(GdrdrvPin, AccessToFreedMemoryRaisesSigbus) {
  const auto child = run_in_child(read_freed_memory);
  EXPECT_EQ(child.signal, SIGBUS) << "exit code " << child.exit_code;
}

/// The owner frees the memory right after mmap.
class FreeingGdrdrv : public fakes::FakeGdrdrv {
 public:
  FreeingGdrdrv() : FakeGdrdrv(not_persistent) {}
  int madvise(void* address, std::size_t length, int advice) noexcept override {
    EXPECT_TRUE(to_free == nullptr || to_free->free());
    return FakeGdrdrv::madvise(address, length, advice);
  }
  platform::Allocation* to_free = nullptr;
};

TEST(GdrdrvPin, ReportsMemoryThatWasFreedWhileBeingMapped) {
  GdrdrvMachine machine;
  FreeingGdrdrv module;
  auto memory = machine.allocate(gpu_page);
  {
    const auto backend = tests::value_or_throw(open_gdrdrv_on(module, &machine.cuda.calls()));
    const auto pin = pin_or_fail(*backend, memory.address(), gpu_page);
    module.to_free = &memory;
    EXPECT_TRUE(tests::failed(pin->map(gpu_page, MappingType::none), EINVAL, HasSubstr("freed during the mapping")));
    EXPECT_TRUE(tests::succeeded(pin->unpin()));
  }
  EXPECT_EQ(module.census(), fakes::GdrdrvCensus());
  EXPECT_TRUE(module.violations().list().empty());
}

TEST(GdrdrvPin, ExcludesItsMappingsFromForkedChildren) {
  PinnedMachine machine({}, 3 * gpu_page);
  (void)map_or_fail(*machine.pin);
  EXPECT_EQ(machine.module.vmas_inherited_by_fork(), 0u);
  EXPECT_TRUE(machine.pin->unmap());
  ASSERT_TRUE(machine.pin->map(gpu_page + 1, MappingType::none));
  EXPECT_EQ(machine.module.vmas_inherited_by_fork(), 0u);
}

TEST(GdrdrvPin, FailsInAForkedChild) {
  PinnedMachine machine;
  const auto mapped = map_or_fail(*machine.pin);
  const auto child = run_in_child([&] {
    const auto again = machine.backend->pin({machine.memory.address(), 1});
    return again ? 1 : 0;
  });
  EXPECT_EQ(child.exit_code, 0) << "signal " << child.signal;
  const auto second = pin_or_fail(*machine.backend, machine.memory.address(), gpu_page);
  const auto mapping_child = run_in_child([&] {
    const auto region = second->map(gpu_page, MappingType::none);
    return !region && region.error().errno_value == EACCES ? 0 : 1;
  });
  EXPECT_EQ(mapping_child.exit_code, 0) << "signal " << mapping_child.signal;
  EXPECT_EQ(std::memcmp(mapped.address, tests::make_pattern(gpu_page, 1).data(), gpu_page), 0);
}

TEST(GdrdrvPin, IsInvalidAfterUnpin) {
  PinnedMachine machine;
  BackendPin& pin = *machine.pin;
  EXPECT_FALSE(pin.unmap()) << "it is not mapped";
  EXPECT_TRUE(pin.unpin());
  EXPECT_TRUE(pin.unpin()) << "a second unpin does nothing";
  EXPECT_FALSE(pin.is_invalidated());
  EXPECT_TRUE(tests::failed(pin.map(gpu_page, MappingType::none), EINVAL));
}

}  // namespace
}  // namespace gdrkit::backend::gdrdrv
