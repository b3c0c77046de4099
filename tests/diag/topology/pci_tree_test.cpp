// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/pci_tree.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "written_machine.hpp"

namespace gdrkit::diag::topology {
namespace {

TEST(PciTree, ListsGpusInPciOrderWithTheirBridges) {
  WrittenMachine machine;
  machine.gpu("pci0000:80/0000:80:01.0/0000:81:00.0", 1);
  machine.gpu("pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:03.0/0000:03:00.0", 0);
  machine.adapter("mlx5_0", "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:04.0/0000:04:00.0", 0);
  machine.nvswitch("pci0000:80/0000:80:02.0/0000:90:00.0", 1);
  const PciTree tree = machine.tree();
  ASSERT_EQ(tree.gpus.size(), 2u);
  EXPECT_EQ(tree.gpus[0].name, "GPU0");
  EXPECT_EQ(tree.gpus[0].function.name, "0000:03:00.0");
  EXPECT_EQ(tree.gpus[0].root, "pci0000:00");
  std::vector<std::string> above;
  for (const std::size_t bridge : tree.gpus[0].bridges) above.push_back(tree.bridges[bridge].name);
  EXPECT_EQ(above, (std::vector<std::string>{"0000:00:01.0", "0000:01:00.0", "0000:02:03.0"}));
  EXPECT_EQ(tree.bridges[tree.gpus[0].bridges[1]].vendor.value, 0x8086);
  EXPECT_EQ(tree.gpus[1].function.numa_node.value, 1);
  EXPECT_EQ(tree.gpus[1].cpus.value, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_DOUBLE_EQ(tree.gpus[1].function.most.speed_gts.value, 32.0);
  EXPECT_EQ(tree.gpus[1].function.most.width.value, 16);
  ASSERT_EQ(tree.adapters.size(), 1u);
  EXPECT_EQ(tree.adapters[0].name, "mlx5_0");
  // Both are behind the same switch: the first two bridges are the same objects.
  EXPECT_EQ(tree.adapters[0].bridges[1], tree.gpus[0].bridges[1]);
  EXPECT_NE(tree.adapters[0].bridges[2], tree.gpus[0].bridges[2]);
  ASSERT_EQ(tree.nvswitches.size(), 1u);
  EXPECT_EQ(tree.nvswitches[0].name, "NVSwitch0");
}

TEST(PciTree, AcceptsFiveDigitDomainsAndPlatformPrefixes) {
  const PciPlace vmd = parse_pci_place("/sys/devices/pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:01.0/10000:e1:00.0");
  EXPECT_EQ(vmd.root, "pci10000:e0");
  EXPECT_EQ(vmd.functions, (std::vector<std::string>{"10000:e0:01.0", "10000:e1:00.0"}));
  const PciPlace arm = parse_pci_place("/sys/devices/platform/NVDA0001:00/pci0002:00/0002:00:00.0/0002:01:00.0");
  EXPECT_EQ(arm.root, "pci0002:00");
  EXPECT_EQ(arm.functions, (std::vector<std::string>{"0002:00:00.0", "0002:01:00.0"}));

  WrittenMachine machine;
  machine.gpu("platform/soc@0/pci0002:00/0002:00:00.0/0002:01:00.0", 0);
  machine.adapter("mlx5_0", "pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:01.0/10000:e1:00.0", 0);
  const PciTree tree = machine.tree();
  EXPECT_EQ(tree.gpus.at(0).root, "pci0002:00");
  EXPECT_EQ(tree.gpus[0].bridges.size(), 1u);
  EXPECT_EQ(tree.bridges[tree.gpus[0].bridges[0]].class_code.value, 0x060400);
  EXPECT_EQ(tree.adapters.at(0).function.address.domain, 0x10000u);
  EXPECT_EQ(tree.adapters[0].bridges.size(), 1u);
}

TEST(PciTree, ReportsUnreadableFactsWithoutGuessing) {
  WrittenMachine machine;
  machine.gpu("pci0000:00/0000:00:01.0/0000:01:00.0", 0, {{"numa_node", "x"}, {"max_link_width", "255"}});
  machine.gpu("pci0000:00/0000:00:02.0/0000:02:00.0", 0);
  machine.put("/gdrkit-recording", "unreadable /sys/devices/pci0000:00/0000:00:02.0/0000:02:00.0/class\n");
  const PciTree tree = machine.tree();
  ASSERT_EQ(tree.gpus.size(), 1u);
  EXPECT_EQ(tree.gpus[0].function.numa_node.outcome, Outcome::malformed);
  EXPECT_EQ(tree.gpus[0].function.most.width.outcome, Outcome::malformed);
  EXPECT_EQ(tree.gpus[0].function.current.speed_gts.outcome, Outcome::absent);
  ASSERT_EQ(tree.unread.size(), 1u);
  EXPECT_NE(tree.unread[0].find("0000:02:00.0/class"), std::string::npos);
}

TEST(PciTree, DeviceThatIsNotALinkHasNoLocation) {
  WrittenMachine machine;
  machine.put("/sys/bus/pci/devices/0000:03:00.0/vendor", "0x10de\n");
  machine.put("/sys/bus/pci/devices/0000:03:00.0/class", "0x030200\n");
  const PciTree tree = machine.tree();
  ASSERT_EQ(tree.gpus.size(), 1u);
  EXPECT_EQ(tree.gpus[0].real_path.outcome, Outcome::malformed);
  EXPECT_EQ(tree.gpus[0].root, "");
}

TEST(PciTree, ListsSoftwareAdaptersWithoutALocation) {
  WrittenMachine machine;
  machine.put("/sys/class/infiniband/rxe0/node_guid", "x\n");
  machine.put("/sys/devices/virtual/net/lo/mtu", "1\n");
  const PciTree tree = machine.tree();
  EXPECT_TRUE(tree.adapters.empty());
  EXPECT_EQ(tree.unplaced, (std::vector<std::string>{"rxe0"}));
}

TEST(PciTree, EmptyMachineHasAnEmptyTree) {
  const WrittenMachine machine;
  const PciTree tree = machine.tree();
  EXPECT_EQ(tree.pci_outcome, Outcome::absent);
  EXPECT_EQ(tree.adapter_outcome, Outcome::absent);
  EXPECT_TRUE(tree.gpus.empty());
}

TEST(PciTree, CountsGpusBeyondTheLimit) {
  WrittenMachine machine;
  for (unsigned i = 0; i < PciTree::most_gpus + 5; ++i) {
    char name[32];
    std::snprintf(name, sizeof(name), "pci0000:00/0000:%02x:%02x.0", i / 32, i % 32);
    machine.gpu(name, 0);
  }
  const PciTree tree = machine.tree();
  EXPECT_EQ(tree.gpus.size(), PciTree::most_gpus);
  EXPECT_EQ(tree.left_out, 5u);
}

}  // namespace
}  // namespace gdrkit::diag::topology
