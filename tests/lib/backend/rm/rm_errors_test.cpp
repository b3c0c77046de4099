// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Memory that cannot be pinned or mapped: the error names the cause, and all resources are released.
#include <gmock/gmock.h>

#include "lib/backend/rm/rm_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::rm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A range that cannot be pinned.
struct Rejection {
  const char* name;
  std::uint64_t (*allocate)(RmMachine& machine);
  std::size_t size_bytes;
  int errno_value;
  ::testing::Matcher<std::string> text;
  RmMachine::Options options = {};
  void (*change)(fakes::FakeGpu& gpu) = [](fakes::FakeGpu&) {};
};

std::ostream& operator<<(std::ostream& out, const Rejection& rejection) { return out << rejection.name; }

std::uint64_t malloc_2_mib(RmMachine& machine) { return machine.cuda.malloc(2 * mib); }

const Rejection rejections[] = {
    {"ManagedMemory", [](RmMachine& machine) { return machine.cuda.managed(256 * kib); }, 4096, EOPNOTSUPP,
     HasSubstr("managed memory")},
    {"HostMemory", [](RmMachine& machine) { return machine.cuda.host(64 * kib); }, 4096, EINVAL,
     HasSubstr("host memory")},
    {"FreedMemory",
     [](RmMachine& machine) {
       const std::uint64_t address = machine.cuda.malloc(4 * mib);
       machine.cuda.free(address);
       return address;
     },
     4096, EINVAL, HasSubstr("freed")},
    {"FreedMemoryInsideALiveBlock",
     [](RmMachine& machine) {
       (void)machine.cuda.malloc(4096);
       const std::uint64_t address = machine.cuda.malloc(4096);
       machine.cuda.free(address);
       return address;
     },
     4096, EINVAL, HasSubstr("freed")},
    {"FreedMemoryInsideAPool",
     [](RmMachine& machine) {
       const std::uint64_t address = machine.cuda.pool_malloc(2 * mib);
       machine.cuda.free(address);
       return address;
     },
     4096, EINVAL, HasSubstr("freed")},
    {"AnAddressThatCudaNeverReturned", [](RmMachine& machine) { return reinterpret_cast<std::uint64_t>(&machine); }, 4,
     EINVAL, HasSubstr("not in a live CUDA allocation")},
    {"ARangePastItsAllocation", [](RmMachine& machine) { return machine.cuda.malloc(4 * mib) + 1; }, 4 * mib, EINVAL,
     AllOf(HasSubstr("1 byte past the end of the allocation"), HasSubstr("0x"))},
    {"ARangePastASubAllocationThatEndsInsideItsBlock", [](RmMachine& machine) { return machine.cuda.malloc(4096); },
     4097, EINVAL, HasSubstr("past the end of the allocation")},
    {"TheHoleAfterMappedHandles",
     [](RmMachine& machine) {
       return machine.cuda.vmm({2 * mib, 2 * mib}, true, 16 * mib);
     },
     4 * mib + 1, EINVAL, HasSubstr("past the end of the allocation")},
    {"ARangeBeyondTheAddressSpace", [](RmMachine&) { return UINT64_MAX - 100; }, 100, EINVAL,
     HasSubstr("the end of the range exceeds 64 bits")},
    {"ImportedMemoryOfAnotherProcess", [](RmMachine& machine) { return machine.cuda.ipc_import(2 * mib); }, 4096,
     EINVAL, HasSubstr("belongs to another process")},
    {"MemoryOfAnMpsServer",
     malloc_2_mib,
     4096,
     EACCES,
     AllOf(HasSubstr("another process"), HasSubstr("MPS"), HasSubstr("0x1b")),
     {.process_id = fakes::FakeRm::process_id + 1}},
    {"AProcessWithoutCuda",
     [](RmMachine&) { return std::uint64_t{0x7feb00000000}; },
     4096,
     EINVAL,
     HasSubstr("not initialized"),
     {.is_initialised = false}},
    {"AFailedExport",
     [](RmMachine& machine) {
       machine.cuda.export_result = 801;
       return malloc_2_mib(machine);
     },
     4096, EOPNOTSUPP, AllOf(HasSubstr("export"), HasSubstr("NOT_SUPPORTED"))},
    {"MemoryThatIsNotVideoMemory",
     [](RmMachine& machine) {
       const std::uint64_t address = machine.cuda.vmm({2 * mib}, true);
       machine.cuda.memory_at(address).lock()->is_video_memory = false;
       return address;
     },
     4096, EOPNOTSUPP, HasSubstr("not in video memory")},
    {"AMigInstance",
     malloc_2_mib,
     4096,
     EOPNOTSUPP,
     AllOf(HasSubstr("MIG instance"), HasSubstr(fakes::make_gpu(0).pci()), HasSubstr("load the gdrdrv kernel module"),
           HasSubstr("GDRKIT_BACKEND=dmabuf")),
     {},
     [](fakes::FakeGpu& gpu) { gpu.cuda_uuid[3] ^= 0xff; }},
    {"AnIntegratedGpu",
     malloc_2_mib,
     4096,
     EOPNOTSUPP,
     HasSubstr("integrated"),
     {},
     [](fakes::FakeGpu& gpu) { gpu.is_integrated = true; }},
};

class RmRejects : public ::testing::TestWithParam<Rejection> {};

TEST_P(RmRejects, WithTheReasonAndReleasesEverything) {
  const Rejection& tested = GetParam();
  fakes::FakeGpu gpu = fakes::make_gpu(0);
  tested.change(gpu);
  RmMachine machine(tested.options, gpu);
  const std::uint64_t address = tested.allocate(machine);
  const auto backend = open_or_fail(machine);
  EXPECT_TRUE(tests::failed(backend->pin({address, tested.size_bytes}), tested.errno_value, tested.text));
}

INSTANTIATE_TEST_SUITE_P(Rm, RmRejects, ::testing::ValuesIn(rejections),
                         [](const auto& tested) { return tested.param.name; });

/// Memory that can be pinned.
class RmErrors : public OnRmMachine {};

TEST_F(RmErrors, AcceptsTheRestOfThePageIfTheRangeNeedNotBeExact) {
  address = machine.cuda.malloc(4096);
  backend = open_or_fail(machine);
  EXPECT_TRUE(tests::succeeded(backend->pin({address, 65536, false, false})));
  EXPECT_TRUE(
      tests::failed(backend->pin({address, 65537, false, false}), EINVAL, HasSubstr("past the end of the allocation")));
}

TEST_F(RmErrors, ReportsThatTheHookCannotBeInstalled) {
  address = machine.cuda.malloc(2 * mib);
  machine.cuda.is_hook_installable = false;
  backend = open_or_fail(machine);
  EXPECT_TRUE(tests::failed(backend->pin({address, 4096}), EOPNOTSUPP, HasSubstr("cannot observe")));
  EXPECT_EQ(machine.cuda.ipc_handles_taken(), 0u) << "IPC handles are used only on request";
}

TEST_F(RmErrors, ReportsANodeThatWasRemovedSinceOpening) {
  address = machine.cuda.malloc(2 * mib);
  backend = open_or_fail(machine);
  const std::string node = machine.rm.gpus()[0].node();
  machine.rm.fail_path(node, ENOENT);
  EXPECT_TRUE(tests::failed(backend->pin({address, 4096}), ENODEV, AllOf(HasSubstr(node), HasSubstr("container"))));
}

TEST_F(RmErrors, ReportsAFullBar1WithoutItsUsage) {
  pin(machine.cuda.malloc(2 * mib), 2 * mib);
  machine.rm.state().table_is_full = true;
  machine.rm.set_fb_info_works(false);
  expect_map_fails(ENOMEM, AllOf(HasSubstr("cannot map 2048 KiB"), HasSubstr("0x1a"), Not(HasSubstr("MiB free"))));
}

TEST_F(RmErrors, UnmapsThePiecesIfBar1BecomesFull) {
  pin(machine.cuda.vmm({2 * mib, 2 * mib, 2 * mib}, false), 6 * mib);
  auto& heap = machine.rm.state().bar1(0);
  heap.occupy(4 * mib, heap.size() - 4 * mib);
  expect_map_fails(ENOMEM, HasSubstr("is full"));
  EXPECT_EQ(heap.available(), 4 * mib);
}

TEST_F(RmErrors, RejectsProtectedMemory) {
  address = machine.cuda.malloc(2 * mib);
  machine.cuda.memory_at(address).lock()->is_unmappable = true;
  pin(address, 2 * mib);
  expect_map_fails(EOPNOTSUPP, AllOf(HasSubstr("confidential computing"), HasSubstr("0x56")));
}

TEST_F(RmErrors, ReportsThatEveryMappingRequiresADescriptor) {
  pin(machine.cuda.malloc(2 * mib), 2 * mib);
  machine.rm.set_descriptor_limit(machine.rm.census().descriptors);
  expect_map_fails(EMFILE, AllOf(HasSubstr("too many open files"), HasSubstr("unpin memory or raise ulimit -n")));
}

TEST_F(RmErrors, SupportsOnlyWriteCombining) {
  pin(machine.cuda.malloc(2 * mib), 2 * mib);
  for (const MappingType type : {MappingType::cached, MappingType::device}) {
    EXPECT_TRUE(tests::failed(pinned->map(pinned->page_bytes(), type), EOPNOTSUPP));
  }
  EXPECT_FALSE(pinned->map(0, MappingType::none));
  EXPECT_FALSE(pinned->map(pinned->page_bytes() + 1, MappingType::none));
}

TEST_F(RmErrors, TreatsACachedMappingOfADiscreteGpuAsDevice) {
  constexpr std::uint32_t cached = 0;
  machine.rm.set_caching(cached);
  pin(machine.cuda.malloc(2 * mib), 2 * mib);
  EXPECT_EQ(map_or_fail(*pinned).type, MappingType::device);
}

TEST_F(RmErrors, DetectsAPlatformThatMapsBar1Uncached) {
  constexpr std::uint32_t uncached = 1;
  machine.rm.set_caching(uncached);
  pin(machine.cuda.malloc(2 * mib), 2 * mib);
  EXPECT_EQ(map_or_fail(*pinned).type, MappingType::device);
  ASSERT_TRUE(pinned->unmap());
  EXPECT_TRUE(tests::failed(pinned->map(pinned->page_bytes(), MappingType::write_combining), EOPNOTSUPP,
                            HasSubstr("uncached")));
}

}  // namespace
}  // namespace gdrkit::backend::rm
