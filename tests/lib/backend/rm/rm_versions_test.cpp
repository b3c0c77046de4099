// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The same flow on every driver version that changed the interface.
#include <gmock/gmock.h>

#include "fakes/fault_injection.hpp"
#include "lib/backend/rm/rm_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::rm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class RmVersion : public ::testing::TestWithParam<fakes::DriverModel> {};

TEST_P(RmVersion, MapsEveryKindOfMemory) {
  RmMachine machine(GetParam());
  const std::vector<std::pair<std::uint64_t, std::size_t>> ranges = {
      {machine.cuda.malloc(4 * mib), 4 * mib},
      {machine.cuda.malloc(100000), 100000},
      {machine.cuda.vmm({2 * mib, 2 * mib, 2 * mib}, false), 6 * mib},
      {machine.cuda.vmm(std::vector<std::uint64_t>(130, 64 * kib), true), 130 * 64 * kib},
      {machine.cuda.pool_malloc(5 * mib), 5 * mib},
  };
  auto backend = open_or_fail(machine);
  for (const auto& [address, size] : ranges) {
    machine.cuda.fill_pattern(address, size);
    const MappedRegion region = expect_works(machine, *backend, address, size);
    EXPECT_EQ(region.type, MappingType::write_combining);
    EXPECT_EQ(region.verification, Verification::content);
  }
}

TEST_P(RmVersion, ImportsAnExportedFileIfTheHookCannotBeInstalled) {
  RmMachine machine(GetParam());
  const std::uint64_t address = machine.filled(machine.cuda.vmm({2 * mib, 4 * mib}, true, 16 * mib), 6 * mib);
  machine.cuda.is_hook_installable = false;
  auto backend = open_or_fail(machine);
  const MappedRegion region = expect_works(machine, *backend, address + 100, 6 * mib - 100);
  EXPECT_EQ(region.verification, Verification::content);
}

TEST_P(RmVersion, ReportsWhyEachWayToFindTheMemoryFailed) {
  RmMachine machine(GetParam());
  const std::uint64_t address = machine.cuda.vmm({2 * mib}, true);
  machine.cuda.is_hook_installable = false;
  machine.plan.fail_every("mem_export", {0, 0, 801});
  std::string text;  // checked after the objects that it names are destroyed
  {
    const auto backend = open_or_fail(machine);
    text = tests::text_of(backend->pin({address, 2 * mib}));
  }
  EXPECT_THAT(text, HasSubstr("cannot observe the ioctl calls of libcuda"));
  EXPECT_THAT(text, HasSubstr("as an exported file: cannot pin the memory: cuMemExportToShareableHandle"));
}

TEST_P(RmVersion, UsesAnIpcHandleIfAllowed) {
  RmMachine machine(GetParam());
  machine.settings.allow_ipc_handle = true;
  machine.cuda.is_hook_installable = false;
  (void)machine.cuda.malloc(4096);
  const std::uint64_t address = machine.allocate(100000);
  auto backend = open_or_fail(machine);
  (void)expect_works(machine, *backend, address, 100000);
}

TEST_P(RmVersion, ReportsTheStatusOfEveryFailedAllocation) {
  for (int failed_call = 0; failed_call < 3; ++failed_call) {
    RmMachine machine(GetParam());
    const std::uint64_t address = machine.cuda.malloc(128 * kib);
    machine.plan.alloc_status_at = GetParam().alloc_status_at;
    machine.plan.fail_call_of("RM_ALLOC", failed_call, {0, 0x0f, 0});
    std::string text;  // checked after the objects that it names are destroyed
    {
      auto backend = machine.open();
      text = backend ? tests::text_of((*backend)->pin({address, 4096})) : backend.error().text();
    }
    EXPECT_THAT(text, HasSubstr("GPU_IS_LOST")) << "RM_ALLOC number " << failed_call;
  }
}

TEST_P(RmVersion, ReportsTheUsageOfAFullBar1) {
  RmMachine machine(GetParam());
  const std::uint64_t address = machine.cuda.malloc(16 * mib);
  auto backend = open_or_fail(machine);
  auto pin = pin_or_fail(*backend, address, 16 * mib);
  const fakes::Census before = machine.rm.census();
  auto& heap = machine.rm.state().bar1(0);
  heap.occupy(6 * mib, heap.size() - 6 * mib);
  EXPECT_TRUE(
      tests::failed(pin->map(pin->page_bytes(), MappingType::none), ENOMEM,
                    AllOf(HasSubstr("BAR1 of " + machine.rm.gpus()[0].pci()), HasSubstr("cannot map 16384 KiB"),
                          HasSubstr("6 of 262144 MiB free"), HasSubstr("largest piece 6 MiB"), HasSubstr("0x51"))))
      << "the size of FB_GET_INFO_V2 depends on the version";
  EXPECT_EQ(machine.rm.census(), before) << "a failed map must release its resources";
}

INSTANTIATE_TEST_SUITE_P(Rm, RmVersion, ::testing::ValuesIn(fakes::driver_models()), [](const auto& tested) {
  std::string name = tested.param.version;
  std::replace(name.begin(), name.end(), '.', '_');
  return "Driver" + name;
});

}  // namespace
}  // namespace gdrkit::backend::rm
