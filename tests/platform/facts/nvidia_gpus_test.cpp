// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/nvidia_gpus.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

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
  const auto gpus = list_nvidia_gpus(tree.root());
  ASSERT_TRUE(gpus.has_value()) << gpus.error().text();
  ASSERT_EQ(gpus->size(), 2u) << "an audio function, a bridge or a network card was taken for a GPU";
  EXPECT_EQ((*gpus)[0].address, (PciAddress{0, 0x3b, 0, 0}));
  EXPECT_EQ((*gpus)[0].device_id, 0x2335u);
  EXPECT_EQ((*gpus)[0].bar1_size_bytes, 256ull << 30);
  EXPECT_EQ((*gpus)[0].numa_node, 0);
  EXPECT_EQ((*gpus)[0].driver, "nvidia");
  EXPECT_EQ((*gpus)[1].address, (PciAddress{0, 0xaf, 0, 0}));
  EXPECT_EQ((*gpus)[1].bar1_size_bytes, 256ull << 20);
  EXPECT_EQ((*gpus)[1].numa_node, 1);
  EXPECT_EQ((*gpus)[1].driver, "") << "no driver is bound to it";
}

TEST(NvidiaGpus, ReportsAnErrorWithoutAPciTree) {
  const auto gpus = list_nvidia_gpus(GDRKIT_TREE "/nowhere");
  ASSERT_FALSE(gpus.has_value());
  EXPECT_EQ(gpus.error().errno_value, ENOENT);
}

TEST(NvidiaGpus, HaveTheNameReportedByTheDriver) {
  EXPECT_EQ(nvidia_gpu_name(GDRKIT_TREE "/proc", PciAddress{0, 0x3b, 0, 0}), "NVIDIA H200");
  EXPECT_EQ(nvidia_gpu_name(GDRKIT_TREE "/proc", PciAddress{0, 0xaf, 0, 0}), "unknown");
}

}  // namespace
}  // namespace gdrkit::platform
