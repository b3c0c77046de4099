// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/path_class.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "diag/topology/nccl_graph.hpp"
#include "worked_trees.hpp"

namespace gdrkit::diag::topology {
namespace {

/// The four views of a machine by the devices' names: g0, g1.. and the adapters' names.
class Views {
 public:
  explicit Views(PciTree tree, NvLinks links = {})
      : tree_(std::move(tree)), links_(std::move(links)), nccl_(make_nccl_graph(tree_, links_)) {}

  /// "smi NCCL NVSHMEM UCX"
  [[nodiscard]] std::string of(const std::string& a, const std::string& b) const {
    const TreeDevice& from = device(a);
    const TreeDevice& to = device(b);
    return std::string(name_of(smi_distance(tree_, links_, from, to).value)) + " " +
           name_of(nccl_.at(position(a), position(b)).value) + " " + name_of(nvshmem_distance(from, to).value) + " " +
           name_of(ucx_distance(from, to).value);
  }
  [[nodiscard]] std::size_t position(const std::string& name) const {
    if (name[0] == 'g') return std::stoul(name.substr(1));
    for (std::size_t i = 0; i < tree_.adapters.size(); ++i) {
      if (tree_.adapters[i].name == name) return tree_.gpus.size() + i;
    }
    throw std::runtime_error("no device " + name);
  }
  [[nodiscard]] const TreeDevice& device(const std::string& name) const {
    const std::size_t at = position(name);
    return at < tree_.gpus.size() ? tree_.gpus[at] : tree_.adapters[at - tree_.gpus.size()];
  }

  PciTree tree_;
  NvLinks links_;
  NcclDistances nccl_;
};

TEST(WorkedTree, TwoSocketsWithASwitchEach) {
  const Views views(two_sockets()->tree());
  EXPECT_EQ(views.of("g0", "n0"), "PIX PIX PIX near");
  EXPECT_EQ(views.of("g1", "n1"), "PIX PIX PIX near");
  for (const char* other : {"g1", "n1"}) {
    EXPECT_EQ(views.of("g0", other), "SYS SYS SYS SYS");
    EXPECT_EQ(views.of("n0", other), "SYS SYS SYS SYS");
  }
  EXPECT_EQ(views.of("g0", "g0"), "X X X X");
}

TEST(WorkedTree, SwitchesBelowASwitch) {
  const Views views(cascade()->tree());
  EXPECT_EQ(views.of("g0", "n1"), "PIX PIX PIX near");
  EXPECT_EQ(views.of("g0", "g1"), "PXB PXB PXB near");
  EXPECT_EQ(views.of("g0", "n0"), "PXB PXB PXB near");
  EXPECT_EQ(views.of("g1", "n0"), "PXB PXB PXB near");
  EXPECT_EQ(views.of("g1", "n1"), "PXB PXB PXB near");
  EXPECT_EQ(views.of("n0", "n1"), "PXB PXB PIX near") << "NVSHMEM uses only the first device's depth";
  EXPECT_EQ(views.of("n1", "n0"), "PXB PXB PXB near");
}

const WrittenMachine::Files broadcom_gen4 = {
    {"vendor", "0x1000"}, {"device", "0xc010"}, {"subsystem_vendor", "0x1000"}, {"subsystem_device", "0xa013"}};
const WrittenMachine::Files broadcom_gen5 = {
    {"vendor", "0x1000"}, {"device", "0xc030"}, {"subsystem_vendor", "0x1000"}, {"subsystem_device", "0x1004"}};

TEST(WorkedTree, ABroadcomSwitchOfTwoLevelsIsOneToNccl) {
  for (const auto& [lower, upper] : {std::pair(broadcom_gen4, WrittenMachine::Files{}),
                                     std::pair(broadcom_gen5, WrittenMachine::Files{{"subsystem_device", "0x0003"}})}) {
    const Views views(cascade(lower, upper)->tree());
    EXPECT_EQ(views.of("g0", "g1"), "PXB PIX PXB near");
    EXPECT_EQ(views.of("g0", "n0"), "PXB PIX PXB near");
    EXPECT_EQ(views.of("g1", "n1"), "PXB PIX PXB near");
  }
}

TEST(WorkedTree, OtherBroadcomSwitchesKeepTheirLevels) {
  auto other = broadcom_gen4;
  other["subsystem_device"] = "0xb013";
  EXPECT_EQ(Views(cascade(other)->tree()).of("g0", "g1"), "PXB PXB PXB near");
  // Generation 5 distinguishes its levels: two upper ones are not one switch.
  auto upper = broadcom_gen5;
  upper["subsystem_device"] = "0x0003";
  EXPECT_EQ(Views(cascade(upper)->tree()).of("g0", "g1"), "PXB PXB PXB near");
}

TEST(WorkedTree, WorkstationWithARootPortForEachAndFlatGuest) {
  for (const auto& machine : {workstation(), flat_guest()}) {
    const Views views(machine->tree());
    for (const auto& [a, b] : {std::pair("g0", "g1"), std::pair("g0", "n0"), std::pair("g1", "n0")}) {
      EXPECT_EQ(views.of(a, b), "PHB PHB PHB PHB");
    }
  }
}

TEST(WorkedTree, HostBridgesOfOneNumaNode) {
  const Views views(host_bridges()->tree());
  EXPECT_EQ(views.of("g0", "n0"), "NODE PHB NODE NODE") << "NCCL does not distinguish host bridges of one node";
  EXPECT_EQ(views.of("g0", "n1"), "SYS SYS SYS SYS");
  EXPECT_EQ(views.of("n0", "n1"), "SYS SYS SYS SYS");
}

TEST(WorkedTree, GpuOnTheProcessorsOwnLink) {
  const Views views(grace()->tree(), grace_links());
  EXPECT_EQ(views.of("g0", "n0"), "NODE P2C NODE NODE");
  EXPECT_EQ(views.of("g0", "n0v"), "NODE P2C NODE NODE");
  EXPECT_EQ(views.of("g0", "n1"), "NODE P2C NODE NODE");
  EXPECT_EQ(views.of("n0", "n0v"), "PIX LOC PXB near") << "one adapter to NCCL, PXB to NVSHMEM";
  EXPECT_EQ(views.of("n0", "n1"), "NODE PHB NODE NODE");
  EXPECT_EQ(Views(grace()->tree()).of("g0", "n0"), "NODE PHB NODE NODE") << "without C2C the CPU is between";
}

TEST(WorkedTree, AdapterWithASwitchOfItsOwn) {
  EXPECT_EQ(Views(inner_switch()->tree()).of("g0", "n0"), "PXB PXB PIX near");
}

TEST(PathClass, MinusOneIsANodeToNcclButNotToNvidiaSmi) {
  WrittenMachine machine;
  machine.gpu("pci0000:00/0000:00:01.0/0000:01:00.0", -1);
  machine.adapter("n0", "pci0000:40/0000:40:01.0/0000:41:00.0", -1);
  EXPECT_EQ(Views(machine.tree()).of("g0", "n0"), "SYS PHB NODE NODE");
}

TEST(PathClass, AnUnreadableNumaNodeAffectsOnlyDependentClasses) {
  auto machine = host_bridges();
  machine->put("/sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0/numa_node", "near\n");
  const Views views(machine->tree());
  EXPECT_EQ(views.of("g0", "n0"), "unknown unknown unknown unknown");
  EXPECT_NE(smi_distance(views.tree_, views.links_, views.device("g0"), views.device("n0")).why.find("0000:41:00.0"),
            std::string::npos);
  EXPECT_EQ(views.of("g0", "n1"), "SYS SYS SYS SYS");

  auto sockets = two_sockets();
  sockets->put("/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/numa_node", "\n");
  EXPECT_EQ(Views(sockets->tree()).of("g0", "n0"), "PIX PIX PIX near") << "the switch decides";
  EXPECT_EQ(Views(sockets->tree()).of("g0", "g1"), "SYS unknown SYS SYS") << "NCCL uses the switch's node";
}

TEST(PathClass, ABridgeWithoutANumaNodeHasTheNodeOfItsDevices) {
  auto sockets = two_sockets();
  sockets->remove("/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/numa_node");
  EXPECT_EQ(Views(sockets->tree()).of("g0", "g1"), "SYS SYS SYS SYS");
}

TEST(PathClass, ADeviceOutsideTheTreeIsUnknownToAll) {
  auto machine = workstation();
  machine->put("/sys/bus/pci/devices/0000:07:00.0/vendor", "0x10de\n");
  machine->put("/sys/bus/pci/devices/0000:07:00.0/class", "0x030200\n");
  const Views views(machine->tree());
  EXPECT_EQ(views.of("g2", "n0"), "unknown unknown unknown unknown");
  EXPECT_EQ(views.of("g0", "n0"), "PHB PHB PHB PHB");
}

TEST(PathClass, APlatformPrefixMisleadsNvshmemAndUcx) {
  WrittenMachine machine;
  machine.gpu("platform/soc@0/pci0002:00/0002:00:00.0/0002:01:00.0", 0);
  machine.adapter("n0", "platform/soc@0/pci0002:00/0002:00:01.0/0002:02:00.0", 0);
  EXPECT_EQ(Views(machine.tree()).of("g0", "n0"), "PHB PHB PIX near");
}

TEST(PathClass, NvlinksAreCountedByTheEndThatHasFewer) {
  NvLinks links;
  const platform::PciAddress a{0, 1, 0, 0};
  const platform::PciAddress b{0, 2, 0, 0};
  links.gpus[a].to_switches = 18;
  links.gpus[b].to_switches = 16;
  EXPECT_EQ(links.between(a, b), 16u);
  links.gpus[a].to_gpus[b] = 4;
  EXPECT_EQ(links.between(a, b), 16u) << "a link that only one end reports does not count";
  links.gpus[b].to_gpus[a] = 4;
  EXPECT_EQ(links.between(a, b), 4u);
  EXPECT_EQ(links.between(a, a), 0u);
  EXPECT_EQ(links.between(a, platform::PciAddress{0, 9, 0, 0}), 0u);
}

TEST(PathClass, PrefersNvlinkAndReachesTheAdapterOfThePeer) {
  NvLinks links;
  links.is_known = true;
  links.gpus[platform::PciAddress{0, 3, 0, 0}].to_switches = 18;
  links.gpus[platform::PciAddress{0, 0x83, 0, 0}].to_switches = 18;
  const Views views(two_sockets()->tree(), links);
  EXPECT_EQ(views.of("g0", "g1"), "NVL NVL SYS SYS");
  EXPECT_EQ(smi_distance(views.tree_, links, views.device("g0"), views.device("g1")).nvlinks, 18u);
  EXPECT_EQ(views.of("g0", "n0"), "PIX PIX PIX near");
  EXPECT_EQ(views.of("g0", "n1"), "SYS PXN SYS SYS");
  EXPECT_EQ(views.of("n0", "n1"), "SYS SYS SYS SYS");
}

TEST(PathClass, NvlinkThroughAnotherGpuIsNvb) {
  auto machine = two_sockets();
  machine->gpu("pci0000:80/0000:80:03.0/0000:91:00.0", 1);
  NvLinks links;
  const platform::PciAddress all[] = {{0, 3, 0, 0}, {0, 0x83, 0, 0}, {0, 0x91, 0, 0}};
  links.gpus[all[0]].to_gpus[all[1]] = links.gpus[all[1]].to_gpus[all[0]] = 2;
  links.gpus[all[1]].to_gpus[all[2]] = links.gpus[all[2]].to_gpus[all[1]] = 2;
  const Views views(machine->tree(), links);
  EXPECT_EQ(views.of("g0", "g2"), "SYS NVB SYS SYS");
}

/// Trees of random shape, on which invariants are checked.
class RandomTree : public testing::TestWithParam<unsigned> {};

TEST_P(RandomTree, DistancesAreSymmetricAndAgreeOnNearDevices) {
  std::mt19937 chance(GetParam());
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(chance() % n); };
  WrittenMachine machine;
  unsigned bus = 1;
  for (unsigned device = 0; device < 8; ++device, ++bus) {
    const unsigned root = pick(3);
    char text[64];
    std::snprintf(text, sizeof(text), "pci0000:%x0", root + 8);
    std::string path = text;
    for (unsigned depth = pick(6), above = root * 32; depth > 0; --depth) {
      above = above * 2 + pick(2);  // few, so that paths share bridges
      std::snprintf(text, sizeof(text), "/00%02x:%02x:01.0", 0x10 + depth, above % 256);
      path += text;
    }
    std::snprintf(text, sizeof(text), "/0000:%02x:00.0", bus);
    path += text;
    if (pick(2) == 0) {
      machine.gpu(path, static_cast<int>(root / 2));
    } else {
      machine.adapter("n" + std::to_string(device), path, static_cast<int>(root / 2));
    }
  }
  const Views views(machine.tree());
  std::vector<const TreeDevice*> all;
  for (const TreeDevice& gpu : views.tree_.gpus) all.push_back(&gpu);
  for (const TreeDevice& adapter : views.tree_.adapters) all.push_back(&adapter);
  ASSERT_EQ(all.size(), 8u);
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = 0; b < all.size(); ++b) {
      const auto smi = smi_distance(views.tree_, {}, *all[a], *all[b]).value;
      EXPECT_EQ(smi, smi_distance(views.tree_, {}, *all[b], *all[a]).value);
      EXPECT_EQ(ucx_distance(*all[a], *all[b]).value, ucx_distance(*all[b], *all[a]).value);
      const auto nccl = views.nccl_.at(a, b).value;
      EXPECT_EQ(nccl, views.nccl_.at(b, a).value);
      EXPECT_EQ(smi == PathClass::same, a == b);
      if (a == b) continue;
      EXPECT_EQ(all[a]->root == all[b]->root, smi <= PathClass::phb);
      const auto ucx = ucx_distance(*all[a], *all[b]).value;
      EXPECT_EQ(smi <= PathClass::pxb, ucx == PathClass::near);
      EXPECT_EQ(smi == PathClass::sys, nccl == PathClass::sys);
      const auto nvshmem = nvshmem_distance(*all[a], *all[b]).value;
      EXPECT_EQ(smi == PathClass::phb, nvshmem == PathClass::phb);
      EXPECT_EQ(smi >= PathClass::node, nvshmem >= PathClass::node);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTree, testing::Range(1u, 41u));

}  // namespace
}  // namespace gdrkit::diag::topology
