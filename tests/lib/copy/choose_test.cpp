// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The copy kernels that choose() selects by features, mapping type and forced name, and its errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "base/result.hpp"
#include "copy/copier.hpp"
#include "support/results.hpp"

namespace gdrkit::copy {
namespace {

using ::testing::HasSubstr;

cpu::Features features_up_to(const std::string& name) {
  cpu::Features features;
  if (name == "scalar") return features;
  features.sse2 = true;
  if (name == "sse2") return features;
  features.sse41 = true;
  if (name == "sse41") return features;
  features.avx2 = true;
  if (name == "avx2") return features;
  features.avx512f = true;
  return features;
}

const KernelInfo* find(const std::string& name) {
  for (const KernelInfo& info : kernels()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

/// Skips the tests of the x86-64 list on other architectures.
class ChooseOnX86 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (find("avx512") == nullptr) GTEST_SKIP() << "not x86-64: the list lacks avx512";
  }
};

TEST_F(ChooseOnX86, SelectsTheWidestSupportedCopyKernel) {
  for (const std::string name : {"scalar", "sse2", "sse41", "avx2", "avx512"}) {
    const base::Result<Copier> copier = choose(features_up_to(name), MappingType::write_combining, "");
    ASSERT_TRUE(copier) << name;
    EXPECT_EQ(copier->store_name, name);
    EXPECT_EQ(copier->load_name, name);
    EXPECT_EQ(copier->store_lines, find(name)->store_lines);
    EXPECT_EQ(copier->load_lines, find(name)->load_lines);
    EXPECT_EQ(copier->streaming_loads, find(name)->streaming_loads);
    EXPECT_EQ(copier->widest_load_bytes, find(name)->widest_load_bytes);
  }
}

TEST_F(ChooseOnX86, UsesDirectStoresOnlyTogetherWithAvx512) {
  cpu::Features features = features_up_to("avx512");
  features.movdir64b = true;
  const base::Result<Copier> both = choose(features, MappingType::write_combining, "");
  EXPECT_STREQ(both->store_name, "avx512_movdir64b");
  EXPECT_STREQ(both->load_name, "avx512");
  features.avx512f = false;
  EXPECT_STREQ(choose(features, MappingType::write_combining, "")->store_name, "avx2");
}

TEST_F(ChooseOnX86, SelectsLoadsAutomaticallyIfTheForcedCopyKernelHasNone) {
  cpu::Features features = features_up_to("avx2");
  features.movdir64b = true;
  const auto copier = tests::value_or_throw(choose(features, MappingType::write_combining, "movdir64b"));
  EXPECT_STREQ(copier.store_name, "movdir64b");
  EXPECT_EQ(copier.store_lines, find("movdir64b")->store_lines);
  EXPECT_STREQ(copier.load_name, "avx2");
  EXPECT_TRUE(copier.streaming_loads);
}

TEST_F(ChooseOnX86, RejectsAForcedCopyKernelThatTheCpuDoesNotSupport) {
  const base::Result<Copier> copier = choose(features_up_to("sse41"), MappingType::write_combining, "avx2");
  ASSERT_TRUE(tests::failed(copier, EOPNOTSUPP, HasSubstr("'avx2'")));
  for (const KernelInfo& info : kernels()) {
    const std::string list = std::string(copier.error().text()) + ",";
    EXPECT_EQ(list.find(" " + std::string(info.name) + ",") != std::string::npos, info.runs_on(features_up_to("sse41")))
        << info.name;
  }
}

TEST(Choose, SelectsTheFirstLineThatSupportsTheFeatures) {
  cpu::Features features;
  if (find("neon") != nullptr) {
    features.asimd = true;
    EXPECT_STREQ(choose(features, MappingType::write_combining, "")->store_name, "neon");
    features.asimd = false;
    EXPECT_THAT(choose(features, MappingType::write_combining, "neon").error().text(), HasSubstr("scalar"));
  } else if (find("vsx") != nullptr) {
    features.vsx = true;
    EXPECT_STREQ(choose(features, MappingType::write_combining, "")->store_name, "vsx");
  } else {
    GTEST_SKIP() << "ChooseOnX86 tests the list of x86-64";
  }
}

TEST(Choose, AcceptsEveryForcedCopyKernelThatTheCpuSupports) {
  const cpu::Features features = cpu::detect();
  for (const KernelInfo& info : kernels()) {
    const base::Result<Copier> copier = choose(features, MappingType::write_combining, info.name);
    if (!info.runs_on(features)) {
      EXPECT_TRUE(tests::failed(copier, EOPNOTSUPP)) << info.name;
      continue;
    }
    ASSERT_TRUE(copier) << info.name;
    if (info.store_lines != nullptr) {
      EXPECT_STREQ(copier->store_name, info.name);
    }
    if (info.load_lines != nullptr) {
      EXPECT_STREQ(copier->load_name, info.name);
    }
  }
}

TEST(Choose, RejectsAnUnknownNameAndListsTheUsableOnes) {
  for (const char* name : {"avx1024", "Scalar", "scalar ", " ", "memcpy"}) {
    const base::Result<Copier> copier = choose(cpu::Features{}, MappingType::write_combining, name);
    ASSERT_TRUE(tests::failed(copier, EINVAL, HasSubstr("'" + std::string(name) + "'"))) << name;
    EXPECT_THAT(copier.error().text(), HasSubstr(": scalar"));
  }
}

TEST(Choose, TreatsNullAndEmptyNamesAsAutomatic) {
  const base::Result<Copier> by_null = choose(cpu::detect(), MappingType::write_combining, nullptr);
  const base::Result<Copier> by_empty = choose(cpu::detect(), MappingType::write_combining, "");
  ASSERT_TRUE(by_null);
  ASSERT_TRUE(by_empty);
  EXPECT_STREQ(by_null->store_name, by_empty->store_name);
}

TEST(Choose, UsesNoCopyKernelOnCachedAndDeviceMappings) {
  for (const char* forced : {"", "scalar"}) {
    const auto cached = tests::value_or_throw(choose(cpu::detect(), MappingType::cached, forced));
    EXPECT_EQ(cached.type, MappingType::cached);
    EXPECT_EQ(cached.store_lines, nullptr);
    EXPECT_STREQ(cached.load_name, "memcpy");
    const auto device = tests::value_or_throw(choose(cpu::detect(), MappingType::device, forced));
    EXPECT_EQ(device.type, MappingType::device);
    EXPECT_EQ(device.load_lines, nullptr);
    EXPECT_STREQ(device.store_name, "words");
  }
}

TEST(Choose, ChecksAForcedNameOnEveryMappingType) {
  for (const MappingType type : {MappingType::write_combining, MappingType::cached, MappingType::device}) {
    EXPECT_EQ(choose(cpu::detect(), type, "nonsense").error().errno_value, EINVAL);
  }
}

TEST(Choose, RejectsInvalidMappingTypes) {
  EXPECT_EQ(choose(cpu::detect(), MappingType::none, "").error().errno_value, EINVAL);
  const base::Error error = choose(cpu::detect(), static_cast<MappingType>(9), "").error();
  EXPECT_EQ(error.errno_value, EINVAL);
  EXPECT_THAT(error.text(), HasSubstr("mapping type 9"));
}

}  // namespace
}  // namespace gdrkit::copy
