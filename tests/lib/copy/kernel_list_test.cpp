// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Properties of every list of copy kernels that choose() depends on.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "copy/copier.hpp"

namespace gdrkit::copy {
namespace {

TEST(KernelList, EndsWithScalarForEveryCpuAndBothDirections) {
  ASSERT_GE(kernels().size(), 1u);
  const KernelInfo& last = kernels().back();
  EXPECT_STREQ(last.name, "scalar");
  EXPECT_TRUE(last.runs_on(cpu::Features{}));
  EXPECT_NE(last.store_lines, nullptr);
  EXPECT_NE(last.load_lines, nullptr);
  EXPECT_FALSE(last.streaming_loads);
}

TEST(KernelList, HasUniqueNamesAndAtLeastOneDirectionEach) {
  std::set<std::string> names;
  for (const KernelInfo& info : kernels()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_TRUE(info.store_lines != nullptr || info.load_lines != nullptr) << info.name;
    EXPECT_FALSE(info.streaming_loads && info.load_lines == nullptr) << info.name;
    EXPECT_FALSE(info.widest_load_bytes != 0 && info.load_lines == nullptr) << info.name;
  }
}

TEST(KernelList, SupportsOnlyScalarWithoutFeatures) {
  for (const KernelInfo& info : kernels()) {
    EXPECT_EQ(info.runs_on(cpu::Features{}), std::string(info.name) == "scalar") << info.name;
  }
}

}  // namespace
}  // namespace gdrkit::copy
