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

class RmErrors : public ::testing::Test {
 protected:
  template <class... Arguments>
  RmMachine& make(Arguments&&... arguments) {
    machine_ = std::make_unique<RmMachine>(std::forward<Arguments>(arguments)...);
    return *machine_;
  }
  void start() { backend_ = open_or_fail(*machine_); }
  void expect_pin(std::uint64_t address, std::size_t size, int errno_value, const ::testing::Matcher<std::string>& text,
                  bool exact = true) {
    const auto pinned = backend_->pin({address, size, false, exact});
    ASSERT_FALSE(pinned);
    EXPECT_EQ(pinned.error().errno_value, errno_value);
    EXPECT_THAT(std::string(pinned.error().text()), text);
    backend_.reset();
    EXPECT_TRUE(is_clean(*machine_));
  }
  void expect_map(BackendPin& pin, int errno_value, const ::testing::Matcher<std::string>& text) {
    const fakes::Census before = machine_->rm.census();
    const auto mapped = pin.map(pin.page_bytes(), MappingType::none);
    ASSERT_FALSE(mapped);
    EXPECT_EQ(mapped.error().errno_value, errno_value);
    EXPECT_THAT(std::string(mapped.error().text()), text);
    EXPECT_EQ(machine_->rm.census(), before) << "a failed map must release its resources";
    EXPECT_TRUE(is_lawful(*machine_));
  }

  std::unique_ptr<RmMachine> machine_;
  std::unique_ptr<Backend> backend_;
};

TEST_F(RmErrors, RejectsManagedMemory) {
  RmMachine& machine = make();
  const auto address = machine.cuda.managed(256 * kib);
  start();
  expect_pin(address, 4096, EOPNOTSUPP, HasSubstr("managed memory"));
}

TEST_F(RmErrors, RejectsHostMemory) {
  RmMachine& machine = make();
  const auto address = machine.cuda.host(64 * kib);
  start();
  expect_pin(address, 4096, EINVAL, HasSubstr("host memory"));
}

TEST_F(RmErrors, RejectsFreedMemory) {
  RmMachine& machine = make();
  const auto address = machine.cuda.malloc(4 * mib);
  machine.cuda.free(address);
  start();
  expect_pin(address, 4096, EINVAL, HasSubstr("freed"));
}

TEST_F(RmErrors, RejectsFreedMemoryInsideALiveBlock) {
  RmMachine& machine = make();
  (void)machine.cuda.malloc(4096);
  const auto address = machine.cuda.malloc(4096);
  machine.cuda.free(address);
  start();
  expect_pin(address, 4096, EINVAL, HasSubstr("freed"));
}

TEST_F(RmErrors, RejectsFreedMemoryInsideAPool) {
  RmMachine& machine = make();
  const auto address = machine.cuda.pool_malloc(2 * mib);
  machine.cuda.free(address);
  start();
  expect_pin(address, 4096, EINVAL, HasSubstr("freed"));
}

TEST_F(RmErrors, RejectsAnAddressThatCudaNeverReturned) {
  make();
  start();
  const int ordinary = 0;
  expect_pin(reinterpret_cast<std::uint64_t>(&ordinary), 4, EINVAL, HasSubstr("not in a live CUDA allocation"));
}

TEST_F(RmErrors, RejectsARangePastItsAllocation) {
  RmMachine& machine = make();
  const auto address = machine.cuda.malloc(4 * mib);
  start();
  expect_pin(address + 1, 4 * mib, EINVAL, AllOf(HasSubstr("1 byte past the end of the allocation"), HasSubstr("0x")));
}

TEST_F(RmErrors, RejectsARangePastASubAllocationThatEndsInsideItsBlock) {
  RmMachine& machine = make();
  const auto address = machine.cuda.malloc(4096);
  start();
  expect_pin(address, 4097, EINVAL, HasSubstr("past the end of the allocation"));
}

TEST_F(RmErrors, AcceptsTheRestOfThePageIfTheRangeNeedNotBeExact) {
  RmMachine& machine = make();
  const auto address = machine.cuda.malloc(4096);
  start();
  EXPECT_TRUE(tests::succeeded(backend_->pin({address, 65536, false, false})));
  expect_pin(address, 65537, EINVAL, HasSubstr("past the end of the allocation"), false);
}

TEST_F(RmErrors, RejectsTheHoleAfterMappedHandles) {
  RmMachine& machine = make();
  const auto address = machine.cuda.vmm({2 * mib, 2 * mib}, true, 16 * mib);
  start();
  expect_pin(address, 4 * mib + 1, EINVAL, HasSubstr("past the end of the allocation"));
}

TEST_F(RmErrors, RejectsARangeBeyondTheAddressSpace) {
  make();
  start();
  expect_pin(UINT64_MAX - 100, 100, EINVAL, HasSubstr("the end of the range exceeds 64 bits"));
}

TEST_F(RmErrors, RejectsImportedMemoryOfAnotherProcess) {
  RmMachine& machine = make();
  const auto address = machine.cuda.ipc_import(2 * mib);
  start();
  expect_pin(address, 4096, EINVAL, HasSubstr("belongs to another process"));
}

TEST_F(RmErrors, RejectsMemoryOfAnMpsServer) {
  fakes::FakeCuda::Options options;
  options.process_id = fakes::FakeRm::process_id + 1;
  RmMachine& machine = make(fakes::driver_model("580.159.04"), 1, options);
  const auto address = machine.cuda.malloc(2 * mib);
  start();
  expect_pin(address, 4096, EACCES, AllOf(HasSubstr("another process"), HasSubstr("MPS"), HasSubstr("0x1b")));
}

TEST_F(RmErrors, ReportsThatCudaIsNotInitialized) {
  fakes::FakeCuda::Options options;
  options.is_initialised = false;
  make(fakes::driver_model("580.159.04"), 1, options);
  start();
  expect_pin(0x7feb00000000, 4096, EINVAL, HasSubstr("not initialized"));
}

TEST_F(RmErrors, ReportsThatTheHookCannotBeInstalled) {
  RmMachine& machine = make();
  const auto address = machine.cuda.malloc(2 * mib);
  machine.cuda.is_hook_installable = false;
  start();
  expect_pin(address, 4096, EOPNOTSUPP, HasSubstr("cannot observe"));
  EXPECT_EQ(machine.cuda.ipc_handles_taken(), 0u) << "IPC handles are used only on request";
}

TEST_F(RmErrors, ReportsAFailedExport) {
  RmMachine& machine = make();
  const auto address = machine.cuda.malloc(2 * mib);
  machine.cuda.export_result = 801;
  start();
  expect_pin(address, 4096, EOPNOTSUPP, AllOf(HasSubstr("export"), HasSubstr("NOT_SUPPORTED")));
}

TEST_F(RmErrors, RejectsMemoryThatIsNotVideoMemory) {
  RmMachine& machine = make();
  const auto address = machine.cuda.vmm({2 * mib}, true);
  machine.cuda.memory_at(address).lock()->is_video_memory = false;
  start();
  expect_pin(address, 4096, EOPNOTSUPP, HasSubstr("not in video memory"));
}

TEST_F(RmErrors, RejectsAMigInstance) {
  auto gpus = RmMachine::make_gpus(1);
  gpus[0].cuda_uuid[3] ^= 0xff;
  fakes::FakeRm rm(fakes::driver_model("580.159.04"), gpus);
  fakes::FakeCuda cuda(rm);
  const auto address = cuda.malloc(2 * mib);
  auto backend = open_rm_on(rm, cuda, {});
  ASSERT_TRUE(backend);
  const auto pinned = (*backend)->pin({address, 4096, false, true});
  ASSERT_FALSE(pinned);
  EXPECT_EQ(pinned.error().errno_value, EOPNOTSUPP);
  EXPECT_THAT(std::string(pinned.error().text()),
              AllOf(HasSubstr("MIG instance"), HasSubstr(gpus[0].pci()), HasSubstr("load the gdrdrv kernel module"),
                    HasSubstr("GDRKIT_BACKEND=dmabuf")));
  backend->reset();
  EXPECT_EQ(rm.census(), fakes::Census());
}

TEST_F(RmErrors, RejectsAnIntegratedGpu) {
  auto gpus = RmMachine::make_gpus(1);
  gpus[0].is_integrated = true;
  fakes::FakeRm rm(fakes::driver_model("580.159.04"), gpus);
  fakes::FakeCuda cuda(rm);
  const auto address = cuda.malloc(2 * mib);
  auto backend = open_rm_on(rm, cuda, {});
  ASSERT_TRUE(backend);
  const auto pinned = (*backend)->pin({address, 4096, false, true});
  ASSERT_FALSE(pinned);
  EXPECT_THAT(std::string(pinned.error().text()), HasSubstr("integrated"));
}

TEST_F(RmErrors, ReportsANodeThatWasRemovedSinceOpening) {
  RmMachine& machine = make();
  const auto address = machine.cuda.malloc(2 * mib);
  start();
  machine.rm.fail_path(machine.rm.gpus()[0].node(), ENOENT);
  expect_pin(address, 4096, ENODEV, AllOf(HasSubstr(machine.rm.gpus()[0].node()), HasSubstr("container")));
}

TEST_F(RmErrors, ReportsTheUsageOfAFullBar1) {
  RmMachine& machine = make();
  const auto address = machine.cuda.malloc(16 * mib);
  start();
  auto pin = pin_or_fail(*backend_, address, 16 * mib);
  auto& heap = machine.rm.state().bar1(0);
  heap.occupy(6 * mib, heap.size() - 6 * mib);
  expect_map(*pin, ENOMEM,
             AllOf(HasSubstr("BAR1 of " + machine.rm.gpus()[0].pci()), HasSubstr("cannot map 16384 KiB"),
                   HasSubstr("6 of 262144 MiB free"), HasSubstr("largest piece 6 MiB"), HasSubstr("0x51")));
}

TEST_F(RmErrors, ReportsAFullBar1WithoutItsUsage) {
  RmMachine& machine = make();
  const auto address = machine.cuda.malloc(2 * mib);
  start();
  auto pin = pin_or_fail(*backend_, address, 2 * mib);
  machine.rm.state().table_is_full = true;
  machine.rm.set_fb_info_works(false);
  expect_map(*pin, ENOMEM, AllOf(HasSubstr("cannot map 2048 KiB"), HasSubstr("0x1a"), Not(HasSubstr("MiB free"))));
}

TEST_F(RmErrors, UnmapsThePiecesIfBar1BecomesFull) {
  RmMachine& machine = make();
  const auto address = machine.cuda.vmm({2 * mib, 2 * mib, 2 * mib}, false);
  start();
  auto pin = pin_or_fail(*backend_, address, 6 * mib);
  auto& heap = machine.rm.state().bar1(0);
  heap.occupy(4 * mib, heap.size() - 4 * mib);
  expect_map(*pin, ENOMEM, HasSubstr("is full"));
  EXPECT_EQ(heap.available(), 4 * mib);
}

TEST_F(RmErrors, RejectsProtectedMemory) {
  RmMachine& machine = make();
  const auto address = machine.cuda.malloc(2 * mib);
  machine.cuda.memory_at(address).lock()->is_unmappable = true;
  start();
  auto pin = pin_or_fail(*backend_, address, 2 * mib);
  expect_map(*pin, EOPNOTSUPP, AllOf(HasSubstr("confidential computing"), HasSubstr("0x56")));
}

TEST_F(RmErrors, ReportsThatEveryMappingRequiresADescriptor) {
  RmMachine& machine = make();
  const auto address = machine.cuda.malloc(2 * mib);
  start();
  auto pin = pin_or_fail(*backend_, address, 2 * mib);
  machine.rm.set_descriptor_limit(machine.rm.census().descriptors);
  expect_map(*pin, EMFILE, AllOf(HasSubstr("too many open files"), HasSubstr("unmap memory or raise ulimit -n")));
}

TEST_F(RmErrors, SupportsOnlyWriteCombining) {
  RmMachine& machine = make();
  const auto address = machine.cuda.malloc(2 * mib);
  start();
  auto pin = pin_or_fail(*backend_, address, 2 * mib);
  for (const MappingType type : {MappingType::cached, MappingType::device}) {
    const auto mapped = pin->map(pin->page_bytes(), type);
    ASSERT_FALSE(mapped);
    EXPECT_EQ(mapped.error().errno_value, EOPNOTSUPP);
  }
  EXPECT_FALSE(pin->map(0, MappingType::none));
  EXPECT_FALSE(pin->map(pin->page_bytes() + 1, MappingType::none));
}

constexpr std::uint32_t driver_reports_cached = 0;

// Grace with its GPU on NVLink-C2C: the driver maps the memory itself, not BAR1.
TEST_F(RmErrors, SupportsOnlyCachedWithACoherentLink) {
  auto gpus = RmMachine::make_gpus(1);
  gpus[0].is_coherent = true;
  fakes::FakeRm rm(fakes::driver_model("580.159.04"), gpus);
  rm.set_caching(driver_reports_cached);
  fakes::FakeCuda cuda(rm);
  const auto address = cuda.malloc(2 * mib);
  cuda.fill_pattern(address, 2 * mib);
  auto backend = open_rm_on(rm, cuda, {});
  ASSERT_TRUE(backend);
  auto pin = pin_or_fail(**backend, address, 2 * mib);
  for (const MappingType type : {MappingType::none, MappingType::cached}) {
    EXPECT_EQ(map_or_fail(*pin, type).type, MappingType::cached);
    ASSERT_TRUE(pin->unmap());
  }
  for (const MappingType type : {MappingType::write_combining, MappingType::device}) {
    const auto mapped = pin->map(pin->page_bytes(), type);
    ASSERT_FALSE(mapped);
    EXPECT_EQ(mapped.error().errno_value, EOPNOTSUPP);
    EXPECT_THAT(std::string(mapped.error().text()), HasSubstr("supports only type 'cached'"));
  }
}

TEST_F(RmErrors, TreatsACachedMappingOfADiscreteGpuAsDevice) {
  RmMachine& machine = make();
  const auto address = machine.cuda.malloc(2 * mib);
  machine.rm.set_caching(driver_reports_cached);
  start();
  auto pin = pin_or_fail(*backend_, address, 2 * mib);
  EXPECT_EQ(map_or_fail(*pin).type, MappingType::device);
}

TEST_F(RmErrors, DetectsAPlatformThatMapsBar1Uncached) {
  RmMachine& machine = make();
  const auto address = machine.cuda.malloc(2 * mib);
  constexpr std::uint32_t uncached = 1;
  machine.rm.set_caching(uncached);
  start();
  auto pin = pin_or_fail(*backend_, address, 2 * mib);
  EXPECT_EQ(map_or_fail(*pin).type, MappingType::device);
  ASSERT_TRUE(pin->unmap());
  const auto mapped = pin->map(pin->page_bytes(), MappingType::write_combining);
  ASSERT_FALSE(mapped);
  EXPECT_EQ(mapped.error().errno_value, EOPNOTSUPP);
  EXPECT_THAT(std::string(mapped.error().text()), HasSubstr("uncached"));
}

}  // namespace
}  // namespace gdrkit::backend::rm
