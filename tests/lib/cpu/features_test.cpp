// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Compares detection with the Linux kernel's, and tests the decoding of registers that this machine does not have.
#include "cpu/features.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace gdrkit::cpu {
namespace {

std::set<std::string> flags_of_proc_cpuinfo() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) != 0) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    std::set<std::string> flags;
    for (std::string word; words >> word;) flags.insert(word);
    return flags;
  }
  return {};
}

/// The registers of a CPU and system that support every feature.
constexpr CpuidWords everything{~0u, ~0u, ~0u, ~0u, ~std::uint64_t{0}};

TEST(Features, DetectionAgreesWithProcCpuinfo) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "/proc/cpuinfo lists these flags on x86-64 only; qemu-user shows that of the host";
#endif
  const std::set<std::string> flags = flags_of_proc_cpuinfo();
  if (flags.empty()) GTEST_SKIP() << "/proc/cpuinfo lists no flags";
  const Features features = detect();
  EXPECT_EQ(features.sse2, flags.count("sse2") == 1);
  EXPECT_EQ(features.sse41, flags.count("sse4_1") == 1);
  EXPECT_EQ(features.avx2, flags.count("avx2") == 1);
  EXPECT_EQ(features.avx512f, flags.count("avx512f") == 1);
  EXPECT_EQ(features.movdir64b, flags.count("movdir64b") == 1);
}

TEST(Features, DetectsTheBaselineOfTheArchitecture) {
  const Features features = detect();
#if defined(__x86_64__)
  EXPECT_TRUE(features.sse2);
#elif defined(__aarch64__)
  EXPECT_TRUE(features.asimd);
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
  EXPECT_TRUE(features.vsx);
#endif
#if !defined(__aarch64__)
  EXPECT_FALSE(features.asimd);
#endif
#if !defined(__powerpc64__)
  EXPECT_FALSE(features.vsx);
#endif
}

TEST(Features, DecodeReadsTheBitOfTheAuxiliaryVector) {
  EXPECT_TRUE(decode_arm64(0x2).asimd);
  EXPECT_FALSE(decode_arm64(~std::uint64_t{0x2}).asimd);
  EXPECT_TRUE(decode_power(0x80).vsx);
  EXPECT_FALSE(decode_power(~std::uint64_t{0x80}).vsx);
}

TEST(Features, DecodeFindsEveryFeatureIfAllBitsAreSetAndNoneIfNoBitIs) {
  for (const bool is_set : {true, false}) {
    const Features features = decode(is_set ? everything : CpuidWords{});
    EXPECT_EQ(features.sse2, is_set);
    EXPECT_EQ(features.sse41, is_set);
    EXPECT_EQ(features.avx2, is_set);
    EXPECT_EQ(features.avx512f, is_set);
    EXPECT_EQ(features.movdir64b, is_set);
  }
}

TEST(Features, DecodeReadsTheBitsOfTheManual) {
  CpuidWords words{};
  words.leaf1_edx = 1u << 26;
  EXPECT_TRUE(decode(words).sse2);
  words.leaf1_ecx = 1u << 19;
  EXPECT_TRUE(decode(words).sse41);
  words.leaf7_ecx = 1u << 28;
  EXPECT_TRUE(decode(words).movdir64b);
  words.leaf1_ecx = (1u << 27) | (1u << 28);  // OSXSAVE and AVX
  words.xcr0 = 0xe7;
  EXPECT_FALSE(decode(words).avx2);
  EXPECT_FALSE(decode(words).avx512f);
  words.leaf7_ebx = 1u << 5;
  EXPECT_TRUE(decode(words).avx2);
  EXPECT_FALSE(decode(words).avx512f);
  words.leaf7_ebx = 1u << 16;
  EXPECT_FALSE(decode(words).avx2);
  EXPECT_TRUE(decode(words).avx512f);
}

TEST(Features, DecodeRequiresEveryStateComponentOfTheRegisters) {
  for (std::uint64_t xcr0 = 0; xcr0 < 256; ++xcr0) {
    CpuidWords words = everything;
    words.xcr0 = xcr0;
    EXPECT_EQ(decode(words).avx2, (xcr0 & 0x06) == 0x06) << std::hex << xcr0;
    EXPECT_EQ(decode(words).avx512f, (xcr0 & 0xe6) == 0xe6) << std::hex << xcr0;
    EXPECT_TRUE(decode(words).sse41) << std::hex << xcr0;
  }
}

TEST(Features, DecodeRequiresXgetbvAndAvxForWideRegisters) {
  for (const std::uint32_t missing : {1u << 27, 1u << 28}) {
    CpuidWords words = everything;
    words.leaf1_ecx &= ~missing;
    EXPECT_FALSE(decode(words).avx2);
    EXPECT_FALSE(decode(words).avx512f);
    EXPECT_TRUE(decode(words).movdir64b);
  }
}

}  // namespace
}  // namespace gdrkit::cpu
