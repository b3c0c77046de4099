// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/nccl_xml.hpp"

#include <gtest/gtest.h>

#include <string>

#include "diag/topology/xml_text.hpp"
#include "support/results.hpp"
#include "worked_trees.hpp"

namespace gdrkit::diag::topology {
namespace {

std::string refusal(std::string_view text) {
  const auto parsed = parse_xml(text);
  return parsed.has_value() ? "taken" : parsed.error().text();
}

TEST(XmlText, ReadsElementsAttributesAndComments) {
  const auto root =
      parse_xml("<?xml version='1.0'?>\n<!-- a <b> -->\n<a x='1' y=\"&lt;&amp;'\">\n <b/> <b z=\"\"></b></a>\n");
  ASSERT_TRUE(root.has_value()) << root.error().text();
  EXPECT_EQ(root->name, "a");
  EXPECT_EQ(*root->attribute("y"), "<&'");
  EXPECT_EQ(root->attribute("z"), nullptr);
  ASSERT_EQ(root->children.size(), 2u);
  EXPECT_EQ(*root->children[1].attribute("z"), "");
}

TEST(XmlText, RejectsUnsupportedSyntaxWithTheLine) {
  EXPECT_EQ(refusal("<a>\n<b></a>"), "line 2: the end tag does not match the open element");
  for (const char* text : {"", "<", "<a", "<a>", "<a></b>", "<a/><b/>", "<a>text</a>", "<a x=1/>", "<a x='1' x='2'/>",
                           "<a x='1/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "<a x='&b;'/>", "<a x='&#65;'/>",
                           "<![CDATA[x]]>", "<!-- <a/>", "<a x='<'/>", "< a/>", "<a x/>", "</a>"}) {
    EXPECT_NE(refusal(text), "taken") << text;
  }
}

TEST(XmlText, RejectsDeepAndLargeText) {
  std::string deep;
  for (std::size_t i = 0; i <= XmlElement::most_depth; ++i) deep += "<a>";
  EXPECT_EQ(refusal(deep), "line 1: the elements are nested too deep");
  std::string many = "<a>";
  for (std::size_t i = 0; i <= XmlElement::most_elements; ++i) many += "<b/>";
  EXPECT_EQ(refusal(many + "</a>"), "line 1: the file has too many elements");
}

/// Writes and reads the file, and compares the classes of every pair.
void expect_round_trip(const PciTree& tree, const NvLinks& links) {
  const NcclGraph graph = make_nccl_graph(tree, links);
  NcclXmlFacts facts;
  for (const TreeDevice& gpu : tree.gpus) facts.gpus[gpu.function.address] = {0, 90};
  const auto text = write_nccl_xml(graph, facts);
  ASSERT_TRUE(text.has_value()) << text.error().text();
  const auto dump = parse_nccl_xml(*text);
  ASSERT_TRUE(dump.has_value()) << dump.error().text() << *text;
  const NcclGraph again = make_nccl_graph(dump->tree, dump->links);
  const NcclDistances before(graph);
  const NcclDistances after(again);
  ASSERT_EQ(before.count(), after.count()) << *text;
  for (std::size_t a = 0; a < before.count(); ++a) {
    for (std::size_t b = 0; b < before.count(); ++b) {
      EXPECT_EQ(name_of(before.at(a, b).value), std::string(name_of(after.at(a, b).value))) << a << " " << b << "\n"
                                                                                            << *text;
    }
  }
  const auto text_again = write_nccl_xml(again, facts);
  ASSERT_TRUE(text_again.has_value());
  EXPECT_EQ(*text, *text_again);
}

TEST(NcclXml, WritingAndReadingKeepsTheDistances) {
  const WrittenMachine::Files broadcom = {
      {"vendor", "0x1000"}, {"device", "0xc010"}, {"subsystem_vendor", "0x1000"}, {"subsystem_device", "0xa013"}};
  NvLinks links = grace_links();
  links.gpus.begin()->second.c2c_mb_per_s = 44712;
  for (const auto& machine :
       {two_sockets(), cascade(), cascade(broadcom), workstation(), host_bridges(), flat_guest(), inner_switch()}) {
    expect_round_trip(machine->tree(), NvLinks{});
  }
  expect_round_trip(grace()->tree(), links);
  NvLinks bridged;
  bridged.is_known = true;
  const platform::PciAddress one{0, 3, 0, 0};
  const platform::PciAddress other{0, 0x83, 0, 0};
  bridged.gpus[one].to_gpus[other] = bridged.gpus[other].to_gpus[one] = 4;
  expect_round_trip(two_sockets()->tree(), bridged);
  NvLinks switched;
  switched.is_known = true;
  switched.gpus[one].to_switches = switched.gpus[other].to_switches = 18;
  expect_round_trip(two_sockets()->tree(), switched);
}

TEST(NcclXml, WritesTheAttributesThatNcclReads) {
  auto machine = two_sockets();
  machine->put("/proc/cpuinfo",
               "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: x\n");
  machine->put("/sys/devices/system/node/node0/cpumap", "0000ffff,0000ffff\n");
  const PciTree tree = machine->tree();
  const NcclGraph graph = make_nccl_graph(tree, {});
  NcclXmlFacts facts = read_nccl_facts(machine->view(), graph);
  facts.speeds_mbit_per_s["n0"] = 400000;
  const auto text = write_nccl_xml(graph, facts);
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(text->rfind("<system version=\"1\">\n"
                        "  <cpu numaid=\"0\" affinity=\"0000ffff,0000ffff\" arch=\"x86_64\" vendor=\"AuthenticAMD\" "
                        "familyid=\"175\" modelid=\"17\">\n"
                        "    <pci busid=\"0000:01:00.0\" class=\"0x060400\" vendor=\"0x8086\" device=\"0x352a\" "
                        "link_speed=\"\" link_width=\"0\">\n"
                        "      <pci busid=\"0000:03:00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\" "
                        "link_speed=\"32.0 GT/s PCIe\" link_width=\"0\"/>\n",
                        0),
            0u)
      << *text;
  EXPECT_NE(text->find("        <nic>\n          <net name=\"n0\" speed=\"400000\"/>\n        </nic>\n"),
            std::string::npos)
      << *text;
}

TEST(NcclXml, WritesNoFileForAnUnknownLocation) {
  auto machine = host_bridges();
  machine->put("/sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0/numa_node", "?\n");
  const auto failed = write_nccl_xml(make_nccl_graph(machine->tree(), {}), {});
  EXPECT_FALSE(failed.has_value());
  EXPECT_NE(tests::text_of(failed).find("0000:41:00.0"), std::string::npos);
}

TEST(NcclXml, ReadsFilesOfProviders) {
  const auto dump = parse_nccl_xml(
      "<system version=\"1\">\n"
      "<cpu numaid=\"0\" affinity=\"ff\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"23\" modelid=\"49\">\n"
      "<pci busid=\"ffff:ff:01.0\" class=\"0x060400\" link_speed=\"16 GT/s\" link_width=\"16\">\n"
      "<pci busid=\"0001:00:00.0\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\"/>\n"
      "<pci busid=\"0101:00:00.0\" class=\"0x020700\" link_speed=\"16 GT/s\" "
      "link_width=\"16\"/></pci></cpu></system>\n");
  ASSERT_TRUE(dump.has_value()) << dump.error().text();
  ASSERT_EQ(dump->tree.gpus.size(), 1u);
  ASSERT_EQ(dump->tree.adapters.size(), 1u);
  EXPECT_EQ(dump->tree.adapters[0].name, "0101:00:00.0");
  EXPECT_FALSE(dump->links.is_known);
  EXPECT_EQ(NcclDistances(make_nccl_graph(dump->tree, dump->links)).gpu_adapter(0, 0).value, PathClass::pix);
}

TEST(NcclXml, RejectsFilesThatAreNotATopology) {
  for (const char* text :
       {"<graphs version=\"1\"/>", "<system/>", "<system version=\"2\"/>", "<system version=\"1\"><cpu/></system>",
        "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"x\"/></cpu></system>",
        "<system version=\"1\"><cpu numaid=\"0\"><pci/></cpu></system>",
        "<system version=\"1\"><cpu numaid=\"0\" host_hash=\"1\"/><cpu numaid=\"1\" host_hash=\"2\"/></system>"}) {
    const auto failed = parse_nccl_xml(text);
    EXPECT_FALSE(failed.has_value()) << text;
    EXPECT_NE(tests::text_of(failed), "") << text;
  }
}

}  // namespace
}  // namespace gdrkit::diag::topology
