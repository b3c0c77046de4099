// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Opening: which modules can be used, and what is said about the others.
#include <gmock/gmock.h>

#include <utility>

#include "lib/backend/gdrdrv/gdrdrv_machine.hpp"

namespace gdrkit::backend::gdrdrv {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

void expect_refusal(GdrdrvMachine& machine, int errno_value, const ::testing::Matcher<std::string>& sentence) {
  const auto opened = machine.open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().errno_value, errno_value);
  EXPECT_THAT(std::string(opened.error().text()), sentence);
  EXPECT_TRUE(is_clean(machine));
}

TEST(GdrdrvBackend, SaysWhatItIs) {
  GdrdrvMachine machine;
  {
    const auto backend = open_or_fail(machine);
    EXPECT_STREQ(backend->traits().name, "gdrdrv");
    EXPECT_EQ(backend->traits().page_size_bytes, 65536u);
    EXPECT_FALSE(backend->traits().uses_dmabuf_mmap);
    EXPECT_EQ(backend->traits().module_version, 0x0002'0006u);
  }
  EXPECT_TRUE(is_clean(machine));
}

TEST(GdrdrvBackend, ServesEveryVersionFromTwoOn) {
  for (const std::uint32_t version : all_versions) {
    GdrdrvMachine machine(model_of(version));
    const auto backend = open_or_fail(machine);
    ASSERT_NE(backend, nullptr) << version;
    EXPECT_EQ(backend->traits().module_version, version);
    const bool has_attributes = version >= 0x0002'0005;
    EXPECT_EQ(backend->traits().is_persistent, has_attributes);
    EXPECT_EQ(backend->traits().supports_force_pcie, has_attributes);
  }
}

TEST(GdrdrvBackend, TellsPersistentModulesFromOthers) {
  for (const bool is_persistent : {true, false}) {
    fakes::GdrdrvModel model;
    model.is_persistent = is_persistent;
    GdrdrvMachine machine(model);
    const auto backend = open_or_fail(machine);
    EXPECT_EQ(backend->traits().is_persistent, is_persistent);
    EXPECT_EQ(backend->traits().supports_force_pcie, is_persistent);
  }
}

TEST(GdrdrvBackend, SaysThatThereIsNoModule) {
  GdrdrvMachine machine;
  machine.module.open_error = ENOENT;
  expect_refusal(machine, ENODEV, AllOf(HasSubstr("no gdrdrv kernel module"), HasSubstr("/dev/gdrdrv does not exist")));
}

TEST(GdrdrvBackend, SaysThatNothingIsBehindTheNode) {
  for (const int error : {ENXIO, ENODEV}) {
    GdrdrvMachine machine;
    machine.module.open_error = error;
    expect_refusal(machine, ENODEV, AllOf(HasSubstr("cannot open /dev/gdrdrv"), HasSubstr("not loaded")));
  }
}

TEST(GdrdrvBackend, NamesAStaleNodeAndTheNumbersThatTheModuleHas) {
  GdrdrvMachine machine;
  machine.module.open_error = ENXIO;
  machine.module.node = {236, 0};
  machine.module.files["/proc/devices"] = "Character devices:\n  1 mem\n240 gdrdrv\n\nBlock devices:\n";
  expect_refusal(machine, ENODEV,
                 AllOf(HasSubstr("/dev/gdrdrv is stale"), HasSubstr("236:0"), HasSubstr("240:0"),
                       HasSubstr("mknod -m 666 /dev/gdrdrv c 240 0 (in a container: start it again)")));
  machine.module.files["/proc/devices"] = "Character devices:\n  1 mem\n";
  expect_refusal(machine, ENODEV, AllOf(HasSubstr("/dev/gdrdrv is stale"), HasSubstr("236:0"), HasSubstr("is loaded")));
}

TEST(GdrdrvBackend, DoesNotCallTheModulesOwnNodesStale) {
  GdrdrvMachine machine;
  machine.module.open_error = ENXIO;
  machine.module.files["/proc/devices"] = "240 gdrdrv\n";
  machine.module.files["/proc/misc"] = "122 gdrdrv\n";
  for (const auto& numbers : {std::pair{240u, 0u}, std::pair{10u, 122u}}) {
    machine.module.node = numbers;
    expect_refusal(machine, ENODEV, Not(HasSubstr("stale")));
  }
  machine.module.node = {10, 121};
  expect_refusal(machine, ENODEV, HasSubstr("stale"));
}

TEST(GdrdrvBackend, SaysThatTheNodeMayNotBeUsed) {
  for (const auto& [error, remedy] : {std::pair{EACCES, "mode"}, std::pair{EPERM, "--device /dev/gdrdrv, a volume"}}) {
    GdrdrvMachine machine;
    machine.module.open_error = error;
    expect_refusal(machine, EACCES, AllOf(HasSubstr("no permission to use /dev/gdrdrv"), HasSubstr(remedy)));
  }
}

TEST(GdrdrvBackend, KeepsOtherErrorsOfTheNode) {
  GdrdrvMachine machine;
  machine.module.open_error = EMFILE;
  expect_refusal(machine, EMFILE, HasSubstr("/dev/gdrdrv"));
}

TEST(GdrdrvBackend, RefusesModulesThatAreTooOld) {
  for (const std::uint32_t version : {0u, 0x0001'0003u, 0x0001'ffffu}) {
    fakes::GdrdrvModel model;
    GdrdrvMachine machine(model);
    // Before 2.0 the numbers were others; what matters is the answer.
    machine.module.bend = [version](unsigned number, void* argument) {
      if (number == 255) *static_cast<std::uint32_t*>(argument) = version;
    };
    expect_refusal(machine, EOPNOTSUPP, AllOf(HasSubstr("is version"), HasSubstr("2.0 or newer is needed")));
  }
}

TEST(GdrdrvBackend, RefusesModulesThatWantANewerLibrary) {
  for (const std::uint32_t api : {0x0002'0007u, 0x0003'0000u, 0xffff'ffffu}) {
    fakes::GdrdrvModel model;
    model.version = 0x0003'0001;
    model.minimum_api = api;
    GdrdrvMachine machine(model);
    expect_refusal(machine, EOPNOTSUPP, AllOf(HasSubstr("version 3.1"), HasSubstr("needs a library of API")));
  }
}

TEST(GdrdrvBackend, ServesNewerModulesThatStillServeThisLibrary) {
  fakes::GdrdrvModel model;
  model.version = 0x0003'0001;
  model.minimum_api = 0x0002'0006;
  GdrdrvMachine machine(model);
  EXPECT_NE(open_or_fail(machine), nullptr);
}

// Some other driver behind the name answers ENOTTY to what it does not know.
TEST(GdrdrvBackend, RefusesNodesThatAreNoGdrdrv) {
  for (const int error : {ENOTTY, EINVAL}) {
    class Stranger : public fakes::FakeGdrdrv {
     public:
      explicit Stranger(int error) : error_(error) {}
      int ioctl(int, unsigned long, void*) noexcept override { return -error_; }

     private:
      int error_;
    };
    Stranger stranger(error);
    const auto opened = open_gdrdrv_on(stranger, nullptr);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().errno_value, EOPNOTSUPP);
    EXPECT_THAT(std::string(opened.error().text()), HasSubstr("is not a gdrdrv"));
    EXPECT_EQ(stranger.census(), fakes::GdrdrvCensus());
    stranger.node = {236, 0};
    stranger.files["/proc/devices"] = "236 other\n240 gdrdrv\n";
    const auto stale = open_gdrdrv_on(stranger, nullptr);
    ASSERT_FALSE(stale);
    EXPECT_THAT(std::string(stale.error().text()), AllOf(HasSubstr("another driver"), HasSubstr("236:0")));
  }
}

// The registered name opens the real node; where there is none it says so, and touches nothing else.
TEST(GdrdrvBackend, IsTheFirstInProbeOrderAndChosenAutomatically) {
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
