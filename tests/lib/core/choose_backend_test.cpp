// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "core/open.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>

#include "core/core.hpp"
#include "lib/core/context_fixture.hpp"
#include "support/results.hpp"

namespace gdrkit::core {
namespace {

using backend::Backend;
using backend::Registration;
using testing::HasSubstr;
using testing::Not;

int opened_count = 0;

base::Result<std::unique_ptr<Backend>> no_driver(const base::Settings&) noexcept {
  return base::fail(ENOENT, "/proc/driver/nvidia is missing");
}
base::Result<std::unique_ptr<Backend>> no_permission(const base::Settings&) noexcept {
  return base::fail(EACCES, "/dev/device0: permission denied");
}
base::Result<std::unique_ptr<Backend>> works(const base::Settings&) noexcept {
  static tests::Script script;
  ++opened_count;
  return std::unique_ptr<Backend>(new tests::ScriptedBackend(script));
}

constexpr std::array broken = {Registration{"first", "", true, no_driver},
                               Registration{"second", "", true, no_permission},
                               Registration{"pretended", "", false, works}};
constexpr std::array working = {Registration{"first", "", true, no_driver},
                                Registration{"pretended", "", false, no_driver},
                                Registration{"second", "", true, works}, Registration{"third", "", true, works}};

base::Result<std::unique_ptr<Backend>> untried(const base::Settings&) noexcept {
  static tests::Script script;
  script.traits.name = "untried";
  script.traits.is_untried = true;
  return std::unique_ptr<Backend>(new tests::ScriptedBackend(script));
}

constexpr std::array untried_first = {Registration{"first", "", true, untried},
                                      Registration{"second", "", true, works}};
constexpr std::array untried_alone = {Registration{"first", "", true, no_driver},
                                      Registration{"second", "", true, untried},
                                      Registration{"pretended", "", false, works}};

base::Result<std::unique_ptr<Backend>> choose(std::span<const Registration> list, const char* forced) {
  base::Settings settings;
  settings.backend = forced;
  opened_count = 0;
  return choose_backend(list, settings);
}

TEST(ChooseBackend, SelectsTheFirstUsableAutomaticBackend) {
  const auto chosen = tests::value_or_throw(choose(working, ""));
  EXPECT_STREQ(chosen->traits().name, "scripted");
  EXPECT_EQ(opened_count, 1);
}

TEST(ChooseBackend, SelectsAnUntriedBackendOnlyIfNoOtherIsUsable) {
  const auto sure = tests::value_or_throw(choose(untried_first, ""));
  EXPECT_STREQ(sure->traits().name, "scripted");
  const auto last = tests::value_or_throw(choose(untried_alone, ""));
  EXPECT_STREQ(last->traits().name, "untried");
  const auto forced = tests::value_or_throw(choose(untried_first, "first"));
  EXPECT_STREQ(forced->traits().name, "untried");
}

TEST(ChooseBackend, ListsTheReasonOfEveryBackendIfNoneIsUsable) {
  EXPECT_TRUE(
      tests::failed(choose(broken, ""), ENODEV,
                    "cannot open a context: no backend is usable: [first] /proc/driver/nvidia is missing; [second] "
                    "/dev/device0: permission denied; [pretended] used only on request (GDRKIT_BACKEND=pretended)"));
  EXPECT_EQ(opened_count, 0);
}

TEST(ChooseBackend, TriesOnlyTheForcedBackend) {
  EXPECT_TRUE(tests::succeeded(choose(broken, "pretended")));
  EXPECT_TRUE(tests::failed(choose(working, "first"), ENOENT, "/proc/driver/nvidia is missing"));
  EXPECT_EQ(opened_count, 0);
}

TEST(ChooseBackend, RejectsAnUnknownNameAndListsTheValidOnes) {
  for (const char* name : {"fist", "First", "first ", "firs"}) {
    const auto failed = choose(working, name);
    ASSERT_TRUE(tests::failed(failed, EINVAL, HasSubstr(name)));
    EXPECT_THAT(failed.error().text(), HasSubstr("first, pretended, second, third"));
  }
}

TEST(ChooseBackend, NeverSelectsTheEmulatedDeviceAutomatically) {
  base::Settings settings;
  const base::Result<Handle> opened = open(settings);
  if (opened) {
    const auto info = tests::value_or_throw(context_info(*opened));
    EXPECT_STRNE(info.traits.name, "emulated");
    EXPECT_TRUE(close(*opened));
    return;
  }
  EXPECT_EQ(opened.error().errno_value, ENODEV);
  EXPECT_THAT(opened.error().text(), HasSubstr("[emulated] used only on request (GDRKIT_BACKEND=emulated)"));
  EXPECT_THAT(opened.error().text(), HasSubstr("[rm] "));
}

TEST(CopyKernelList, EndsWithEnoent) {
  const auto count = static_cast<unsigned>(copy::kernels().size());
  EXPECT_TRUE(tests::succeeded(copy_kernel(count - 1)));
  EXPECT_TRUE(tests::failed(copy_kernel(count), ENOENT));
}

}  // namespace
}  // namespace gdrkit::core
