// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Opening: which machines are usable, and the errors for the others.
#include <gmock/gmock.h>

#include "lib/backend/rm/rm_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::rm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void expect_open_fails(RmMachine& machine, int errno_value, const ::testing::Matcher<std::string>& text) {
  const auto opened = machine.open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().errno_value, errno_value);
  EXPECT_THAT(std::string(opened.error().text()), text);
  EXPECT_TRUE(is_clean(machine));
}

TEST(RmBackend, ReportsItsTraits) {
  RmMachine machine;
  auto backend = open_or_fail(machine);
  EXPECT_STREQ(backend->traits().name, "rm");
  EXPECT_TRUE(backend->traits().is_persistent);
  EXPECT_FALSE(backend->traits().supports_force_pcie);
  EXPECT_FALSE(backend->traits().uses_dmabuf_mmap);
  EXPECT_EQ(backend->traits().page_size_bytes, 65536u);
}

TEST(RmBackend, OpensWithoutUsingCudaOrTheNodeOfAGpu) {
  fakes::FakeCuda::Options nothing;
  nothing.is_initialised = false;
  RmMachine machine(fakes::driver_model("580.159.04"), 1, nothing);
  auto backend = open_or_fail(machine);
  ASSERT_NE(backend, nullptr);
  EXPECT_EQ(machine.cuda.contexts_created(), 0u);
  EXPECT_EQ(machine.rm.census().descriptors, 1u) << "only the control file";
}

fakes::FakeCuda* cuda_to_load = nullptr;
int cuda_loads = 0;

base::Result<const driver::CudaCalls*> load_cuda() noexcept {
  ++cuda_loads;
  if (cuda_to_load == nullptr) return base::fail(ENOENT, "libcuda is missing");
  return &cuda_to_load->calls();
}

TEST(RmBackend, CreatesOneRmClient) {
  RmMachine machine;
  cuda_to_load = &machine.cuda;
  {
    const auto backend = open_rm_on(machine.rm, &load_cuda, machine.settings);
    ASSERT_TRUE(backend) << backend.error().text();
    EXPECT_EQ(machine.rm.count_of(fakes::command::rm_alloc), 1u);
    EXPECT_EQ(machine.rm.census().rm_clients, 1u);
  }
  EXPECT_TRUE(is_clean(machine));
}

TEST(RmBackend, LoadsCudaOnlyIfTheDriverIsUsable) {
  RmMachine machine;
  cuda_to_load = nullptr;
  cuda_loads = 0;
  const auto without_cuda = open_rm_on(machine.rm, &load_cuda, machine.settings);
  EXPECT_EQ(tests::text_of(without_cuda), "libcuda is missing");
  EXPECT_EQ(cuda_loads, 1);
  machine.rm.fail_path("/proc/driver/nvidia/version", ENOENT);
  machine.rm.fail_path("/dev/nvidiactl", ENOENT);
  const auto without_driver = open_rm_on(machine.rm, &load_cuda, machine.settings);
  EXPECT_THAT(tests::text_of(without_driver), HasSubstr("no NVIDIA driver is loaded"));
  EXPECT_EQ(cuda_loads, 1);
  EXPECT_TRUE(is_clean(machine));
}

TEST(RmBackend, ReportsAMissingDriver) {
  RmMachine machine;
  machine.rm.fail_path("/proc/driver/nvidia/version", ENOENT);
  machine.rm.fail_path("/dev/nvidiactl", ENOENT);
  expect_open_fails(machine, ENODEV,
                    AllOf(HasSubstr("no NVIDIA driver is loaded"), HasSubstr("/proc/driver/nvidia/version"),
                          HasSubstr("/dev/nvidiactl")));
}

TEST(RmBackend, ReportsADriverWithoutGpu) {
  fakes::FakeCuda::Options none;
  none.gpus = {};
  none.is_initialised = false;
  RmMachine machine(fakes::driver_model("580.159.04"), 0, none);
  expect_open_fails(machine, ENODEV, AllOf(HasSubstr("580.159.04"), HasSubstr("no GPU")));
}

TEST(RmBackend, ReportsThatDescriptorsAreExhausted) {
  RmMachine machine;
  machine.rm.set_descriptor_limit(0);
  expect_open_fails(machine, EMFILE, AllOf(HasSubstr("too many open files"), HasSubstr("/dev/nvidiactl")));
}

TEST(RmBackend, RejectsADriverThatIsOlderThanItsTables) {
  RmMachine machine(fakes::driver_model("510.47.03"));
  expect_open_fails(machine, ENOTSUP, AllOf(HasSubstr("510.47.03"), HasSubstr("515")));
}

TEST(RmBackend, RejectsADriverThatIsNewerThanItsReviewUnlessAllowed) {
  RmMachine machine(fakes::driver_model("999.10"));
  expect_open_fails(machine, ENOTSUP, AllOf(HasSubstr("999.10"), HasSubstr("GDRKIT_ALLOW_UNREVIEWED_DRIVER")));
  machine.settings.allow_unreviewed_driver = true;
  const std::uint64_t address = machine.cuda.malloc(4 * mib);
  machine.cuda.fill_pattern(address, 4 * mib);
  {
    auto backend = open_or_fail(machine);
    auto pin = pin_or_fail(*backend, address, 4 * mib);
    EXPECT_EQ(map_or_fail(*pin).verification, Verification::content);
  }
  EXPECT_TRUE(is_clean(machine));
}

TEST(RmBackend, RejectsADriverWithUnknownStructuresBeforeMapping) {
  RmMachine machine(fakes::alien_driver_model());
  expect_open_fails(machine, EINVAL, AllOf(HasSubstr("update gdrkit"), HasSubstr("580.200.01")));
  machine.settings.allow_unreviewed_driver = true;
  expect_open_fails(machine, EINVAL, HasSubstr("update gdrkit"));
  EXPECT_EQ(machine.rm.count_of(fakes::command::rm_map), 0u);
}

TEST(RmBackend, RejectsADriverThatWasReplacedOnARunningSystem) {
  RmMachine machine;
  machine.rm.set_module_version("575.57.08");
  expect_open_fails(machine, EIO, AllOf(HasSubstr("575.57.08"), HasSubstr("580.159.04")));
}

TEST(RmBackend, RejectsAnInvalidVersionFile) {
  for (const char* text :
       {"", "NVRM version: something else\n", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580  \n"}) {
    RmMachine machine;
    machine.rm.set_version_text(text);
    const auto opened = machine.open();
    EXPECT_FALSE(opened) << text;
    EXPECT_STRNE(opened.error().text(), "");
    EXPECT_TRUE(is_clean(machine));
  }
}

}  // namespace
}  // namespace gdrkit::backend::rm
