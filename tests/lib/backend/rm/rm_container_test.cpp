// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Containers: some of the host's nodes, device rules, a hidden /proc. Usable GPUs work, and other errors name the
// remedy.
#include <gmock/gmock.h>

#include <string>

#include "lib/backend/rm/rm_machine.hpp"

namespace gdrkit::backend::rm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* version_file = "/proc/driver/nvidia/version";
constexpr const char* control_file = "/dev/nvidiactl";

void expect_closed(RmMachine& machine, int errno_value, const ::testing::Matcher<std::string>& text) {
  const auto opened = machine.open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().errno_value, errno_value);
  EXPECT_THAT(std::string(opened.error().text()), text);
  EXPECT_TRUE(is_clean(machine));
}

void expect_mapping_works(RmMachine& machine) {
  const std::uint64_t address = machine.cuda.malloc(4 * mib);
  machine.cuda.fill_pattern(address, 4 * mib);
  {
    auto backend = open_or_fail(machine);
    ASSERT_NE(backend, nullptr);
    auto pin = pin_or_fail(*backend, address, 4 * mib);
    ASSERT_NE(pin, nullptr);
    EXPECT_EQ(map_or_fail(*pin).verification, Verification::content);
  }
  EXPECT_TRUE(is_clean(machine));
}

/// A host with three GPUs, whose nodes have another order than CUDA. The container has some of them.
struct SharedHost : RmMachine {
  explicit SharedHost(std::vector<unsigned> visible)
      : RmMachine(fakes::driver_model("580.159.04"), 3, options_of(visible)) {
    for (unsigned gpu = 0; gpu < 3; ++gpu) {
      const bool is_visible = std::find(visible.begin(), visible.end(), gpu) != visible.end();
      if (!is_visible) rm.fail_path(rm.gpus()[gpu].node(), ENOENT);
    }
  }
  static fakes::FakeCuda::Options options_of(const std::vector<unsigned>& visible) {
    fakes::FakeCuda::Options options;
    options.gpus = visible;
    return options;
  }
};

TEST(RmContainer, EachGpuWorksAloneThroughItsNode) {
  for (unsigned gpu = 0; gpu < 3; ++gpu) {
    SCOPED_TRACE(gpu);
    SharedHost machine({gpu});
    expect_mapping_works(machine);
  }
}

TEST(RmContainer, TwoGpusInAnotherOrderWorkThroughTheirNodes) {
  SharedHost machine({2, 0});
  expect_mapping_works(machine);
}

TEST(RmContainer, ReportsTheNodeOfTheGpuThatHasTheMemory) {
  SharedHost machine({1, 2});
  machine.cuda.activate_primary(1);
  const std::uint64_t address = machine.cuda.malloc(2 * mib, 1);
  machine.rm.fail_path(machine.rm.gpus()[2].node(), EPERM);
  {
    auto backend = open_or_fail(machine);
    const auto pinned = backend->pin({address, 4096, false, true});
    ASSERT_FALSE(pinned);
    EXPECT_EQ(pinned.error().errno_value, EACCES);
    EXPECT_THAT(std::string(pinned.error().text()),
                AllOf(HasSubstr(machine.rm.gpus()[2].node()), HasSubstr("--gpus all")));
  }
  EXPECT_TRUE(is_clean(machine));
}

TEST(RmContainer, OpensWhenOneOfSeveralGpusIsUsable) {
  SharedHost machine({1});
  EXPECT_NE(open_or_fail(machine), nullptr);
}

TEST(RmContainer, ReportsTheRemedyForAMissingNode) {
  for (const std::string& node : {std::string(control_file), fakes::make_gpu(0).node()}) {
    RmMachine machine;
    machine.rm.fail_path(node, ENOENT);
    expect_closed(
        machine, ENODEV,
        AllOf(HasSubstr("580.159.04"), HasSubstr("cannot open " + node + ": the device file does not exist"),
              HasSubstr("--gpus all"), HasSubstr("--device nvidia.com/gpu=all for CDI"), HasSubstr("nvidia-modprobe")));
  }
}

TEST(RmContainer, DistinguishesDeviceRulesFromTheModeOfANode) {
  for (const std::string& node : {std::string(control_file), fakes::make_gpu(0).node()}) {
    RmMachine machine;
    machine.rm.fail_path(node, EPERM);
    expect_closed(machine, EACCES,
                  AllOf(HasSubstr("cannot open " + node), HasSubstr("device rules"), HasSubstr("--gpus all")));
    machine.rm.fail_path(node, EACCES);
    expect_closed(machine, EACCES, AllOf(HasSubstr("cannot open " + node), HasSubstr("ls -l " + node)));
  }
}

TEST(RmContainer, QueriesTheVersionFromTheDriverIfProcIsHidden) {
  for (const int error : {ENOENT, EACCES, EPERM}) {
    RmMachine machine;
    machine.rm.fail_path(version_file, error);
    expect_mapping_works(machine);
  }
}

TEST(RmContainer, ReportsAHiddenProcIfTheDriverCannotReturnItsVersion) {
  RmMachine machine(fakes::driver_model("525.60.11"));
  machine.rm.fail_path(version_file, ENOENT);
  expect_closed(machine, ENODEV,
                AllOf(HasSubstr(version_file), HasSubstr("CHECK_VERSION_STR"), HasSubstr("make /proc/driver visible")));
}

TEST(RmContainer, ReportsAForbiddenNodeIfProcIsHidden) {
  RmMachine machine;
  machine.rm.fail_path(version_file, ENOENT);
  machine.rm.fail_path(control_file, EPERM);
  expect_closed(machine, EACCES, AllOf(HasSubstr("cannot open /dev/nvidiactl"), HasSubstr("--gpus all")));
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
