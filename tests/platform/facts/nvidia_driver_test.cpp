// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/nvidia_driver.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace gdrkit::platform {
namespace {

TEST(NvidiaDriver, VersionAndFlavourAreReadFromTheTree) {
  const auto driver = read_nvidia_driver(GDRKIT_TREE "/proc");
  ASSERT_TRUE(driver.has_value()) << driver.error().text();
  EXPECT_EQ(driver->version, "580.159.04");
  EXPECT_TRUE(driver->is_open_flavour);
}

TEST(NvidiaDriver, DetectsTheProprietaryFlavour) {
  const auto driver =
      parse_nvidia_driver("NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.256.02  Thu May  2 14:37:44 UTC 2024\n");
  ASSERT_TRUE(driver.has_value());
  EXPECT_EQ(driver->version, "470.256.02");
  EXPECT_FALSE(driver->is_open_flavour);
}

TEST(NvidiaDriver, OnlyTheFirstLineCounts) {
  const auto driver = parse_nvidia_driver("NVRM version: unknown\nGCC version:  gcc version 12.3.0\n");
  ASSERT_FALSE(driver.has_value());
  EXPECT_EQ(driver.error().errno_value, EINVAL);
}

TEST(NvidiaDriver, IgnoresWordsThatResembleVersions) {
  for (const char* text : {"", "580", "580.", ".580", "580..1", "1.2.3.4", "580.x", "12:34.5a"}) {
    EXPECT_FALSE(parse_nvidia_driver(text).has_value()) << text;
  }
}

TEST(NvidiaDriver, NoKernelModuleIsReportedByErrno) {
  const auto driver = read_nvidia_driver(GDRKIT_TREE "/nowhere");
  ASSERT_FALSE(driver.has_value());
  EXPECT_EQ(driver.error().errno_value, ENOENT);
}

}  // namespace
}  // namespace gdrkit::platform
