// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NcclXml: a machine in the XML that NCCL loads (NCCL_TOPO_FILE) and writes (NCCL_TOPO_DUMP_FILE).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "diag/topology/nccl_graph.hpp"

namespace gdrkit::diag::topology {

/// The only version that NCCL accepts (NCCL_TOPO_XML_VERSION).
inline constexpr int nccl_xml_version = 1;

/// Properties of the elements cpu, gpu and net that are not in the tree; "" and 0 if unknown. Unknown ones are omitted,
/// and NCCL adds what it detects when it loads the file.
struct NcclXmlFacts {
  std::string arch;    ///< x86_64, arm64
  std::string vendor;  ///< GenuineIntel
  std::string family_id;
  std::string model_id;
  std::map<std::string, std::string> affinity;               ///< by number of the NUMA node, a mask as in cpumap
  std::map<platform::PciAddress, std::pair<int, int>> gpus;  ///< NVML's index, compute capability (90)
  std::map<std::string, unsigned> speeds_mbit_per_s;         ///< of adapters, by name
};

/// arch to affinity, from /proc/cpuinfo and the cpumap files.
[[nodiscard]] NcclXmlFacts read_nccl_facts(const MachineView& view, const NcclGraph& graph);

/// EINVAL if a device's place or NUMA node is unknown: an incomplete file would mislead NCCL.
[[nodiscard]] base::Result<std::string> write_nccl_xml(const NcclGraph& graph, const NcclXmlFacts& facts);

/// A file of NCCL as a tree with the same distances for NCCL. It does not contain ports and host bridges, so the other
/// libraries' distances cannot be derived. Nameless bridges replace them.
struct NcclDump {
  PciTree tree;
  NvLinks links;
};
/// EINVAL with a text if the file is invalid or describes several hosts.
[[nodiscard]] base::Result<NcclDump> parse_nccl_xml(std::string_view text);

}  // namespace gdrkit::diag::topology
