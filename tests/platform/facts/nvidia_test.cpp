// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/nvidia.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "support/results.hpp"

namespace gdrkit::platform {
namespace {

/// A copy of the tree in which the first GPU has a driver: packing the sources may not preserve its link.
class TreeWithDriver {
 public:
  TreeWithDriver() : root_(testing::TempDir() + "gdrkit-tree-" + std::to_string(::getpid())) {
    std::filesystem::copy(GDRKIT_TREE "/sys", root_, std::filesystem::copy_options::recursive);
    std::filesystem::create_symlink("../../drivers/nvidia", root_ + "/bus/pci/devices/0000:3b:00.0/driver");
  }
  ~TreeWithDriver() { std::filesystem::remove_all(root_); }
  TreeWithDriver(const TreeWithDriver&) = delete;
  TreeWithDriver& operator=(const TreeWithDriver&) = delete;
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  std::string root_;
};

TEST(NvidiaGpus, AreTheDisplayAnd3dControllersOfTheVendorInAddressOrder) {
  const TreeWithDriver tree;
  const auto gpus = tests::value_or_throw(list_nvidia_gpus(tree.root()));
  ASSERT_EQ(gpus.size(), 2u) << "an audio function, a bridge or a network card was taken for a GPU";
  EXPECT_EQ(gpus[0].address, (PciAddress{0, 0x3b, 0, 0}));
  EXPECT_EQ(gpus[0].device_id, 0x2335u);
  EXPECT_EQ(gpus[0].bar1_size_bytes, 256ull << 30);
  EXPECT_EQ(gpus[0].numa_node, 0);
  EXPECT_EQ(gpus[0].driver, "nvidia");
  EXPECT_EQ(gpus[1].address, (PciAddress{0, 0xaf, 0, 0}));
  EXPECT_EQ(gpus[1].bar1_size_bytes, 256ull << 20);
  EXPECT_EQ(gpus[1].numa_node, 1);
  EXPECT_EQ(gpus[1].driver, "") << "no driver is bound to it";
}

TEST(NvidiaGpus, ReportsAnErrorWithoutAPciTree) {
  EXPECT_TRUE(tests::failed(list_nvidia_gpus(GDRKIT_TREE "/nowhere"), ENOENT));
}

TEST(NvidiaGpus, HaveTheNameReportedByTheDriver) {
  EXPECT_EQ(nvidia_gpu_name(GDRKIT_TREE "/proc", PciAddress{0, 0x3b, 0, 0}), "NVIDIA H200");
  EXPECT_EQ(nvidia_gpu_name(GDRKIT_TREE "/proc", PciAddress{0, 0xaf, 0, 0}), "unknown");
}

constexpr const char* absent = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
constexpr const char* registers = "0x00000000ab000000 0x00000000abffffff 0x0000000000040200\n";

std::string six_lines(const std::string& second) { return registers + second + absent + absent + absent + absent; }

TEST(PciBars, SizeIsLastMinusFirstPlusOne) {
  const auto bars =
      tests::value_or_throw(parse_pci_bars(six_lines("0x0000380000000000 0x0000383fffffffff 0x000000000014220c\n")));
  EXPECT_EQ(bars[0].size_bytes, 16u << 20);
  EXPECT_EQ(nvidia_bar1(bars).size_bytes, 256ull << 30);
  EXPECT_EQ(nvidia_bar1(bars).start, 0x380000000000ull);
  EXPECT_EQ(nvidia_bar1(bars).flags, 0x14220cull);
}

TEST(PciBars, AbsentBarHasSizeZero) {
  const auto bars = tests::value_or_throw(parse_pci_bars(six_lines(absent)));
  EXPECT_EQ(nvidia_bar1(bars).size_bytes, 0u);
}

TEST(PciBars, TheApertureBehind64BitRegistersIsNumberTwo) {
  // An H200 in a virtual machine.
  const auto bars =
      tests::value_or_throw(parse_pci_bars("0x0000104002000000 0x0000104002ffffff 0x000000000014220c\n"
                                           "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
                                           "0x0000100000000000 0x0000103fffffffff 0x000000000014220c\n"
                                           "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
                                           "0x0000104000000000 0x0000104001ffffff 0x000000000014220c\n"
                                           "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"));
  EXPECT_EQ(nvidia_bar1(bars).size_bytes, 256ull << 30);
}

TEST(PciBars, TextThatIsNotAResourceFileIsRejected) {
  for (const std::string& text : {std::string(), std::string("hello\n"), std::string(registers),
                                  six_lines("0x10 0x0f 0x200\n"), six_lines("0x10 0x1f\n"), six_lines("10 1f 200\n"),
                                  six_lines("0x10 0x1fzz 0x200\n"), six_lines("0x 0x 0x\n")}) {
    EXPECT_TRUE(tests::failed(parse_pci_bars(text), EINVAL)) << text;
  }
}

TEST(PciBars, ReportsAMissingDevice) {
  EXPECT_TRUE(tests::failed(read_pci_bars(GDRKIT_TREE "/sys", PciAddress{0, 0x99, 0, 0}), ENOENT,
                            testing::HasSubstr("0000:99:00.0")));
}

TEST(NvidiaDriver, VersionAndFlavourAreReadFromTheTree) {
  const auto driver = tests::value_or_throw(read_nvidia_driver(GDRKIT_TREE "/proc"));
  EXPECT_EQ(driver.version, "580.159.04");
  EXPECT_TRUE(driver.is_open_flavour);
}

TEST(NvidiaDriver, DetectsTheProprietaryFlavour) {
  const auto driver = tests::value_or_throw(parse_nvidia_driver(
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.256.02  Thu May  2 14:37:44 UTC 2024\n"));
  EXPECT_EQ(driver.version, "470.256.02");
  EXPECT_FALSE(driver.is_open_flavour);
}

TEST(NvidiaDriver, OnlyTheFirstLineCounts) {
  EXPECT_TRUE(tests::failed(parse_nvidia_driver("NVRM version: unknown\nGCC version:  gcc version 12.3.0\n"), EINVAL));
}

TEST(NvidiaDriver, NoKernelModuleIsReportedByErrno) {
  EXPECT_TRUE(tests::failed(read_nvidia_driver(GDRKIT_TREE "/nowhere"), ENOENT));
}

}  // namespace
}  // namespace gdrkit::platform
