// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Arbitrary text as a topology file of NCCL: it is rejected with an error text, or equal after it is written and read
// again.
#include "diag/topology/nccl_xml.hpp"

#include <string>

#include "fuzz_target.hpp"

using namespace gdrkit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto dump = diag::topology::parse_nccl_xml(text);
  if (!dump.has_value()) {
    FUZZ_CHECK(dump.error().text()[0] != '\0');
    return 0;
  }
  const diag::topology::NcclGraph graph = diag::topology::make_nccl_graph(dump->tree, {});
  const diag::topology::NcclDistances before(graph);
  const auto written = diag::topology::write_nccl_xml(graph, {});
  FUZZ_CHECK(written.has_value());
  const auto again = diag::topology::parse_nccl_xml(*written);
  FUZZ_CHECK(again.has_value());
  const diag::topology::NcclDistances after(diag::topology::make_nccl_graph(again->tree, {}));
  FUZZ_CHECK(after.count() == before.count());
  for (std::size_t a = 0; a < before.count(); ++a) {
    for (std::size_t b = 0; b < before.count(); ++b) {
      FUZZ_CHECK(before.at(a, b).value == before.at(b, a).value);
    }
  }
  return 0;
}

std::vector<gdrkit::fuzz::Bytes> gdrkit::fuzz::seeds() {
  return to_seeds(
      {R"(<system version="1"><cpu numaid="0"><pci busid="0000:01:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" )"
       R"(link_width="16"><pci busid="0000:03:00.0" class="0x030200"><gpu dev="0" sm="90"><nvlink )"
       R"(target="fffffff:ffff:ff" count="18" tclass="0x068000"/><c2c bw="1" count="2"/></gpu></pci>)"
       R"(<pci busid="0000:04:00.0" class="0x020700"><nic><net name="mlx5_0" speed="400000"/><net name="mlx5_1"/>)"
       R"(</nic></pci></pci></cpu></system>)",
       "<?xml version='1.0'?><!-- x --><system version='1'><cpu numaid='-1'/><cpu numaid='1'><nic>"
       "<net name='a'/></nic></cpu></system>"});
}
