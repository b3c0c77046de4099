// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Loads a library with libibverbs' name and one of its functions: the program's run path finds it.
#include "platform/vendor/verbs_library.hpp"
#include "support/results.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace gdrkit::platform {
namespace {

TEST(VerbsLibrary, ReportsAMissingRequiredFunction) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(tests::failed(verbs_calls(), ENOSYS, testing::HasSubstr("ibv_free_device_list")));
  }
}

}  // namespace
}  // namespace gdrkit::platform
