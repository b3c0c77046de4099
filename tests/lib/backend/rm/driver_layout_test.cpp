// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/driver_layout.hpp"

#include <gtest/gtest.h>

#include "driver/driver_version.hpp"
#include "fakes/driver_model.hpp"

namespace gdrkit::backend::rm {
namespace {

TEST(DriverLayout, AgreesWithThePublishedStructuresOfEveryVersion) {
  for (const fakes::DriverModel& model : fakes::driver_models()) {
    const auto version = driver::parse_driver_version(model.version);
    ASSERT_TRUE(version) << model.version;
    const auto layout = layout_for(*version, model.version, false);
    ASSERT_TRUE(layout) << model.version;
    EXPECT_EQ(layout->fb_info_bytes, model.fb_info_bytes) << model.version;
    EXPECT_EQ(layout->has_version_query, model.has_version_query) << model.version;
    EXPECT_EQ(layout->reports_caching_type, model.reports_caching) << model.version;
  }
}

TEST(DriverLayout, RejectsVersionsOutsideItsTables) {
  EXPECT_FALSE(layout_for({515, 43, 3}, "515.43.03", true));
  EXPECT_TRUE(layout_for({515, 43, 4}, "515.43.04", false));
  EXPECT_TRUE(layout_for({newest_reviewed_major, 99, 0}, "x", false));
  EXPECT_FALSE(layout_for({newest_reviewed_major + 1, 0, 0}, "x", false));
  EXPECT_TRUE(layout_for({newest_reviewed_major + 1, 0, 0}, "x", true));
}

}  // namespace
}  // namespace gdrkit::backend::rm
