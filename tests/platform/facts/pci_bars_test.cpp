// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/pci_bars.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace gdrkit::platform {
namespace {

constexpr const char* absent = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
constexpr const char* registers = "0x00000000ab000000 0x00000000abffffff 0x0000000000040200\n";

std::string six_lines(const std::string& second) { return registers + second + absent + absent + absent + absent; }

TEST(PciBars, SizeIsLastMinusFirstPlusOne) {
  const auto bars = parse_pci_bars(six_lines("0x0000380000000000 0x0000383fffffffff 0x000000000014220c\n"));
  ASSERT_TRUE(bars.has_value());
  EXPECT_EQ((*bars)[0].size_bytes, 16u << 20);
  EXPECT_EQ(nvidia_bar1(*bars).size_bytes, 256ull << 30);
  EXPECT_EQ(nvidia_bar1(*bars).start, 0x380000000000ull);
  EXPECT_EQ(nvidia_bar1(*bars).flags, 0x14220cull);
}

TEST(PciBars, AbsentBarHasSizeZero) {
  const auto bars = parse_pci_bars(six_lines(absent));
  ASSERT_TRUE(bars.has_value());
  EXPECT_EQ(nvidia_bar1(*bars).size_bytes, 0u);
}

TEST(PciBars, TheApertureBehind64BitRegistersIsNumberTwo) {
  // An H200 in a virtual machine.
  const auto bars = parse_pci_bars(
      "0x0000104002000000 0x0000104002ffffff 0x000000000014220c\n"
      "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
      "0x0000100000000000 0x0000103fffffffff 0x000000000014220c\n"
      "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
      "0x0000104000000000 0x0000104001ffffff 0x000000000014220c\n"
      "0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
  ASSERT_TRUE(bars.has_value());
  EXPECT_EQ(nvidia_bar1(*bars).size_bytes, 256ull << 30);
}

TEST(PciBars, TextThatIsNotAResourceFileIsRejected) {
  for (const std::string& text : {std::string(), std::string("hello\n"), std::string(registers),
                                  six_lines("0x10 0x0f 0x200\n"), six_lines("0x10 0x1f\n"), six_lines("10 1f 200\n"),
                                  six_lines("0x10 0x1fzz 0x200\n"), six_lines("0x 0x 0x\n")}) {
    const auto bars = parse_pci_bars(text);
    ASSERT_FALSE(bars.has_value()) << text;
    EXPECT_EQ(bars.error().errno_value, EINVAL);
  }
}

TEST(PciBars, AreReadFromTheTreeByAddress) {
  const auto bars = read_pci_bars(GDRKIT_TREE "/sys", PciAddress{0, 0xaf, 0, 0});
  ASSERT_TRUE(bars.has_value()) << bars.error().text();
  EXPECT_EQ(nvidia_bar1(*bars).size_bytes, 256ull << 20);
}

TEST(PciBars, ReportsAMissingDevice) {
  const auto bars = read_pci_bars(GDRKIT_TREE "/sys", PciAddress{0, 0x99, 0, 0});
  ASSERT_FALSE(bars.has_value());
  EXPECT_EQ(bars.error().errno_value, ENOENT);
  EXPECT_NE(std::string(bars.error().text()).find("0000:99:00.0"), std::string::npos);
}

}  // namespace
}  // namespace gdrkit::platform
