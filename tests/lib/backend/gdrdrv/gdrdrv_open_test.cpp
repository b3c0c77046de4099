// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Opening: which modules are usable, and the errors for the others.
#include <gmock/gmock.h>

#include <utility>

#include "lib/backend/gdrdrv/gdrdrv_machine.hpp"
#include "support/results.hpp"

namespace gdrkit::backend::gdrdrv {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

void expect_open_fails(GdrdrvMachine& machine, int errno_value, const ::testing::Matcher<std::string>& text) {
  EXPECT_TRUE(tests::failed(machine.open(), errno_value, text));
  EXPECT_TRUE(is_clean(machine));
}

TEST(GdrdrvBackend, SupportsEveryVersionSince2) {
  for (const std::uint32_t version : all_versions) {
    GdrdrvMachine machine(model_of(version));
    const auto backend = open_or_fail(machine);
    EXPECT_STREQ(backend->traits().name, "gdrdrv");
    EXPECT_EQ(backend->traits().page_size_bytes, 65536u);
    EXPECT_FALSE(backend->traits().uses_dmabuf_mmap);
    EXPECT_EQ(backend->traits().module_version, version);
    const bool has_attributes = version >= 0x0002'0005;
    EXPECT_EQ(backend->traits().is_persistent, has_attributes);
    EXPECT_EQ(backend->traits().supports_force_pcie, has_attributes);
  }
}

TEST(GdrdrvBackend, DistinguishesPersistentModulesFromOthers) {
  for (const bool is_persistent : {true, false}) {
    GdrdrvMachine machine({.is_persistent = is_persistent});
    const auto backend = open_or_fail(machine);
    EXPECT_EQ(backend->traits().is_persistent, is_persistent);
    EXPECT_EQ(backend->traits().supports_force_pcie, is_persistent);
  }
}

TEST(GdrdrvBackend, ReportsAMissingModule) {
  GdrdrvMachine machine;
  machine.module.open_error = ENOENT;
  expect_open_fails(machine, ENODEV,
                    AllOf(HasSubstr("cannot open /dev/gdrdrv: the device file does not exist"),
                          HasSubstr("the optional gdrdrv kernel module")));
}

TEST(GdrdrvBackend, ReportsANodeWithoutModule) {
  for (const int error : {ENXIO, ENODEV}) {
    GdrdrvMachine machine;
    machine.module.open_error = error;
    expect_open_fails(machine, ENODEV, AllOf(HasSubstr("cannot open /dev/gdrdrv"), HasSubstr("recreate")));
  }
}

TEST(GdrdrvBackend, ReportsAStaleNodeAndTheNumbersOfTheModule) {
  GdrdrvMachine machine;
  machine.module.open_error = ENXIO;
  machine.module.node = {236, 0};
  machine.module.files["/proc/devices"] = "Character devices:\n  1 mem\n240 gdrdrv\n\nBlock devices:\n";
  expect_open_fails(
      machine, ENODEV,
      AllOf(HasSubstr("cannot open /dev/gdrdrv: the device file has the number"), HasSubstr("236:0"),
            HasSubstr("240:0"),
            HasSubstr("mknod -m 666 /dev/gdrdrv c 240 0 (in a container: restart the container instead)")));
  machine.module.files["/proc/devices"] = "Character devices:\n  1 mem\n";
  expect_open_fails(machine, ENODEV,
                    AllOf(HasSubstr("cannot open /dev/gdrdrv: the device file has the number"), HasSubstr("236:0"),
                          HasSubstr("is loaded")));
}

TEST(GdrdrvBackend, DoesNotReportNodesOfTheModuleAsStale) {
  GdrdrvMachine machine;
  machine.module.open_error = ENXIO;
  machine.module.files["/proc/devices"] = "240 gdrdrv\n";
  machine.module.files["/proc/misc"] = "122 gdrdrv\n";
  for (const auto& numbers : {std::pair{240u, 0u}, std::pair{10u, 122u}}) {
    machine.module.node = numbers;
    expect_open_fails(machine, ENODEV, Not(HasSubstr("has the number")));
  }
  machine.module.node = {10, 121};
  expect_open_fails(machine, ENODEV, HasSubstr("has the number"));
}

TEST(GdrdrvBackend, ReportsThatTheNodeIsForbidden) {
  for (const auto& [error, remedy] : {std::pair{EACCES, "read and write permission"},
                                      std::pair{EPERM, "--device /dev/gdrdrv; a volume is not sufficient"}}) {
    GdrdrvMachine machine;
    machine.module.open_error = error;
    expect_open_fails(machine, EACCES, AllOf(HasSubstr("cannot open /dev/gdrdrv"), HasSubstr(remedy)));
  }
}

TEST(GdrdrvBackend, PassesOtherErrorsOfTheNodeOn) {
  GdrdrvMachine machine;
  machine.module.open_error = EMFILE;
  expect_open_fails(machine, EMFILE, HasSubstr("/dev/gdrdrv"));
}

TEST(GdrdrvBackend, RejectsModulesThatAreTooOld) {
  for (const std::uint32_t version : {0u, 0x0001'0003u, 0x0001'ffffu}) {
    GdrdrvMachine machine;
    // Before 2.0, the ioctl numbers were different. Only the reply matters here.
    machine.module.bend = [version](unsigned number, void* argument) {
      if (number == 255) *static_cast<std::uint32_t*>(argument) = version;
    };
    expect_open_fails(machine, EOPNOTSUPP,
                      AllOf(HasSubstr("cannot use gdrdrv"), HasSubstr("oldest supported version is 2.0")));
  }
}

TEST(GdrdrvBackend, RejectsModulesThatRequireANewerLibrary) {
  for (const std::uint32_t api : {0x0002'0007u, 0x0003'0000u, 0xffff'ffffu}) {
    GdrdrvMachine machine({.version = 0x0003'0001, .minimum_api = api});
    expect_open_fails(machine, EOPNOTSUPP, AllOf(HasSubstr("gdrdrv 3.1"), HasSubstr("requires API")));
  }
}

TEST(GdrdrvBackend, AcceptsNewerModulesThatSupportThisLibrary) {
  GdrdrvMachine machine({.version = 0x0003'0001, .minimum_api = 0x0002'0006});
  EXPECT_NE(open_or_fail(machine), nullptr);
}

// Another driver behind the node returns ENOTTY for unknown requests.
TEST(GdrdrvBackend, RejectsNodesOfOtherDrivers) {
  for (const int error : {ENOTTY, EINVAL}) {
    class OtherDriver : public fakes::FakeGdrdrv {
     public:
      explicit OtherDriver(int error) : error_(error) {}
      int ioctl(int, unsigned long, void*) noexcept override { return -error_; }

     private:
      int error_;
    };
    OtherDriver other(error);
    EXPECT_TRUE(tests::failed(open_gdrdrv_on(other, nullptr), EOPNOTSUPP, HasSubstr("does not belong to gdrdrv")));
    EXPECT_EQ(other.census(), fakes::GdrdrvCensus());
    other.node = {236, 0};
    other.files["/proc/devices"] = "236 other\n240 gdrdrv\n";
    EXPECT_THAT(
        tests::text_of(open_gdrdrv_on(other, nullptr)),
        AllOf(HasSubstr("cannot read the version of /dev/gdrdrv: the device file has the number"), HasSubstr("236:0")));
  }
}

// The registered backend opens the real node, and reports an error without it.
TEST(GdrdrvBackend, IsFirstInProbeOrderAndAutomatic) {
  const Registration& first = *registrations().begin();
  EXPECT_STREQ(first.name, "gdrdrv");
  EXPECT_TRUE(first.automatic);
  const auto opened = first.open({});
  if (opened) GTEST_SKIP() << "this machine has a gdrdrv";
  EXPECT_GT(opened.error().errno_value, 0);
  EXPECT_THAT(std::string(opened.error().text()), HasSubstr("gdrdrv"));
}

}  // namespace
}  // namespace gdrkit::backend::gdrdrv
