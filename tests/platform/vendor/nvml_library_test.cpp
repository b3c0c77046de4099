// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Loads a library with NVML's name and one of its functions: the program's run path finds it.
#include "platform/vendor/nvml_library.hpp"
#include "support/results.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace gdrkit::platform {
namespace {

TEST(NvmlLibrary, ReportsAMissingRequiredFunction) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(tests::failed(nvml_calls(), ENOSYS, testing::HasSubstr("nvmlShutdown")));
  }
}

TEST(NvmlLibrary, HasTextForResultCodes) {
  EXPECT_STREQ(nvml_result_name(nvml_lib_rm_version_mismatch), "NVML_ERROR_LIB_RM_VERSION_MISMATCH");
  EXPECT_STREQ(nvml_result_name(999), "NVML_ERROR_UNKNOWN");
  EXPECT_STREQ(nvml_result_name(-1), "an unknown result");
}

}  // namespace
}  // namespace gdrkit::platform
