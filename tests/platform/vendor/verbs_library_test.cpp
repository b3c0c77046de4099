// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Loads a library with libibverbs' name and one of its functions: the program's run path finds it.
#include "platform/vendor/verbs_library.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace gdrkit::platform {
namespace {

TEST(VerbsLibrary, ReportsAMissingRequiredFunction) {
  for (int i = 0; i < 2; ++i) {
    const auto calls = verbs_calls();
    ASSERT_FALSE(calls.has_value());
    EXPECT_EQ(calls.error().errno_value, ENOSYS);
    EXPECT_NE(std::string(calls.error().text()).find("ibv_free_device_list"), std::string::npos)
        << calls.error().text();
  }
}

}  // namespace
}  // namespace gdrkit::platform
