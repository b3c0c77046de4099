// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "base/cpu_set.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace gdrkit::base {
namespace {

TEST(CpuSet, ContainsCpusBeyondThoseOfTheFixedSet) {
  CpuSet set;
  EXPECT_EQ(set.count(), 0);
  for (const int cpu : {0, 63, 64, 1023, 1024, 1567, 65535}) {
    EXPECT_FALSE(set.has(cpu)) << cpu;
    set.add(cpu);
    EXPECT_TRUE(set.has(cpu)) << cpu;
  }
  EXPECT_EQ(set.count(), 7);
  EXPECT_FALSE(set.has(544));  // 1567 - 1023
}

TEST(CpuSet, IgnoresNumbersThatAreNotCpus) {
  CpuSet set;
  for (const int cpu : {-1, 65536, 1 << 30}) {
    set.add(cpu);
    EXPECT_FALSE(set.has(cpu)) << cpu;
  }
  EXPECT_EQ(set.count(), 0);
  EXPECT_EQ(set.apply(), -EINVAL);
}

TEST(CpuSet, IsThatOfTheCallingThread) {
  CpuSet own;
  ASSERT_EQ(own.read(), 0);
  ASSERT_GT(own.count(), 0);
  int cpu = 0;
  while (!own.has(cpu)) ++cpu;
  std::thread([cpu] {
    ASSERT_EQ(CpuSet::of(cpu).apply(), 0);
    CpuSet bound;
    ASSERT_EQ(bound.read(), 0);
    EXPECT_EQ(bound.count(), 1);
    EXPECT_TRUE(bound.has(cpu));
  }).join();
}

}  // namespace
}  // namespace gdrkit::base
