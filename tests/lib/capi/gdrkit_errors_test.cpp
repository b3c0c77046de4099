// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit's own C and C++ APIs on a scripted backend: what only some backends do.
#include <cerrno>

#include "gdrkit/gdrkit.hpp"
#include "lib/core/context_fixture.hpp"
#include "support/results.hpp"

namespace gdrkit::tests {
namespace {

class GdrkitErrors : public OnScriptedBackend {};

TEST_F(GdrkitErrors, ReportsInvalidation) {
  const gdrkit_pin_t handle{mapped_pin()};
  EXPECT_EQ(gdrkit_is_invalidated(handle), 0);
  script.is_invalidated = true;
  EXPECT_EQ(gdrkit_is_invalidated(handle), 1);
  EXPECT_EQ(gdrkit_unmap(handle), 0);
  EXPECT_EQ(gdrkit_is_invalidated(handle), 1) << "it is the pin's, not the mapping's";
  EXPECT_EQ(gdrkit_unpin(handle), 0);
  EXPECT_EQ(gdrkit_is_invalidated(handle), -EINVAL);
}

TEST_F(GdrkitErrors, ContextInfoReportsPersistence) {
  script.traits.is_persistent = false;
  const auto opened = value_or_throw(open());
  gdrkit_context_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(gdrkit_get_context_info({opened}, &info), 0);
  EXPECT_EQ(info.is_persistent, 0);
  EXPECT_EQ(gdrkit_close({opened}), 0);
}

}  // namespace
}  // namespace gdrkit::tests
