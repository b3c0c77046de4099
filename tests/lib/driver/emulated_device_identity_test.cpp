// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "driver/emulated_device_identity.hpp"

#include <gtest/gtest.h>

namespace gdrkit::driver {
namespace {

TEST(EmulatedDeviceCount, IsTheValueOfTheSetting) {
  EXPECT_EQ(emulated_device_count("").value_or(0), 1);
  EXPECT_EQ(emulated_device_count("1").value_or(0), 1);
  EXPECT_EQ(emulated_device_count("16").value_or(0), 16);
  for (const char* wrong : {"0", "17", "-1", "two", "2 ", " 2", "2x", "99999999999999999999"}) {
    const auto refused = emulated_device_count(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().errno_value, EINVAL) << wrong;
  }
}

}  // namespace
}  // namespace gdrkit::driver
