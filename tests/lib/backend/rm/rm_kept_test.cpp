// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// KeptDriver: contexts of a process share one RM client and its device objects; a forked child opens its own.
#include <atomic>
#include <memory>
#include <thread>

#include "backend/rm/rm_driver.hpp"
#include "lib/backend/rm/rm_machine.hpp"
#include "support/forked_child.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::rm {
namespace {

base::Result<std::unique_ptr<Backend>> open(RmMachine& machine, KeptDriver& kept) {
  return open_rm_on(machine.rm, machine.cuda.calls(), machine.settings, &kept);
}

/// Opens a backend, pins and maps one allocation, and closes everything.
void use_once(RmMachine& machine, KeptDriver& kept, std::uint64_t address) {
  auto backend = tests::value_or_throw(open(machine, kept));
  auto pin = pin_or_fail(*backend, address, 64 * kib);
  EXPECT_EQ(map_or_fail(*pin).verification, Verification::content);
}

TEST(KeptDriver, KeepsTheClientAndTheDeviceForTheNextContext) {
  RmMachine machine;
  const std::uint64_t address = machine.allocate(64 * kib);
  KeptDriver kept;
  use_once(machine, kept, address);
  const fakes::Census idle = machine.rm.census();
  EXPECT_EQ(idle.descriptors, 2u) << "the control file and one GPU";
  EXPECT_EQ(idle.rm_clients, 1u);
  EXPECT_EQ(idle.rm_mappings, 0u);
  EXPECT_EQ(idle.vmas, 0u);
  const auto allocations = machine.rm.count_of(fakes::command::rm_alloc);
  for (int i = 0; i < 3; ++i) use_once(machine, kept, address);
  EXPECT_EQ(machine.rm.count_of(fakes::command::rm_alloc), allocations) << "a later context created RM objects";
  EXPECT_TRUE(machine.rm.census() == idle) << "a context left resources";
}

TEST(KeptDriver, KeepsWhatEarlierMappingsProved) {
  RmMachine machine;
  const std::uint64_t distinct = machine.allocate(64 * kib);
  const std::uint64_t zeros = machine.cuda.malloc(64 * kib);
  unsigned gathers = 0;
  machine.cuda.before_gather = [&] { ++gathers; };
  KeptDriver kept;
  // Maps the memory in a new context. Returns the exports, one of them by the pin.
  const auto exports_of_map = [&](std::uint64_t address, Verification expected) {
    const unsigned before = machine.cuda.exports_made();
    const auto backend = tests::value_or_throw(open(machine, kept));
    const auto pin = pin_or_fail(*backend, address, 64 * kib);
    EXPECT_EQ(map_or_fail(*pin).verification, expected);
    return machine.cuda.exports_made() - before;
  };
  EXPECT_EQ(exports_of_map(distinct, Verification::content), 1u);
  EXPECT_EQ(exports_of_map(zeros, Verification::calibrated), 2u) << "another export for the scratch memory";
  EXPECT_EQ(exports_of_map(zeros, Verification::calibrated), 1u) << "a later context calibrated again";
  gathers = 0;
  EXPECT_EQ(exports_of_map(distinct, Verification::content), 1u);
  EXPECT_EQ(gathers, 0u) << "a later context compared the same allocation again";
  machine.cuda.before_gather = nullptr;
}

TEST(KeptDriver, IsSharedByContextsThatAreOpenAtTheSameTime) {
  RmMachine machine;
  KeptDriver kept;
  const auto first = open(machine, kept);
  const auto second = open(machine, kept);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(machine.rm.census().rm_clients, 1u);
}

TEST(KeptDriver, OpensTheDriverAgainAfterAnError) {
  RmMachine machine;
  KeptDriver kept;
  machine.rm.set_descriptor_limit(0);
  EXPECT_TRUE(tests::failed(kept.get(machine.rm, machine.settings), EMFILE));
  machine.rm.set_descriptor_limit(100);
  EXPECT_TRUE(kept.get(machine.rm, machine.settings));
}

TEST(KeptDriver, RejectsAnUnreviewedDriverThatAnotherContextAllowed) {
  RmMachine machine(fakes::driver_model("999.10"));
  KeptDriver kept;
  base::Settings allowing = machine.settings;
  allowing.allow_unreviewed_driver = true;
  EXPECT_TRUE(kept.get(machine.rm, allowing));
  EXPECT_TRUE(tests::failed(kept.get(machine.rm, machine.settings), ENOTSUP));
}

/// Forks, runs `after_fork` in the child and opens the driver there. Returns 0 if the child closes the parent's files,
/// frees nothing of the parent's client, and creates a client of its own; else the number of the step that fails.
template <class AfterFork>
int failed_step_of_child(RmMachine& machine, KeptDriver& kept, bool has_handlers, AfterFork after_fork) {
  const tests::ChildEnd end = tests::run_in_child([&] {
    const auto before = machine.rm.count_of(fakes::command::rm_alloc);
    after_fork();
    if (has_handlers && machine.rm.census().descriptors != 0) return 1;
    if (!kept.get(machine.rm, machine.settings)) return 2;
    if (machine.rm.count_of(fakes::command::rm_alloc) != before + 1) return 3;
    if (machine.rm.count_of(fakes::command::rm_free) != 0) return 4;
    return machine.rm.census().descriptors == 1 ? 0 : 5;
  });
  return end.exit_code;
}

TEST(KeptDriver, IsNotSharedWithAForkedChild) {
  RmMachine machine;
  KeptDriver kept;
  const auto driver = kept.get(machine.rm, machine.settings);
  ASSERT_TRUE(driver);
  char pci[32] = {};
  driver::CudaUuid uuid{};
  ASSERT_EQ(driver::device_pci_bus_id(machine.cuda.calls(), 0, pci, sizeof pci), 0);
  ASSERT_EQ(driver::device_uuid(machine.cuda.calls(), 0, &uuid), 0);
  ASSERT_TRUE((*driver)->device(pci, uuid));
  EXPECT_EQ(machine.rm.census().descriptors, 2u);
  EXPECT_EQ(failed_step_of_child(machine, kept, true, [&] { kept.abandon_after_fork(); }), 0);
  EXPECT_EQ(failed_step_of_child(machine, kept, false, [] {}), 0) << "a child without fork handlers";
  EXPECT_EQ(machine.rm.census().rm_clients, 1u);
}

TEST(KeptDriver, CanBeUsedInAChildThatWasForkedDuringACall) {
  RmMachine machine;
  KeptDriver kept;
  ASSERT_TRUE(kept.get(machine.rm, machine.settings));
  // The copy of the mutex in the child is held by a thread that the child does not have.
  std::atomic<bool> is_over{false};
  std::thread opener([&] {
    while (!is_over.load()) (void)kept.get(machine.rm, machine.settings);
  });
  for (int count = 0; count < 50; ++count) {
    const tests::ChildEnd end = tests::run_in_child([&] {
      kept.abandon_after_fork();
      return kept.get(machine.rm, machine.settings) ? 0 : 1;
    });
    EXPECT_EQ(end.exit_code, 0) << "signal " << end.signal;
  }
  is_over = true;
  opener.join();
}

}  // namespace
}  // namespace gdrkit::backend::rm
