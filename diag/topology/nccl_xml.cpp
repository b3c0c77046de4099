// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/nccl_xml.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "diag/topology/text_parts.hpp"
#include "diag/topology/xml_text.hpp"

namespace gdrkit::diag::topology {
namespace {

/// NCCL 2.28's text for the address that NVML reports for the other end of an NVLink to a hidden switch.
constexpr const char* hidden_switch = "fffffff:ff:ff.0";

/// NCCL reads bytes, other readers UTF-8. No valid name contains characters other than ASCII.
std::string attribute_text(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) > 0x7e; }, '?');
  return xml_escaped(text);
}

/// NCCL puts the extended family above the four bits of the base family, while Linux adds both: 25 is 0xf and 0xa.
std::string nccl_family(const std::string& linux_family) {
  const int family = std::atoi(linux_family.c_str());
  if (family <= 0 || family > 0xf + 0xff) return "";
  return std::to_string(family <= 0xf ? family : 0xf + ((family - 0xf) << 4));
}

class Writer {
 public:
  Writer(const NcclGraph& graph, const NcclXmlFacts& facts) : graph_(graph), facts_(facts), below_(graph.nodes.size()) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (graph.nodes[i].above.has_value()) below_[*graph.nodes[i].above].push_back(i);
    }
    for (auto& children : below_) {
      std::ranges::sort(children, [&](std::size_t a, std::size_t b) { return graph.nodes[a].id < graph.nodes[b].id; });
    }
  }

  std::string write() {
    out_ = "<system version=\"" + std::to_string(nccl_xml_version) + "\">\n";
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].kind == NcclKind::cpu) write_cpu(i);
    }
    return out_ + "</system>\n";
  }

 private:
  void begin(unsigned depth, const char* name) { out_ += std::string(2 * depth, ' ') + "<" + name; }
  void attribute(const char* key, const std::string& value) {
    if (!value.empty()) out_ += std::string(" ") + key + "=\"" + attribute_text(value) + "\"";
  }
  void close(unsigned depth, const char* name) { out_ += std::string(2 * depth, ' ') + "</" + name + ">\n"; }

  void write_cpu(std::size_t cpu) {
    const std::string& id = graph_.nodes[cpu].id;
    const auto affinity = facts_.affinity.find(id);
    begin(1, "cpu");
    attribute("numaid", id);
    attribute("affinity", affinity == facts_.affinity.end() ? "" : affinity->second);
    attribute("arch", facts_.arch);
    attribute("vendor", facts_.vendor);
    attribute("familyid", facts_.family_id);
    attribute("modelid", facts_.model_id);
    out_ += ">\n";
    for (const std::size_t child : below_[cpu]) write_pci(child, 2);
    close(1, "cpu");
  }

  void write_pci(std::size_t at, unsigned depth) {
    const NcclNode& node = graph_.nodes[at];
    begin(depth, "pci");
    attribute("busid", node.id);
    // Without an element gpu, NCCL and the parser here identify a GPU by its class.
    const bool has_class = node.kind != NcclKind::gpu || node.function.class_code.starts_with("0x03");
    attribute("class", has_class ? node.function.class_code : "0x03");
    attribute("vendor", node.function.vendor);
    attribute("device", node.function.device);
    attribute("subsystem_vendor", node.function.subsystem_vendor);
    attribute("subsystem_device", node.function.subsystem_device);
    // Both are required: NCCL fails on an element without a link.
    out_ += " link_speed=\"" + attribute_text(node.function.link_speed) + "\" link_width=\"" +
            std::to_string(node.function.link_width) + "\"";
    const std::string inner = node.kind == NcclKind::gpu   ? gpu_text(node, depth + 1)
                              : node.kind == NcclKind::nic ? nic_text(at, depth + 1)
                                                           : "";
    if (inner.empty() && below_[at].empty()) {
      out_ += "/>\n";
      return;
    }
    out_ += ">\n" + inner;
    for (const std::size_t child : below_[at]) write_pci(child, depth + 1);
    close(depth, "pci");
  }

  /// Only with a known number and generation, which NCCL requires of an element gpu. Otherwise NCCL creates the
  /// element.
  std::string gpu_text(const NcclNode& node, unsigned depth) const {
    const auto address = platform::parse_pci_address(node.id);
    const auto own = address.has_value() ? facts_.gpus.find(*address) : facts_.gpus.end();
    if (own == facts_.gpus.end() || !graph_.links.is_known) return "";
    const std::string indent(2 * depth, ' ');
    std::string inner;
    if (const auto links = graph_.links.gpus.find(*address); links != graph_.links.gpus.end()) {
      const auto add = [&](const std::string& target, unsigned count, const char* kind) {
        inner += indent + "  <nvlink target=\"" + target + "\" count=\"" + std::to_string(count) + "\" tclass=\"" +
                 kind + "\"/>\n";
      };
      for (const auto& [other, count] : links->second.to_gpus) add(platform::to_string(other), count, "0x030200");
      if (links->second.to_switches > 0) add(hidden_switch, links->second.to_switches, "0x068000");
      // Without its bandwidth the element would count as a link without any. NCCL then queries the driver itself.
      if (links->second.c2c_count > 0 && links->second.c2c_mb_per_s > 0) {
        inner += indent + "  <c2c bw=\"" + std::to_string(links->second.c2c_mb_per_s) + "\" count=\"" +
                 std::to_string(links->second.c2c_count) + "\"/>\n";
      }
    }
    const std::string head = indent + "<gpu dev=\"" + std::to_string(own->second.first) + "\" sm=\"" +
                             std::to_string(own->second.second) + "\"";
    return inner.empty() ? head + "/>\n" : head + ">\n" + inner + indent + "</gpu>\n";
  }

  /// NCCL determines number, GUID and GPUDirect support when it loads the file.
  std::string nic_text(std::size_t node, unsigned depth) const {
    const std::string indent(2 * depth, ' ');
    std::string text = indent + "<nic>\n";
    for (std::size_t i = 0; i < graph_.adapters.size(); ++i) {
      if (graph_.adapters[i] != node) continue;
      const auto speed = facts_.speeds_mbit_per_s.find(graph_.adapter_names[i]);
      text += indent + "  <net name=\"" + attribute_text(graph_.adapter_names[i]) + "\"";
      if (speed != facts_.speeds_mbit_per_s.end()) text += " speed=\"" + std::to_string(speed->second) + "\"";
      text += "/>\n";
    }
    return text + indent + "</nic>\n";
  }

  const NcclGraph& graph_;
  const NcclXmlFacts& facts_;
  std::vector<std::vector<std::size_t>> below_;
  std::string out_;
};

}  // namespace

NcclXmlFacts read_nccl_facts(const MachineView& view, const NcclGraph& graph) {
  NcclXmlFacts facts;
  const auto cpus = view.text("/proc/cpuinfo");
  facts.vendor = labelled(cpus, "vendor_id").value;
  if (facts.vendor == "GenuineIntel" || facts.vendor == "AuthenticAMD") {
    facts.arch = "x86_64";
    facts.family_id = nccl_family(labelled(cpus, "cpu family").value);
    facts.model_id = labelled(cpus, "model").value;
  } else {
    facts.vendor.clear();
    if (!labelled(cpus, "CPU implementer").value.empty()) facts.arch = "arm64";
  }
  for (const NcclNode& node : graph.nodes) {
    if (node.kind != NcclKind::cpu || !node.reason.empty()) continue;
    const auto mask = view.line("/sys/devices/system/node/node" + node.id + "/cpumap");
    if (mask.is_found()) facts.affinity[node.id] = mask.value;
  }
  return facts;
}

base::Result<std::string> write_nccl_xml(const NcclGraph& graph, const NcclXmlFacts& facts) {
  for (const NcclNode& node : graph.nodes) {
    if (node.reason.empty()) continue;
    return base::fail(EINVAL, "cannot write a complete topology for NCCL: %s", node.reason.c_str());
  }
  return Writer(graph, facts).write();
}

}  // namespace gdrkit::diag::topology
