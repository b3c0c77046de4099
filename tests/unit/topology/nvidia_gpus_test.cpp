// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "topology/nvidia_gpus.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace gdrkit::topology {
namespace {

TEST(NvidiaGpus, AreTheDisplayAnd3dControllersOfTheVendorInAddressOrder) {
  const auto gpus = list_nvidia_gpus(GDRKIT_TREE "/sys");
  ASSERT_TRUE(gpus.has_value()) << base::detail();
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

TEST(NvidiaGpus, NoPciTreeIsAnErrorAndNotAnEmptyList) {
  const auto gpus = list_nvidia_gpus(GDRKIT_TREE "/nowhere");
  ASSERT_FALSE(gpus.has_value());
  EXPECT_EQ(gpus.error().errno_value, ENOENT);
}

}  // namespace
}  // namespace gdrkit::topology
