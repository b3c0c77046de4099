// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "driver/driver_version.hpp"
#include "support/results.hpp"

#include <gtest/gtest.h>

namespace gdrkit::driver {
namespace {

TEST(DriverVersion, ReadsTwoOrThreeNumbers) {
  const auto three = tests::value_or_throw(parse_driver_version("580.159.04"));
  EXPECT_EQ(three, (DriverVersion{580, 159, 4}));
  const auto two = tests::value_or_throw(parse_driver_version("515.43"));
  EXPECT_EQ(two, (DriverVersion{515, 43, 0}));
}

TEST(DriverVersion, ComparesAsNumbers) {
  EXPECT_LT((DriverVersion{535, 43, 2}), (DriverVersion{535, 104, 0}));
  EXPECT_LT((DriverVersion{595, 45, 4}), (DriverVersion{1000, 0, 0}));
}

TEST(DriverVersion, RejectsInvalidVersions) {
  for (const char* text : {"", "580", "580.", ".580", "580..4", "580.1.2.3", "580.159.04-beta", "580.123456", " 580.1",
                           "580.1 ", "-1.2", "0x244.1"}) {
    EXPECT_FALSE(parse_driver_version(text)) << '"' << text << '"';
  }
}

TEST(DriverVersion, IsFoundAfterTheNameOfTheModule) {
  for (const char* text : {"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  "
                           "(dvs-builder@x)  Mon Oct  6\nGCC version: gcc version 13.3.0\n",
                           "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Sun Sep  3 01:16:00 UTC "
                           "2025\nGCC version:  gcc version 12\n",
                           "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.159.04  Release Build\n"}) {
    const auto found = find_version_text(text);
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(*found, "580.159.04");
  }
  for (const char* text : {"", "580", "580.", ".580", "580..1", "1.2.3.4", "580.x", "12:34.5a"}) {
    EXPECT_FALSE(find_version_text(text)) << text;
  }
  EXPECT_TRUE(tests::failed(find_version_text("NVRM version: unknown\nGCC version:  gcc version 123.3.0\n"), EINVAL))
      << "only the first line counts";
  EXPECT_FALSE(find_version_text("GCC version: gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04.1)\n"));
}

}  // namespace
}  // namespace gdrkit::driver
