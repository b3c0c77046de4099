// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Opening: which machines are usable, and the errors for the others. Containers have some of the host's nodes, device
// rules, or a hidden /proc: usable GPUs work, and other errors name the remedy.
#include <gmock/gmock.h>

#include "lib/backend/rm/rm_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::rm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void expect_open_fails(RmMachine& machine, int errno_value, const ::testing::Matcher<std::string>& text) {
  EXPECT_TRUE(tests::failed(machine.open(), errno_value, text));
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
  RmMachine machine(RmMachine::Options{.is_initialised = false});
  auto backend = open_or_fail(machine);
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
  const auto backend = open_rm_on(machine.rm, &load_cuda, machine.settings);
  ASSERT_TRUE(backend) << backend.error().text();
  EXPECT_EQ(machine.rm.count_of(fakes::command::rm_alloc), 1u);
  EXPECT_EQ(machine.rm.census().rm_clients, 1u);
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
  RmMachine machine(fakes::driver_model("580.159.04"), 0, {.gpus = {}, .is_initialised = false});
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
  expect_works(machine);
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
  }
}

constexpr const char* version_file = "/proc/driver/nvidia/version";
constexpr const char* control_file = "/dev/nvidiactl";

/// A host with three GPUs, whose nodes have another order than CUDA. The container has some of them.
struct SharedHost : RmMachine {
  explicit SharedHost(std::vector<unsigned> visible)
      : RmMachine(fakes::driver_model("580.159.04"), 3, {.gpus = visible}) {
    for (unsigned gpu = 0; gpu < 3; ++gpu) {
      const bool is_visible = std::find(visible.begin(), visible.end(), gpu) != visible.end();
      if (!is_visible) rm.fail_path(rm.gpus()[gpu].node(), ENOENT);
    }
  }
};

TEST(RmContainer, EachGpuWorksAloneThroughItsNode) {
  for (unsigned gpu = 0; gpu < 3; ++gpu) {
    SCOPED_TRACE(gpu);
    SharedHost machine({gpu});
    expect_works(machine);
  }
}

TEST(RmContainer, TwoGpusInAnotherOrderWorkThroughTheirNodes) {
  SharedHost machine({2, 0});
  expect_works(machine);
}

TEST(RmContainer, ReportsTheNodeOfTheGpuThatHasTheMemory) {
  SharedHost machine({1, 2});
  machine.cuda.activate_primary(1);
  const std::uint64_t address = machine.cuda.malloc(2 * mib, 1);
  machine.rm.fail_path(machine.rm.gpus()[2].node(), EPERM);
  auto backend = open_or_fail(machine);
  EXPECT_TRUE(tests::failed(backend->pin({address, 4096}), EACCES,
                            AllOf(HasSubstr(machine.rm.gpus()[2].node()), HasSubstr("--gpus all"))));
}

TEST(RmContainer, ReportsTheRemedyForAMissingNode) {
  for (const std::string& node : {std::string(control_file), fakes::make_gpu(0).node()}) {
    RmMachine machine;
    machine.rm.fail_path(node, ENOENT);
    expect_open_fails(
        machine, ENODEV,
        AllOf(HasSubstr("580.159.04"), HasSubstr("cannot open " + node + ": the device file does not exist"),
              HasSubstr("--gpus all"), HasSubstr("--device nvidia.com/gpu=all for CDI"), HasSubstr("nvidia-modprobe")));
  }
}

TEST(RmContainer, DistinguishesDeviceRulesFromTheModeOfANode) {
  for (const std::string& node : {std::string(control_file), fakes::make_gpu(0).node()}) {
    RmMachine machine;
    machine.rm.fail_path(node, EPERM);
    expect_open_fails(machine, EACCES,
                      AllOf(HasSubstr("cannot open " + node), HasSubstr("device rules"), HasSubstr("--gpus all")));
    machine.rm.fail_path(node, EACCES);
    expect_open_fails(machine, EACCES, AllOf(HasSubstr("cannot open " + node), HasSubstr("ls -l " + node)));
  }
}

TEST(RmContainer, QueriesTheVersionFromTheDriverIfProcIsHidden) {
  for (const int error : {ENOENT, EACCES, EPERM}) {
    RmMachine machine;
    machine.rm.fail_path(version_file, error);
    expect_works(machine);
  }
}

TEST(RmContainer, ReportsAHiddenProcIfTheDriverCannotReturnItsVersion) {
  RmMachine machine(fakes::driver_model("525.60.11"));
  machine.rm.fail_path(version_file, ENOENT);
  expect_open_fails(
      machine, ENODEV,
      AllOf(HasSubstr(version_file), HasSubstr("CHECK_VERSION_STR"), HasSubstr("make /proc/driver visible")));
}

TEST(RmContainer, ReportsAForbiddenNodeIfProcIsHidden) {
  RmMachine machine;
  machine.rm.fail_path(version_file, ENOENT);
  machine.rm.fail_path(control_file, EPERM);
  expect_open_fails(machine, EACCES, AllOf(HasSubstr("cannot open /dev/nvidiactl"), HasSubstr("--gpus all")));
}

TEST(RmContainer, RejectsAnInvalidVersionFromTheDriver) {
  RmMachine machine;
  machine.rm.fail_path(version_file, ENOENT);
  for (const char* version : {"", "x", "580", "580.159.04.1.1", "999999.1"}) {
    machine.rm.set_module_version(version);
    const auto opened = machine.open();
    EXPECT_FALSE(opened) << version;
    EXPECT_TRUE(is_clean(machine));
  }
}

}  // namespace
}  // namespace gdrkit::backend::rm
